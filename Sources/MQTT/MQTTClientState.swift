/// Names one message on its way.
typealias PublicationID = UInt64

/// The life of a client, without I/O: what happened goes in, what is to be done comes out.
///
/// ```
/// idle ─▶ connecting ─▶ connected ─▶ leaving ─▶ stopped
///           ▲    │          │
///           │    ▼          │
///          waiting ◀────────┘
/// ```
/// Every attempt gets a libmosquitto handle of its own, so that nothing a handle holds back can be sent by the next one.
/// A stop leads from everywhere to `stopped`; what happens after it, or comes late from a handle already discarded, changes nothing.
struct MQTTClientState {
    /// What is to be done, in this order.
    enum Action: Equatable {
        /// Make a handle and connect it to the address of this number, see ``MQTTConfiguration/addresses``.
        case connect(MQTTVersion, to: Int = 0)
        /// Let go of the handle, whatever it still holds.
        case discard
        case subscribe([MQTTSubscription])
        case publish(PublicationID, MQTTMessage)
        /// Say goodbye to the broker, which makes it forget the will.
        case disconnect
        /// Call ``timerFired()`` after this time; replaces the timer set before.
        case setTimer(Duration)
        case emit(MQTTEvent)
        /// Tell who waits for the message that it was delivered, or why not.
        case complete(PublicationID, MQTTPublishError?)
        case finish
    }

    private enum Phase {
        case idle
        case connecting(MQTTVersion)
        case waiting
        case connected([PublicationID: Publication])
        case leaving([PublicationID: Publication], farewell: PublicationID?)
        case stopped
    }

    private struct Publication {
        var topic: TopicName
        /// Somebody waits for the outcome; otherwise a failure becomes an event.
        var isAwaited: Bool
    }

    private var configuration: MQTTConfiguration
    private let jitter: @Sendable () -> Double
    private var phase = Phase.idle
    private var backoff: Backoff
    /// Which address is tried, or connected to.
    private var address = 0
    /// Connections in a row that the broker accepted and ended before they were stable.
    private var hangUps = 0
    private var subscriptions: [MQTTSubscription] = []

    /// - Parameter jitter: makes evenly random numbers in 0…1 for the backoff.
    init(_ configuration: MQTTConfiguration, jitter: @escaping @Sendable () -> Double) {
        self.configuration = configuration
        self.jitter = jitter
        backoff = configuration.backoff
    }

    var isStopped: Bool {
        if case .stopped = phase { true } else { false }
    }

    /// The owner wants to be connected from now on.
    mutating func started() -> [Action] {
        guard case .idle = phase else { return [] }
        return connect(firstVersion)
    }

    /// The owner wants to leave in good order.
    /// - Parameter farewell: the id for the farewell message.
    mutating func stopRequested(farewell id: PublicationID) -> [Action] {
        switch phase {
        case .idle, .waiting, .connecting:
            phase = .stopped
            return [.discard, .finish]
        case .connected(let publications):
            guard let farewell = configuration.farewell else {
                phase = .leaving(publications, farewell: nil)
                return [.disconnect, .setTimer(configuration.farewellDeadline)]
            }
            phase = .leaving(publications, farewell: id)
            return [.publish(id, farewell), .setTimer(configuration.farewellDeadline)]
        case .leaving, .stopped:
            return []
        }
    }

    /// The owner wants to leave without the farewell, when it comes to that.
    mutating func farewellDropped() -> [Action] {
        configuration.farewell = nil
        return []
    }

    /// The owner wants to receive messages; an earlier wish for the same filter is replaced.
    mutating func subscribeRequested(_ wishes: [MQTTSubscription]) -> [Action] {
        for wish in wishes {
            subscriptions.removeAll { $0.filter == wish.filter }
            subscriptions.append(wish)
        }
        guard case .connected = phase, !wishes.isEmpty else { return [] }
        return [.subscribe(wishes)]
    }

    /// The owner wants a message delivered.
    mutating func publishRequested(_ id: PublicationID, _ message: MQTTMessage, isAwaited: Bool) throws(MQTTPublishError) -> [Action] {
        guard case .connected(var publications) = phase else { throw .offline }
        guard publications.count < configuration.outgoingLimit else { throw .congested }
        publications[id] = Publication(topic: message.topic, isAwaited: isAwaited)
        phase = .connected(publications)
        return [.publish(id, message)]
    }

    /// The broker let us in.
    mutating func accepted(_ connection: MQTTConnection) -> [Action] {
        guard case .connecting = phase else { return [] }
        phase = .connected([:])
        let renewal: [Action] = subscriptions.isEmpty ? [] : [.subscribe(subscriptions)]
        return renewal + [.setTimer(configuration.stableAfter), .emit(.connected(connection))]
    }

