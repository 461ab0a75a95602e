/// The topics both services agree on, below one base (`handkit` unless configured).
///
/// A topic is only ever built from validated parts and parsed back into them, so the two directions cannot drift apart.
public struct Topics: Hashable, Sendable {
    public static let defaultBase = "handkit"

    public let base: String

    /// Why a text is no base: MQTT wildcards, control characters, empty levels and a leading `$` are refused.
    public enum Fault: Error, Equatable, Sendable {
        case empty
        case tooLong(length: Int)
        case emptyLevel
        case reserved
        case illegal(character: Character)
    }

    public init(base: String = Topics.defaultBase) throws(Fault) {
        guard !base.isEmpty else { throw .empty }
        guard base.utf8.count <= 128 else { throw .tooLong(length: base.utf8.count) }
        // By scalars, as a broker sees them: a combining mark makes one character of itself and a wildcard or a slash.
        let scalars = base.unicodeScalars
        guard scalars.first != "$" else { throw .reserved }
        if let scalar = scalars.first(where: { $0 == "+" || $0 == "#" || $0.properties.generalCategory == .control }) {
            throw .illegal(character: Character(scalar))
        }
        guard !scalars.split(separator: "/", omittingEmptySubsequences: false).contains(where: \.isEmpty) else { throw .emptyLevel }
        self.base = base
    }

    public func camera(_ camera: Identifier, _ leaf: CameraLeaf) -> String { "\(base)/camera/\(camera)/\(leaf.rawValue)" }
    public func lamp(_ lamp: Identifier, _ leaf: LampLeaf) -> String { "\(base)/lamp/\(lamp)/\(leaf.rawValue)" }
    public func bridge(_ bridge: Identifier, _ leaf: BridgeLeaf) -> String { "\(base)/bridge/\(bridge)/\(leaf.rawValue)" }

    /// What stands below `camera/<id>/`.
    public enum CameraLeaf: String, Sendable, CaseIterable {
        case toggle, brightness, state, availability, target, fingers
        case enabled
        case enabledSet = "enabled/set"
        case armed
        case armedSet = "armed/set"
        case profile
        case profileSet = "profile/set"
        case crash, instance
    }

    /// What stands below `lamp/<id>/`.
    public enum LampLeaf: String, Sendable, CaseIterable {
        case state, set, availability
    }

    /// What stands below `bridge/<id>/`.
    public enum BridgeLeaf: String, Sendable, CaseIterable {
        case availability, state, crash, instance
    }

    /// What the bridges below the base can be asked, at `bridge/request/<name>`; they answer at `bridge/response/<name>`.
    public enum Request: String, Sendable, CaseIterable {
        /// The lamps and how they are.
        case lamps
        /// Let a lamp show which one it is.
        case identify
        /// Read the lamps again and publish everything anew.
        case refresh
        /// Whether the bridge is well.
        case health
    }

    /// What the cameras below the base can be asked, at `camera/request/<name>`.
    public enum CameraRequest: String, Sendable, CaseIterable {
        /// Publish everything anew.
        case refresh
    }

    public func cameraRequest(_ request: CameraRequest) -> String { "\(base)/camera/request/\(request.rawValue)" }
    public func request(_ request: Request) -> String { "\(base)/bridge/request/\(request.rawValue)" }
    public func response(to request: Request) -> String { "\(base)/bridge/response/\(request.rawValue)" }

    /// A topic taken apart.
    public enum Address: Hashable, Sendable {
        case camera(Identifier, CameraLeaf)
        case lamp(Identifier, LampLeaf)
        case bridge(Identifier, BridgeLeaf)
        case cameraRequest(CameraRequest)
        case request(Request)
        case response(Request)
    }

    /// The parts of `topic`, or nil where it is none of this contract's.
    public func address(of topic: String) -> Address? {
        guard topic.hasPrefix(base + "/") else { return nil }
        let parts = topic.dropFirst(base.count + 1).split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let id = try? Identifier(String(parts[1])) else { return nil }
        let leaf = String(parts[2])
        switch parts[0] {
        case "camera":
            // The names of requests are no leaves, so a camera, or a bridge below, may well be called 'request'.
            if id.rawValue == "request", let request = CameraRequest(rawValue: leaf) { return .cameraRequest(request) }
            return CameraLeaf(rawValue: leaf).map { .camera(id, $0) }
        case "lamp": return LampLeaf(rawValue: leaf).map { .lamp(id, $0) }
        case "bridge":
            if id.rawValue == "request", let request = Request(rawValue: leaf) { return .request(request) }
            if id.rawValue == "response", let request = Request(rawValue: leaf) { return .response(request) }
            return BridgeLeaf(rawValue: leaf).map { .bridge(id, $0) }
        default: return nil
        }
    }
}
