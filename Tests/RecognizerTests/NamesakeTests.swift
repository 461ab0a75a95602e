import Contract
import MQTT
import ServiceKit
import Testing

@testable import BrokerLink

struct NamesakeTests {
    private let topic: TopicName
    private let availability: TopicName

    init() throws {
        (topic, availability) = (try TopicName("handkit/bridge/house/instance"), try TopicName("handkit/bridge/house/availability"))
    }

    private func watch(_ instance: String, since: Int64) -> NamesakeWatch {
        NamesakeWatch(
            InstanceClaim(instance: instance, since: Timestamp(millisecondsSinceEpoch: since)), topic: topic, availability: availability)
    }

    private func fresh(_ message: MQTTMessage) -> MQTTMessage {
        var message = message
        message.retain = false
        return message
    }

    @Test(arguments: [("a", 1, "b", 2), ("b", 1, "a", 2), ("a", 1, "b", 1)] as [(String, Int64, String, Int64)])
    func `of two the elder answers and the younger leaves`(elder: String, before: Int64, younger: String, after: Int64) {
        let (first, second) = (watch(elder, since: before), watch(younger, since: after))
        let answer = first.received(fresh(second.message), isOnline: true)
        #expect(answer == .answer(first.message))
        let failure = NamesakeFailure(topic: topic.string, since: first.claim.since)
        #expect(second.received(fresh(first.message), isOnline: true) == .leave(failure))
        #expect(failure.reports.first?.remedy != nil)
    }

    @Test func `its own word, a dead one's and rubbish are none of another program`() {
        let (own, other) = (watch("a", since: 2), watch("b", since: 1))
        #expect(own.received(fresh(own.message), isOnline: true) == nil)
        #expect(own.received(other.message, isOnline: true) == nil)
        #expect(own.received(MQTTMessage(topic: topic, text: "rubbish"), isOnline: true) == nil)
        #expect(own.received(MQTTMessage(topic: topic, text: ""), isOnline: true) == nil)
    }

    @Test func `who was thrown out by a client of the same id believes what that one left`() {
        var (own, other) = (watch("a", since: 2), watch("b", since: 1))
        own.disconnected(.clientIDTakenOver)
        other.disconnected(.clientIDTakenOver)
        #expect(own.received(other.message, isOnline: true) == .leave(NamesakeFailure(topic: topic.string, since: other.claim.since)))
        #expect(other.received(own.message, isOnline: true) == .answer(other.message))
    }

    @Test func `offline from elsewhere is contradicted by who is online, and nothing else is`() {
        let own = watch("a", since: 1)
        let (offline, online) = (MQTTMessage(topic: availability, text: "offline"), MQTTMessage(topic: availability, text: "online"))
        #expect(own.received(offline, isOnline: true) == .sayAgain)
        #expect(own.received(offline, isOnline: false) == nil)
        #expect(own.received(online, isOnline: true) == nil)
        var kept = offline
        kept.retain = true
        #expect(own.received(kept, isOnline: true) == nil)
    }
}