    /// The attempt failed, the broker refused it, or the connection ended.
    mutating func ended(_ reason: MQTTDisconnectReason) -> [Action] {
        switch phase {
        case .connecting(.v5) where configuration.version == .automatic && reason.suggestsOlderProtocol:
            return [.discard] + connect(.v311)
        case .connecting:
            return retry(after: reason)
        case .connected(let publications):
            return failures(of: publications, with: .connectionLost) + retry(after: judged(reason))
        case .leaving(let publications, _):
            return leave(failing: publications)
        case .idle, .waiting, .stopped:
            return []
        }
    }

    /// The time set by ``Action/setTimer(_:)`` has passed.
    mutating func timerFired() -> [Action] {
        switch phase {
        case .waiting:
            return connect(firstVersion)
        case .connecting:
            return retry(after: .noAnswer)
        case .connected:
            backoff.reset()
            hangUps = 0
            return []
        case .leaving(let publications, _):
            return leave(failing: publications)
        case .idle, .stopped:
            return []
        }
    }

    /// A message was written (QoS 0) or acknowledged (QoS 1), or cannot be delivered.
    mutating func published(_ id: PublicationID, failure: MQTTPublishError?) -> [Action] {
        switch phase {
        case .connected(var publications):
            guard let publication = publications.removeValue(forKey: id) else { return [] }
            phase = .connected(publications)
            return [outcome(of: id, publication, failure)].compactMap(\.self)
        case .leaving(let publications, farewell: id):
            phase = .leaving(publications, farewell: nil)
            return [.disconnect]
        case .leaving(var publications, let farewell):
            guard let publication = publications.removeValue(forKey: id) else { return [] }
            phase = .leaving(publications, farewell: farewell)
            return [outcome(of: id, publication, failure)].compactMap(\.self)
        case .idle, .connecting, .waiting, .stopped:
            return []
        }
    }

    /// The broker answered subscriptions, with a reason code of 0x80 and above where it refused one.
    mutating func subscribed(_ answers: [(filter: TopicFilter, code: MQTTReasonCode)]) -> [Action] {
        guard case .connected = phase else { return [] }
        let granted = answers.filter { $0.code.rawValue < 0x80 }.map(\.filter)
        let refused = answers.filter { $0.code.rawValue >= 0x80 }.map { Action.emit(.subscriptionRefused($0.filter, $0.code)) }
        return (granted.isEmpty ? [] : [.emit(.subscribed(granted))]) + refused
    }

    /// A message arrived.
    func received(_ message: MQTTMessage) -> [Action] {
        guard case .connected = phase else { return [] }
        return [.emit(.message(message))]
    }

    private var firstVersion: MQTTVersion {
        switch configuration.version {
        case .automatic: .v5
        case .only(let version): version
        }
    }

    private mutating func connect(_ version: MQTTVersion) -> [Action] {
        phase = .connecting(version)
        return [.connect(version, to: address), .setTimer(configuration.connectDeadline)]
    }

    private mutating func retry(after reason: MQTTDisconnectReason) -> [Action] {
        phase = .waiting
        address = (address + 1) % configuration.addresses.count
        let wait = backoff.next(jitter: jitter())
        return [.discard, .setTimer(wait), .emit(.disconnected(MQTTDisconnection(reason: reason, retryAfter: wait)))]
    }

    /// Many brokers only hang up on a client whose id another one uses. One hang-up says nothing, three before any connection held do.
    private mutating func judged(_ reason: MQTTDisconnectReason) -> MQTTDisconnectReason {
        guard case .lost = reason else { return reason }
        hangUps += 1
        return hangUps < 3 ? reason : .hungUpRepeatedly
    }

    private mutating func leave(failing publications: [PublicationID: Publication]) -> [Action] {
        phase = .stopped
        return failures(of: publications, with: .connectionLost)
            + [.discard, .emit(.disconnected(MQTTDisconnection(reason: .requested, retryAfter: nil))), .finish]
    }

    private func failures(of publications: [PublicationID: Publication], with error: MQTTPublishError) -> [Action] {
        publications.sorted { $0.key < $1.key }.compactMap { outcome(of: $0.key, $0.value, error) }
    }

    private func outcome(of id: PublicationID, _ publication: Publication, _ failure: MQTTPublishError?) -> Action? {
        if publication.isAwaited { return .complete(id, failure) }
        return failure.map { .emit(.undelivered(publication.topic, $0)) }
    }
}

extension MQTTDisconnectReason {
    /// Brokers older than MQTT 5 refuse its version number, or hang up on it.
    fileprivate var suggestsOlderProtocol: Bool {
        switch self {
        case .versionRefused, .lost, .protocolFault: true
        default: false
        }
    }
}
