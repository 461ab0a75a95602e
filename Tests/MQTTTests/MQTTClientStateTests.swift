import Testing

@testable import MQTT

struct `MQTT client state` {
    private let broker = MQTTConnection(version: .v5, brokerAddress: "127.0.0.1:1883")
    private let oldBroker = MQTTConnection(version: .v311, brokerAddress: "127.0.0.1:1883")

    private func configuration(_ change: (inout MQTTConfiguration) -> Void = { _ in }) -> MQTTConfiguration {
        var configuration = MQTTConfiguration(host: "broker", clientID: "test")
        change(&configuration)
        return configuration
    }

    private func machine(_ configuration: MQTTConfiguration) -> MQTTClientState {
        MQTTClientState(configuration, jitter: { 1 })
    }

    private func connected(_ configuration: MQTTConfiguration) -> MQTTClientState {
        var state = machine(configuration)
        _ = state.started()
        _ = state.accepted(broker)
        return state
    }

    private func message(_ topic: String = "a", qos: QualityOfService = .atLeastOnce) throws -> MQTTMessage {
        MQTTMessage(topic: try TopicName(topic), text: "x", qos: qos)
    }

    private func lost(_ reason: MQTTDisconnectReason, _ wait: Duration) -> [MQTTClientState.Action] {
        [.discard, .setTimer(wait), .emit(.disconnected(MQTTDisconnection(reason: reason, retryAfter: wait)))]
    }

    @Test func `it begins with MQTT 5`() {
        var state = machine(configuration())
        #expect(state.started() == [.connect(.v5), .setTimer(.seconds(10))])
        #expect(state.accepted(broker) == [.setTimer(.seconds(10)), .emit(.connected(broker))])
    }

    @Test(arguments: [MQTTDisconnectReason.versionRefused, .lost(code: 0), .lost(code: 104), .protocolFault(code: 2)])
    func `a broker that refuses MQTT 5 or hangs up on it is asked again in 3.1.1 at once`(reason: MQTTDisconnectReason) {
        var state = machine(configuration())
        _ = state.started()
        #expect(state.ended(reason) == [.discard, .connect(.v311), .setTimer(.seconds(10))])
        #expect(state.accepted(oldBroker).contains(.emit(.connected(oldBroker))))
    }

    @Test func `of a cluster the next node is tried in a circle, each with the newest version first`() {
        var state = machine(configuration { $0.alternatives = [MQTTAddress(host: "b"), MQTTAddress(host: "c", port: 1884)] })
        #expect(state.started().first == .connect(.v5, to: 0))
        #expect(state.ended(.lost(code: 0)).dropFirst().first == .connect(.v311, to: 0))
        _ = state.ended(.lost(code: 0))
        #expect(state.timerFired().first == .connect(.v5, to: 1))
        _ = state.accepted(broker)
        _ = state.ended(.keepAliveExpired)
        #expect(state.timerFired().first == .connect(.v5, to: 2))
        _ = state.timerFired()
        #expect(state.timerFired().first == .connect(.v5, to: 0))
    }

    @Test func `after the older version failed too it waits and begins with MQTT 5 again`() {
        var state = machine(configuration())
        _ = state.started()
        _ = state.ended(.lost(code: 0))
        #expect(state.ended(.lost(code: 0)) == lost(.lost(code: 0), .milliseconds(500)))
        #expect(state.timerFired() == [.connect(.v5), .setTimer(.seconds(10))])
    }

    @Test(arguments: [
        MQTTDisconnectReason.unreachable(host: "broker", port: 1883, code: 111), .hostNotFound(host: "broker"), .badCredentials,
        .notAuthorized, .tls(detail: ""), .clientIDRejected,
    ])
    func `failures that another version cannot heal are told and retried with growing waits`(reason: MQTTDisconnectReason) {
        var state = machine(configuration())
        _ = state.started()
        for wait in [500, 1000, 2000, 4000, 4000, 4000, 4000, 4000] {
            #expect(state.ended(reason) == lost(reason, .milliseconds(wait)))
            #expect(state.timerFired() == [.connect(.v5), .setTimer(.seconds(10))])
        }
    }

    @Test(arguments: [MQTTVersion.v5, .v311])
    func `a forced version is the only one tried`(version: MQTTVersion) {
        var state = machine(configuration { $0.version = .only(version) })
        #expect(state.started() == [.connect(version), .setTimer(.seconds(10))])
        #expect(state.ended(.versionRefused) == lost(.versionRefused, .milliseconds(500)))
        #expect(state.timerFired().first == .connect(version))
    }

