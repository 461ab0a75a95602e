internal import Contract
internal import FoundationEssentials

/// What one program has announced to Home Assistant, and takes back when it is gone; pure: messages in, messages out.
///
/// What was announced before is read from the broker itself: of all retained announcements those count whose first availability topic is
/// this program's own. Nobody else's are touched.
public struct Discovery: Sendable {
    /// Whether and where devices are announced.
    public struct Settings: Hashable, Sendable {
        public var isEnabled = true
        /// What Home Assistant listens below.
        public var prefix = "homeassistant"
        /// Where Home Assistant says that it has started.
        public var statusTopic = "homeassistant/status"

        public init() {}
    }

    /// To be published with QoS 1, retained.
    public struct Message: Equatable, Sendable {
        public var topic: String
        /// Empty where the topic is cleared.
        public var payload: [UInt8]

        public init(topic: String, payload: [UInt8]) {
            (self.topic, self.payload) = (topic, payload)
        }
    }

    /// What a message calls for.
    public enum Reaction: Equatable, Sendable {
        /// Home Assistant has started: everything retained is published again, after a pause that differs from program to program.
        case announceSoon
        case publish([Message])
    }

    /// Longest announcement looked at, in bytes.
    static let maximumLength = 262_144
    /// The longest pause before everything is published for a Home Assistant that has started, in seconds.
    public static let longestPause = 2.0

    private let settings: Settings
    private let owner: String
    /// What is announced now, in this order.
    public private(set) var devices: [DiscoveryDevice]

    /// `owner` is the availability topic of this program, the first of all its devices.
    public init(_ settings: Settings, owner: String, devices: [DiscoveryDevice]) {
        (self.settings, self.owner) = (settings, owner)
        self.devices = settings.isEnabled ? devices : []
    }

    /// What to subscribe to with QoS 1. Also needed where nothing is announced any more, to take back what was.
    public var subscriptions: [String] {
        (settings.isEnabled ? [settings.statusTopic] : []) + ["\(settings.prefix)/device/+/config"]
    }

    /// All announcements, in order: a lamp after the bridge it is reached through.
    public var messages: [Message] { devices.map { Message(topic: topic($0.id), payload: $0.payload()) } }

    /// Puts a device in the place of the one with the same id.
    /// - Returns: Whether that changes anything.
    public mutating func replace(_ device: DiscoveryDevice) -> Bool {
        guard let index = devices.firstIndex(where: { $0.id == device.id }), devices[index] != device else { return false }
        devices[index] = device
        return true
    }

    public func message(for device: DiscoveryDevice) -> Message { Message(topic: topic(device.id), payload: device.payload()) }

    /// Whether the topic is one of those subscribed to here.
    public func isConcerned(with topic: String) -> Bool { topic == settings.statusTopic || announcedID(topic) != nil }

    /// Takes in a message of one of the subscribed topics; `retained` says that it was on the broker before the subscription.
    public func received(topic: String, payload: [UInt8], retained: Bool) -> Reaction? {
        if topic == settings.statusTopic {
            return settings.isEnabled && payload == Array("online".utf8) ? .announceSoon : nil
        }
        guard retained, payload.count <= Self.maximumLength, let id = announcedID(topic),
            let announced = try? JSONDecoder().decode(Announced.self, from: Data(payload)), announced.availability.first?.topic == owner
        else { return nil }
        guard let device = devices.first(where: { $0.id == id }) else { return .publish([Message(topic: topic, payload: [])]) }
        let platforms = Dictionary(uniqueKeysWithValues: device.components.map { ($0.key, $0.platform.rawValue) })
        var removed: [String: String] = [:]
        for (key, component) in announced.components ?? [:] where component.platform != platforms[key] { removed[key] = component.platform }
        guard !removed.isEmpty else { return nil }
        return .publish([Message(topic: topic, payload: device.payload(removing: removed)), message(for: device)])
    }

    private func topic(_ id: String) -> String { "\(settings.prefix)/device/\(id)/config" }

    private func announcedID(_ topic: String) -> String? {
        let (head, tail) = ("\(settings.prefix)/device/", "/config")
        guard topic.hasPrefix(head), topic.hasSuffix(tail), topic.utf8.count > head.utf8.count + tail.utf8.count else { return nil }
        let id = topic.dropFirst(head.count).dropLast(tail.count)
        return id.contains("/") ? nil : String(id)
    }

    /// As much of an announcement as tells whose it is and what it holds.
    private struct Announced: Decodable {
        struct Availability: Decodable {
            var topic: String
        }
        struct Component: Decodable {
            var platform: String
        }
        var availability: [Availability]
        var components: [String: Component]?
    }
}
