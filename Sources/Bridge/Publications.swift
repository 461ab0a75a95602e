/// What the bridge keeps published: the newest payload of every retained topic, sent when it changes and all of it on every connect.
public struct Publications: Sendable {
    /// To be sent with QoS 1, retained.
    public struct Message: Equatable, Sendable {
        public var topic: String
        public var payload: [UInt8]

        public init(topic: String, payload: [UInt8]) {
            (self.topic, self.payload) = (topic, payload)
        }
    }

    private struct Topic: Sendable {
        var payload: [UInt8]
        var sent: [UInt8]?
        /// When it may be sent again; nil for at once.
        var earliest: ContinuousClock.Instant?

        var isDue: Bool { sent != payload }
    }

    /// How long a message that could not be handed over waits: on a connect there may be more of them than the client takes at once.
    private static let retryInterval = Duration.milliseconds(50)

    private var topics: [String: Topic] = [:]
    private var order: [String] = []
    private var isConnected = false

    public init() {}

    /// When the next payload that could not be handed over is to be tried again; nil where there is none.
    public var deadline: ContinuousClock.Instant? {
        guard isConnected else { return nil }
        return topics.values.filter(\.isDue).compactMap(\.earliest).min()
    }

    /// Sets what a topic holds.
    public mutating func set(_ topic: String, _ payload: [UInt8], at now: ContinuousClock.Instant) -> [Message] {
        if topics[topic] == nil {
            order.append(topic)
            topics[topic] = Topic(payload: payload)
        } else {
            topics[topic]?.payload = payload
        }
        return due(now, in: [topic])
    }

    /// Everything, as the broker may have lost it or hold a will in its place.
    public mutating func connected(at now: ContinuousClock.Instant) -> [Message] {
        isConnected = true
        for name in order {
            topics[name]?.sent = nil
            topics[name]?.earliest = nil
        }
        return due(now, in: order)
    }

    /// The last message of the topic could not be handed over: it is sent again a little later.
    public mutating func failed(_ topic: String, at now: ContinuousClock.Instant) {
        topics[topic]?.sent = nil
        topics[topic]?.earliest = now + Self.retryInterval
    }

    public mutating func disconnected() { isConnected = false }

    public mutating func wake(at now: ContinuousClock.Instant) -> [Message] { due(now, in: order) }

    private mutating func due(_ now: ContinuousClock.Instant, in names: [String]) -> [Message] {
        guard isConnected else { return [] }
        var messages: [Message] = []
        for name in names {
            guard var topic = topics[name], topic.isDue, topic.earliest ?? now <= now else { continue }
            topic.sent = topic.payload
            topic.earliest = nil
            topics[name] = topic
            messages.append(Message(topic: name, payload: topic.payload))
        }
        return messages
    }
}
