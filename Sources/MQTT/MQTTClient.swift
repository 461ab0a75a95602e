/// A connection to an MQTT broker that lasts: it comes back after every loss, and says what happens.
///
/// ``run()`` connects and keeps connected until ``shutdown()`` or cancellation. Everything that happens comes through ``events``, which one
/// task reads. A broker that lets the client in knows nothing of it (clean start, no session): on every
/// ``MQTTEvent/connected(_:)`` the owner publishes everything anew, while subscriptions are renewed by the client. Nothing is queued while
/// there is no connection, so that no stale message is ever sent after a reconnect.
///
/// libmosquitto runs on a thread of the client's own, never on the cooperative pool.
public final class MQTTClient: Sendable {
    private let configuration: MQTTConfiguration
    private let core: ClientCore

    /// Prepares a client, without talking to anyone.
    public init(_ configuration: MQTTConfiguration) {
        self.configuration = configuration
        core = ClientCore(configuration, jitter: { Double.random(in: 0...1) })
    }

    /// What happens, in order; for one reader. Ends when the client has stopped.
    public var events: MQTTEvents { MQTTEvents(core: core) }

    /// Connects, keeps connected, and returns when the client has stopped; to be called once.
    ///
    /// When the task is cancelled the client leaves in good order, as with ``shutdown()``.
    public func run() async {
        await withTaskCancellationHandler {
            NetworkThread.start(core, configuration)
            core.submit { $0.started() }
            await core.waitUntilStopped()
        } onCancel: {
            core.stop()
        }
    }

    /// Makes the client leave, and with it ``run()`` return: it publishes the farewell, waits for its acknowledgement, says goodbye.
    ///
    /// Without a connection there is nothing to say, and with an unresponsive broker it ends at ``MQTTConfiguration/farewellDeadline``.
    public func shutdown() {
        core.stop()
    }

    /// Leaves out the farewell when the client leaves; the will is forgotten by the broker as ever.
    public func dropFarewell() {
        core.submit { $0.farewellDropped() }
    }

    /// Receives messages from now on, on this connection and all later ones.
    ///
    /// A filter that was given before gets its quality of service replaced.
    public func subscribe(_ subscriptions: [MQTTSubscription]) {
        core.submit { $0.subscribeRequested(subscriptions) }
    }

    /// Hands a message over without waiting; a failure that shows later comes as ``MQTTEvent/undelivered(_:_:)``.
    /// - Throws: ``MQTTPublishError/offline`` or ``MQTTPublishError/congested``; the message is then forgotten.
    public func send(_ message: MQTTMessage) throws(MQTTPublishError) {
        try core.send(message)
    }

    /// Hands a message over and waits until it was written (QoS 0) or the broker acknowledged it (QoS 1).
    /// - Parameter deadline: how long to wait for that.
    public func publish(_ message: MQTTMessage, within deadline: Duration = .seconds(5)) async throws(MQTTPublishError) {
        try await core.publish(message, deadline: .now + deadline)
    }
}

/// The events of an ``MQTTClient``, in order, for one reader.
public struct MQTTEvents: AsyncSequence, Sendable {
    fileprivate let core: ClientCore

    public func makeAsyncIterator() -> Iterator {
        Iterator(core: core)
    }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let core: ClientCore

        /// The next event; nil when the client has stopped, or the task is cancelled.
        public func next() async -> MQTTEvent? {
            await core.nextEvent()
        }
    }
}
