public import Contract
public import MQTT
public import ServiceKit

/// Sees to it that one running program alone has an id: two of them would do everything twice, and the first to stop would leave `offline`
/// behind for both.
///
/// Each says on a topic of its own who it is whenever it connects. Who hears of another one that runs compares the two: the elder says
/// once more who it is, and the younger leaves. Pure: messages in, what to do out.
public struct NamesakeWatch: Sendable {
    public enum Reaction: Equatable, Sendable {
        /// Publish this: another one came, and this one stays.
        case answer(MQTTMessage)
        /// Another one was here first: leave without a word, as what is said of this id is the other's to say.
        case leave(NamesakeFailure)
        /// Somebody said `offline` for this id: publish everything anew.
        case sayAgain
    }

    public let claim: InstanceClaim
    private let topic: TopicName
    private let availability: TopicName
    /// Another client with this one's MQTT client id came: the two are never connected together, and what is retained is the other's word.
    private var wasTakenOver = false

    /// - Parameters:
    ///   - topic: `…/instance` of this program's id.
    ///   - availability: `…/availability` of it.
    public init(_ claim: InstanceClaim, topic: TopicName, availability: TopicName) {
        (self.claim, self.topic, self.availability) = (claim, topic, availability)
    }

    /// For this start of the program.
    public init(topic: TopicName, availability: TopicName) {
        let instance = String(UInt64.random(in: .min ... .max), radix: 16)
        let since = Timestamp(millisecondsSinceEpoch: WallTime.now().millisecondsSinceEpoch)
        self.init(InstanceClaim(instance: instance, since: since), topic: topic, availability: availability)
    }

    public var subscriptions: [MQTTSubscription] { [topic, availability].map { MQTTSubscription(TopicFilter($0)) } }

    public mutating func disconnected(_ reason: MQTTDisconnectReason) {
        if reason == .clientIDTakenOver || reason == .hungUpRepeatedly { wasTakenOver = true }
    }

    /// To be published on every connect.
    public var message: MQTTMessage {
        MQTTMessage(topic: topic, payload: Payload.encode(claim), qos: .atLeastOnce, retain: true)
    }

    /// Whether a message is of the topics watched here.
    public func isConcerned(with topic: TopicName) -> Bool { topic == self.topic || topic == availability }

    /// - Parameter isOnline: Whether this program says `online` of itself.
    public func received(_ message: MQTTMessage, isOnline: Bool) -> Reaction? {
        // What is retained may be of one that is long gone; one that runs answers.
        guard !message.retain || wasTakenOver && message.topic == topic else { return nil }
        if message.topic == availability {
            let isOffline = message.payload == Array(Availability.offline.rawValue.utf8)
            return isOffline && isOnline ? .sayAgain : nil
        }
        guard let other = try? Payload.decode(InstanceClaim.self, from: message.payload), other.instance != claim.instance else {
            return nil
        }
        return claim.prevails(over: other) ? .answer(self.message) : .leave(NamesakeFailure(topic: topic.string, since: other.since))
    }
}

/// Another program with the same id runs.
public struct NamesakeFailure: UserFacingFailure, Equatable {
    /// Where it says so.
    public let topic: String
    /// When it started.
    public let since: Timestamp

    public var reports: [FailureReport] {
        [
            FailureReport(
                "another program with the same id runs since \(since)", at: topic,
                remedy: "stop one of them, or give each an id of its own (camera.id, bridge.id) or a base of its own (mqtt.base)")
        ]
    }
}
