public import Contract

/// A question asked on MQTT, and where its answer is wanted.
public struct RequestMessage: Equatable, Sendable {
    public var request: Topics.Request
    public var payload: [UInt8]
    /// The MQTT 5 response topic; nil where there is none.
    public var responseTopic: String?
    /// What the answer repeats; nil where there is none.
    public var correlation: [UInt8]?

    public init(_ request: Topics.Request, payload: [UInt8] = [], responseTopic: String? = nil, correlation: [UInt8]? = nil) {
        (self.request, self.payload, self.responseTopic, self.correlation) = (request, payload, responseTopic, correlation)
    }
}

/// An answer, to be published with QoS 1, not retained.
public struct ResponseMessage: Equatable, Sendable {
    public var topic: String
    public var payload: [UInt8]
    public var correlation: [UInt8]?

    public init(topic: String, payload: [UInt8], correlation: [UInt8]? = nil) {
        (self.topic, self.payload, self.correlation) = (topic, payload, correlation)
    }
}

/// Keeps the requests whose answers are not known yet.
struct RequestDesk: Sendable {
    /// Where and with what marks one answer goes out.
    struct Slip: Equatable, Sendable {
        var topic: String
        var correlation: [UInt8]?
        var transaction: Transaction?
    }

    /// Most requests that wait at once: each of them waits for a lamp, for seconds at most.
    static let capacity = 64

    private var waiting: [Int: Slip] = [:]
    private var count = 0

    /// Keeps a slip, and returns its number; nil where too many wait already.
    mutating func keep(_ slip: Slip) -> Int? {
        guard waiting.count < Self.capacity else { return nil }
        count += 1
        waiting[count] = slip
        return count
    }

    mutating func take(_ number: Int) -> Slip? { waiting.removeValue(forKey: number) }
}
