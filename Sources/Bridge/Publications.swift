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
        var isWaiting = false
    }

    /// How long everything waits after a message that could not be handed over, and how many go at once then: a house of many lamps has
    /// more to say than the client takes at a time, on a connect and while they all are moved.
    private static let retryInterval = Duration.milliseconds(20)
    private static let burst = 32

    private var topics: [String: Topic] = [:]
    private var order: [String] = []
    /// Topics with a payload that is still to be sent, in the order in which they became due; what one holds when its turn comes is sent.
    private var waiting: [String] = []
    /// Until when nothing is sent; nil while the client takes what it is given.
    private var pauseEnd: ContinuousClock.Instant?
    private var isConnected = false

    public init() {}

    /// When what waits is to be tried again; nil where nothing does.
    public var deadline: ContinuousClock.Instant? { isConnected && !waiting.isEmpty ? pauseEnd : nil }

    /// Sets what a topic holds.
    public mutating func set(_ topic: String, _ payload: [UInt8], at now: ContinuousClock.Instant) -> [Message] {
        if topics[topic] == nil {
            order.append(topic)
            topics[topic] = Topic(payload: payload)
        } else {
            topics[topic]?.payload = payload
        }
        return take([topic], now)
    }

    /// What a topic holds, once more, for one who may not have heard it.
    public mutating func again(_ topic: String, at now: ContinuousClock.Instant) -> [Message] {
        topics[topic]?.sent = nil
        return take([topic], now)
    }

    /// Everything, as the broker may have lost it or hold a will in its place.
    public mutating func connected(at now: ContinuousClock.Instant) -> [Message] {
        isConnected = true
        pauseEnd = nil
        for name in order {
            topics[name]?.sent = nil
            topics[name]?.isWaiting = false
        }
        waiting = []
        return take(order, now)
    }

    /// The last message of the topic could not be handed over: it is sent again a little later, and so is all that comes until then.
    public mutating func failed(_ topic: String, at now: ContinuousClock.Instant) {
        topics[topic]?.sent = nil
        pauseEnd = now + Self.retryInterval
        wait(topic)
    }

    public mutating func disconnected() { isConnected = false }

    public mutating func wake(at now: ContinuousClock.Instant) -> [Message] {
        guard isConnected, !waiting.isEmpty, pauseEnd ?? now <= now else { return [] }
        let due = Array(waiting.prefix(Self.burst))
        waiting.removeFirst(due.count)
        for name in due { topics[name]?.isWaiting = false }
        pauseEnd = waiting.isEmpty ? nil : now + Self.retryInterval
        return due.compactMap { take($0) }
    }

    private mutating func take(_ names: [String], _ now: ContinuousClock.Instant) -> [Message] {
        guard isConnected else { return [] }
        guard waiting.isEmpty else {
            for name in names { wait(name) }
            return []
        }
        return names.compactMap { take($0) }
    }

    private mutating func take(_ name: String) -> Message? {
        guard let topic = topics[name], topic.sent != topic.payload else { return nil }
        topics[name]?.sent = topic.payload
        return Message(topic: name, payload: topic.payload)
    }

    private mutating func wait(_ name: String) {
        guard let topic = topics[name], !topic.isWaiting, topic.sent != topic.payload else { return }
        topics[name]?.isWaiting = true
        waiting.append(name)
    }
}