    @Test func `a broker that takes the connection and says nothing is left`() {
        var state = machine(configuration())
        _ = state.started()
        #expect(state.timerFired() == lost(.noAnswer, .milliseconds(500)))
    }

    @Test func `subscriptions are sent at every connect and the last wish for a filter counts`() throws {
        let first = MQTTSubscription(try TopicFilter("a/#"), qos: .atMostOnce)
        let changed = MQTTSubscription(try TopicFilter("a/#"), qos: .atLeastOnce)
        let other = MQTTSubscription(try TopicFilter("b"))
        var state = machine(configuration())
        #expect(state.subscribeRequested([first]) == [])
        _ = state.started()
        #expect(state.accepted(broker).first == .subscribe([first]))
        #expect(state.subscribeRequested([other, changed]) == [.subscribe([other, changed])])
        _ = state.ended(.lost(code: 0))
        #expect(state.subscribeRequested([]) == [])
        _ = state.timerFired()
        #expect(state.accepted(broker).first == .subscribe([other, changed]))
    }

    @Test func `refused subscriptions are told apart from granted ones`() throws {
        let (good, bad) = (try TopicFilter("good"), try TopicFilter("bad"))
        var state = connected(configuration())
        let denied = MQTTReasonCode(rawValue: 0x87)
        #expect(
            state.subscribed([(good, MQTTReasonCode(rawValue: 1)), (bad, denied)])
                == [.emit(.subscribed([good])), .emit(.subscriptionRefused(bad, denied))])
    }

    @Test func `only a connected client takes messages`() throws {
        let message = try message()
        var state = machine(configuration())
        #expect(throws: MQTTPublishError.offline) { try state.publishRequested(1, message, isAwaited: true) }
        _ = state.started()
        #expect(throws: MQTTPublishError.offline) { try state.publishRequested(1, message, isAwaited: true) }
        _ = state.accepted(broker)
        #expect(try state.publishRequested(1, message, isAwaited: true) == [.publish(1, message)])
        _ = state.stopRequested(farewell: 2)
        #expect(throws: MQTTPublishError.offline) { try state.publishRequested(3, message, isAwaited: true) }
    }

    @Test func `messages on their way are bounded`() throws {
        let message = try message()
        var state = connected(configuration { $0.outgoingLimit = 2 })
        _ = try state.publishRequested(1, message, isAwaited: true)
        _ = try state.publishRequested(2, message, isAwaited: true)
        #expect(throws: MQTTPublishError.congested) { try state.publishRequested(3, message, isAwaited: true) }
        #expect(state.published(1, failure: nil) == [.complete(1, nil)])
        #expect(state.published(1, failure: nil) == [])
        #expect(try state.publishRequested(3, message, isAwaited: true) == [.publish(3, message)])
    }

    @Test func `a loss fails what was on its way and forgets it`() throws {
        let message = try message()
        var state = connected(configuration())
        _ = try state.publishRequested(1, message, isAwaited: true)
        _ = try state.publishRequested(2, message, isAwaited: false)
        #expect(
            state.ended(.lost(code: 0)) == [
                .complete(1, .connectionLost), .emit(.undelivered(message.topic, .connectionLost)),
            ] + lost(.lost(code: 0), .milliseconds(500)))
        _ = state.timerFired()
        #expect(state.accepted(broker) == [.setTimer(.seconds(10)), .emit(.connected(broker))])
        #expect(state.published(1, failure: nil) == [])
    }

    @Test func `a refusal reaches whoever waits, and the events where nobody does`() throws {
        let message = try message()
        let refusal = MQTTPublishError.refused(MQTTReasonCode(rawValue: 0x87))
        var state = connected(configuration())
        _ = try state.publishRequested(1, message, isAwaited: true)
        _ = try state.publishRequested(2, message, isAwaited: false)
        _ = try state.publishRequested(3, message, isAwaited: false)
        #expect(state.published(1, failure: refusal) == [.complete(1, refusal)])
        #expect(state.published(2, failure: refusal) == [.emit(.undelivered(message.topic, refusal))])
        #expect(state.published(3, failure: nil) == [])
    }

    @Test func `only a connection that held makes the waits short again`() {
        var state = connected(configuration())
        #expect(state.ended(.clientIDTakenOver) == lost(.clientIDTakenOver, .milliseconds(500)))
        _ = state.timerFired()
        _ = state.accepted(broker)
        #expect(state.ended(.clientIDTakenOver) == lost(.clientIDTakenOver, .seconds(1)))
        _ = state.timerFired()
        _ = state.accepted(broker)
        #expect(state.timerFired() == [])
        #expect(state.ended(.clientIDTakenOver) == lost(.clientIDTakenOver, .milliseconds(500)))
    }

    @Test func `a broker that hangs up again and again after letting us in is not called a plain loss`() {
        var state = connected(configuration())
        let expected: [MQTTDisconnectReason] = [
            .lost(code: 0), .lost(code: 0), .hungUpRepeatedly, .hungUpRepeatedly,
        ]
        for (reason, wait) in zip(expected, [500, 1000, 2000, 4000]) {
            #expect(state.ended(.lost(code: 0)) == lost(reason, .milliseconds(wait)))
            _ = state.timerFired()
            _ = state.accepted(broker)
        }
        _ = state.timerFired()
        #expect(state.ended(.lost(code: 0)) == lost(.lost(code: 0), .milliseconds(500)))
    }

    @Test func `a connection lost is no reason to doubt the version`() {
        var state = connected(configuration())
        #expect(!state.ended(.lost(code: 0)).contains(.connect(.v311)))
    }

    @Test func `leaving publishes the farewell, waits for its acknowledgement and says goodbye`() throws {
        let farewell = try message("availability")
        var state = connected(configuration { $0.farewell = farewell })
        _ = try state.publishRequested(1, try message(), isAwaited: true)
        #expect(state.stopRequested(farewell: 9) == [.publish(9, farewell), .setTimer(.seconds(1))])
        #expect(state.published(1, failure: nil) == [.complete(1, nil)])
        #expect(state.published(9, failure: nil) == [.disconnect])
        #expect(!state.isStopped)
        #expect(
            state.ended(.lost(code: 0)) == [
                .discard, .emit(.disconnected(MQTTDisconnection(reason: .requested, retryAfter: nil))), .finish,
            ])
        #expect(state.isStopped)
    }

    @Test func `leaving ends at its deadline and fails who still waits`() throws {
        var state = connected(configuration { $0.farewellDeadline = .milliseconds(100) })
        _ = try state.publishRequested(1, try message(), isAwaited: true)
        #expect(state.stopRequested(farewell: 9) == [.disconnect, .setTimer(.milliseconds(100))])
        #expect(state.stopRequested(farewell: 10) == [])
        #expect(
            state.timerFired() == [
                .complete(1, .connectionLost), .discard, .emit(.disconnected(MQTTDisconnection(reason: .requested, retryAfter: nil))),
                .finish,
            ])
        #expect(state.isStopped)
    }

    @Test func `without a connection it stops at once, and stays stopped`() {
        let prepare: [(inout MQTTClientState) -> Void] = [
            { _ in },
            { _ = $0.started() },
            {
                _ = $0.started(); _ = $0.ended(.badCredentials)
            },
        ]
        for step in prepare {
            var state = machine(configuration())
            step(&state)
            #expect(state.stopRequested(farewell: 1) == [.discard, .finish])
            #expect(state.isStopped)
            #expect(state.started() == [])
            #expect(state.accepted(broker) == [])
            #expect(state.ended(.noAnswer) == [])
            #expect(state.timerFired() == [])
            #expect(state.stopRequested(farewell: 2) == [])
        }
    }

    @Test func `whatever happens in whatever order, publications end once and a stop is final`() throws {
        var random = SplitMix(seed: 7)
        let message = try message()
        for _ in 0..<200 {
            var state = machine(
                configuration {
                    $0.outgoingLimit = 4; $0.farewell = message
                })
            var open: Set<PublicationID> = []
            var next: PublicationID = 0
            var stopped = false
            for _ in 0..<200 {
                var actions: [MQTTClientState.Action] = []
                switch random.next() % 9 {
                case 0: actions = state.started()
                case 1: actions = state.accepted(broker)
                case 2: actions = state.ended(.lost(code: 0))
                case 3: actions = state.timerFired()
                case 4, 5:
                    next += 1
                    if let accepted = try? state.publishRequested(next, message, isAwaited: true) {
                        open.insert(next)
                        actions = accepted
                    }
                case 6: actions = state.published(PublicationID.random(in: 0...next, using: &random), failure: nil)
                case 7: actions = state.received(message)
                default:
                    if random.next() % 40 == 0 {
                        next += 1
                        actions = state.stopRequested(farewell: next)
                    }
                }
                if stopped { #expect(actions.isEmpty) }
                for case .complete(let id, _) in actions { #expect(open.remove(id) != nil) }
                #expect(open.count <= 4)
                if actions.contains(.finish) {
                    #expect(state.isStopped && open.isEmpty)
                    stopped = true
                }
            }
        }
    }
}

/// SplitMix64: the same numbers on every run.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return bits ^ (bits >> 31)
    }
}
