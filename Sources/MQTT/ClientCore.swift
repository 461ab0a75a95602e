import Reactor
import Synchronization

/// What the client's owner and its network thread share: the state machine and everything that waits for it, under one lock.
final class ClientCore: Sendable {
    typealias Action = MQTTClientState.Action

    let wakeUp = WakeUp()
    private let shared: Mutex<Shared>

    private struct Shared {
        var state: MQTTClientState
        var events: EventBuffer
        var lastID: PublicationID = 0
        /// For the network thread, in order.
        var actions: [Action] = []
        var waiters: [PublicationID: Waiter] = [:]
        var reader: CheckedContinuation<MQTTEvent?, Never>?
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private struct Waiter {
        var continuation: CheckedContinuation<MQTTPublishError?, Never>
        var deadline: ContinuousClock.Instant
    }

    /// What is to be resumed once the lock is free.
    private struct Resumptions {
        var publications: [(CheckedContinuation<MQTTPublishError?, Never>, MQTTPublishError?)] = []
        var reader: (CheckedContinuation<MQTTEvent?, Never>, MQTTEvent?)?
        var stopped: [CheckedContinuation<Void, Never>] = []

        func resume() {
            for (continuation, failure) in publications { continuation.resume(returning: failure) }
            if let (continuation, event) = reader { continuation.resume(returning: event) }
            for continuation in stopped { continuation.resume() }
        }
    }

    init(_ configuration: MQTTConfiguration, jitter: @escaping @Sendable () -> Double) {
        shared = Mutex(
            Shared(state: MQTTClientState(configuration, jitter: jitter), events: EventBuffer(limit: configuration.incomingLimit)))
    }

    /// Feeds the state machine, and sees to what comes out.
    func submit(_ input: (inout MQTTClientState) -> [Action]) {
        shared.withLock { shared in Self.perform(input(&shared.state), &shared) }.resume()
        wakeUp.signal()
    }

    func stop() {
        shared.withLock { shared in
            shared.lastID += 1
            return Self.perform(shared.state.stopRequested(farewell: shared.lastID), &shared)
        }.resume()
        wakeUp.signal()
    }

    /// Hands a message over without waiting for its outcome.
    func send(_ message: MQTTMessage) throws(MQTTPublishError) {
        let result: Result<Resumptions, MQTTPublishError> = shared.withLock { shared in
            shared.lastID += 1
            let id = shared.lastID
            return Result { () throws(MQTTPublishError) in
                Self.perform(try shared.state.publishRequested(id, message, isAwaited: false), &shared)
            }
        }
        try result.get().resume()
        wakeUp.signal()
    }

    /// Hands a message over and waits for its outcome.
    func publish(_ message: MQTTMessage, deadline: ContinuousClock.Instant) async throws(MQTTPublishError) {
        let id = shared.withLock { shared in
            shared.lastID += 1
            return shared.lastID
        }
        let failure = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                shared.withLock { shared in
                    do throws(MQTTPublishError) {
                        let actions = try shared.state.publishRequested(id, message, isAwaited: true)
                        shared.waiters[id] = Waiter(continuation: continuation, deadline: deadline)
                        return Self.perform(actions, &shared)
                    } catch {
                        return Resumptions(publications: [(continuation, error)])
                    }
                }.resume()
                wakeUp.signal()
                // A cancellation that came first found nobody to tell.
                if Task.isCancelled { giveUp(id, .cancelled) }
            }
        } onCancel: {
            giveUp(id, .cancelled)
        }
        if let failure { throw failure }
    }

    /// The next event; nil once the client has stopped and everything was read, or when the task is cancelled.
    func nextEvent() async -> MQTTEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                shared.withLock { shared in
                    var resumptions = Resumptions()
                    if let event = shared.events.popFirst() {
                        resumptions.reader = (continuation, event)
                    } else if shared.state.isStopped || Task.isCancelled {
                        resumptions.reader = (continuation, nil)
                    } else {
                        precondition(shared.reader == nil, "the events of an MQTT client have one reader")
                        shared.reader = continuation
                    }
                    return resumptions
                }.resume()
                if Task.isCancelled { dismissReader() }
            }
        } onCancel: {
            dismissReader()
        }
    }

    /// Returns once the client has stopped.
    func waitUntilStopped() async {
        await withCheckedContinuation { continuation in
            shared.withLock { shared in
                if shared.state.isStopped { return Resumptions(stopped: [continuation]) }
                shared.stopWaiters.append(continuation)
                return Resumptions()
            }.resume()
        }
    }

    private func dismissReader() {
        shared.withLock { shared in
            defer { shared.reader = nil }
            return Resumptions(reader: shared.reader.map { ($0, nil) })
        }.resume()
    }

    private func giveUp(_ id: PublicationID, _ failure: MQTTPublishError) {
        shared.withLock { shared in
            let waiter = shared.waiters.removeValue(forKey: id)
            return Resumptions(publications: waiter.map { [($0.continuation, failure)] } ?? [])
        }.resume()
    }

    private static func perform(_ actions: [Action], _ shared: inout Shared) -> Resumptions {
        var resumptions = Resumptions()
        for action in actions {
            switch action {
            case .emit(let event):
                shared.events.append(event)
            case .complete(let id, let failure):
                if let waiter = shared.waiters.removeValue(forKey: id) { resumptions.publications.append((waiter.continuation, failure)) }
            case .connect, .discard, .subscribe, .publish, .disconnect, .setTimer, .finish:
                shared.actions.append(action)
            }
        }
        if let reader = shared.reader {
            let event = shared.events.popFirst()
            if event != nil || shared.state.isStopped {
                resumptions.reader = (reader, event)
                shared.reader = nil
            }
        }
        if shared.state.isStopped {
            resumptions.stopped = shared.stopWaiters
            shared.stopWaiters = []
        }
        return resumptions
    }
}

// For the network thread.
extension ClientCore {
    /// The next action to perform.
    func nextAction() -> Action? {
        shared.withLock { $0.actions.isEmpty ? nil : $0.actions.removeFirst() }
    }

    /// When the next waiting publisher gives up.
    var nextDeadline: ContinuousClock.Instant? {
        shared.withLock { $0.waiters.values.map(\.deadline).min() }
    }

    /// Tells the publishers that have waited long enough.
    func expireWaiters(now: ContinuousClock.Instant) {
        let expired = shared.withLock { shared in shared.waiters.filter { $0.value.deadline <= now }.map(\.key) }
        for id in expired { giveUp(id, .timedOut) }
    }
}
