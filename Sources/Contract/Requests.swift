/// `bridge/request/<name>`: a question to every bridge below the base, or to the one it names. An empty payload is one too.
///
/// The answer goes to the MQTT 5 response topic with the correlation data, or to `bridge/response/<name>` where there is none.
public struct BridgeRequest: Codable, Equatable, Sendable {
    /// Comes back in the answer, for those who have no correlation data.
    public var transaction: Transaction?
    /// Who is asked; everybody where it is absent.
    public var bridge: Identifier?
    /// Which lamp it is about; required by `identify`, all of them elsewhere.
    public var lamp: Identifier?

    public init(transaction: Transaction? = nil, bridge: Identifier? = nil, lamp: Identifier? = nil) {
        (self.transaction, self.bridge, self.lamp) = (transaction, bridge, lamp)
    }

    /// Reads a payload; unknown keys are ignored.
    public init(payload: [UInt8]) throws(PayloadFault) {
        self = payload.isEmpty ? BridgeRequest() : try Payload.decode(BridgeRequest.self, from: payload)
    }
}

/// `camera/request/<name>`: a wish to every camera below the base, or to the one it names. An empty payload is one too.
public struct CameraWish: Codable, Equatable, Sendable {
    /// Who is meant; everybody where it is absent.
    public var camera: Identifier?

    public init(camera: Identifier? = nil) { self.camera = camera }

    /// Reads a payload; unknown keys are ignored.
    public init(payload: [UInt8]) throws(PayloadFault) {
        self = payload.isEmpty ? CameraWish() : try Payload.decode(CameraWish.self, from: payload)
    }
}

/// What a requester recognises an answer by: any text or whole number.
public enum Transaction: Codable, Hashable, Sendable {
    case text(String)
    case number(Int64)

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        }
    }
}

/// The answer of one bridge. QoS 1, never retained.
public struct BridgeResponse: Codable, Equatable, Sendable {
    public enum Status: String, Codable, Sendable {
        case ok, error
    }

    /// A lamp and how it is.
    public struct Lamp: Codable, Equatable, Sendable {
        public var id: Identifier
        public var available: Bool
        public var status: String
        /// Absent while it is not known.
        public var state: LampState.Power?
        public var brightness: Int?

        public init(id: Identifier, available: Bool, status: String, state: LampState.Power? = nil, brightness: Int? = nil) {
            (self.id, self.available, self.status, self.state, self.brightness) = (id, available, status, state, brightness)
        }
    }

    /// How the bridge is.
    public struct Health: Codable, Equatable, Sendable {
        /// Every lamp answers.
        public var healthy: Bool
        public var version: String
        /// Seconds since its start.
        public var uptime: Int
        public var accepted: Int
        public var rejected: [String: Int]

        public init(healthy: Bool, version: String, uptime: Int, accepted: Int, rejected: [String: Int]) {
            (self.healthy, self.version, self.uptime) = (healthy, version, uptime)
            (self.accepted, self.rejected) = (accepted, rejected)
        }
    }

    public var bridge: Identifier
    public var status: Status
    /// Why it is an error, for a person to read.
    public var error: String?
    public var transaction: Transaction?
    public var lamps: [Lamp]?
    public var health: Health?
    public var v: Int

    public init(bridge: Identifier, transaction: Transaction?, lamps: [Lamp]? = nil, health: Health? = nil, error: String? = nil) {
        (self.bridge, self.transaction, self.lamps, self.health, self.error) = (bridge, transaction, lamps, health, error)
        (status, v) = (error == nil ? .ok : .error, schemaVersion)
    }
}
