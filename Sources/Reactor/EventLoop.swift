internal import CSystem
internal import Glibc
internal import Synchronization

/// One thread that waits for sockets, for times and for jobs, and runs the actors and tasks that name it as their executor.
///
/// What happens on a socket, the actor it belongs to and the task that waits for it all run on this thread, so that a round trip wakes one
/// thread once and no code takes turns with itself across threads. Nothing on it may block.
///
///     actor Connection {
///         nonisolated var unownedExecutor: UnownedSerialExecutor { EventLoop.shared.asUnownedSerialExecutor() }
///     }
///
/// A continuation resumes its task on the executor that the task prefers, and on Swift's pool where it prefers none, whatever its actor: so
/// tasks that wait on this loop are started with `executorPreference: EventLoop.shared`.
package final class EventLoop: SerialExecutor, TaskExecutor {
    /// For everything that talks to the network; lives as long as the process.
    package static let shared = EventLoop(name: "events")

    fileprivate let core: LoopCore

    /// - Parameter name: As `top -H` shows it; Linux keeps 15 bytes.
    package init(name: String) {
        core = LoopCore()
        core.start(name)
    }

    deinit { core.stop() }

    package func enqueue(_ job: consuming ExecutorJob) { core.append(.init(job: UnownedJob(job), loop: self)) }

    package func isIsolatingCurrentContext() -> Bool? { core.isCurrentThread }

    package func checkIsolated() { precondition(core.isCurrentThread, "not on the thread of this loop") }

    /// Calls `handler` on the loop whenever there is something to read, as long as the result lives.
    ///
    /// - Parameter owner: Keeps the descriptor open; held as long as the result lives. One reader and one writer a descriptor.
    package func whenReadable(_ descriptor: Int32, of owner: some Sendable, _ handler: @escaping @Sendable () -> Void) -> LoopWatch {
        LoopWatch(core, descriptor, .reading, owner, handler)
    }

    /// The same whenever there is room to write.
    package func whenWritable(_ descriptor: Int32, of owner: some Sendable, _ handler: @escaping @Sendable () -> Void) -> LoopWatch {
        LoopWatch(core, descriptor, .writing, owner, handler)
    }

    /// Calls `handler` once on the loop at a time, unless the result is cancelled or gone before.
    package func timer(at deadline: ContinuousClock.Instant, _ handler: @escaping @Sendable () -> Void) -> LoopTimer {
        LoopTimer(core, core.schedule(deadline, handler))
    }

    /// Waits until a time, woken by the loop itself; returns at once when the task is cancelled.
    package func sleep(until deadline: ContinuousClock.Instant) async {
        let sleeper = Sleeper()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                sleeper.begin(continuation)
                let id = core.schedule(deadline) { sleeper.wake() }
                sleeper.onWake { [core] in core.cancel(timer: id) }
                if Task.isCancelled { sleeper.wake() }
            }
        } onCancel: {
            sleeper.wake()
        }
    }
}

/// A descriptor that a loop watches; ends when released, from any thread.
package final class LoopWatch: Sendable {
    enum Direction: Sendable {
        case reading
        case writing
    }

    private let core: LoopCore
    private let descriptor: Int32
    private let direction: Direction
    private let owner: any Sendable

    fileprivate init(
        _ core: LoopCore, _ descriptor: Int32, _ direction: Direction, _ owner: any Sendable, _ handler: @escaping @Sendable () -> Void
    ) {
        (self.core, self.descriptor, self.direction, self.owner) = (core, descriptor, direction, owner)
        core.watch(descriptor, direction, handler)
    }

    deinit { core.watch(descriptor, direction, nil) }
}

/// A call that a loop is to make; never made once this is released.
package final class LoopTimer: Sendable {
    private let core: LoopCore
    private let id: UInt64

    fileprivate init(_ core: LoopCore, _ id: UInt64) { (self.core, self.id) = (core, id) }

    deinit { core.cancel(timer: id) }
}

/// One task that sleeps, woken once by whatever comes first.
private final class Sleeper: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Void, Never>?
        var onWake: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    func begin(_ continuation: CheckedContinuation<Void, Never>) { state.withLock { $0.continuation = continuation } }

    func onWake(_ action: @escaping @Sendable () -> Void) {
        state.withLock { if $0.continuation != nil { $0.onWake = action } }
    }

    func wake() {
        let state = state.withLock { state in
            defer { state = State() }
            return state
        }
        state.onWake?()
        state.continuation?.resume()
    }
}
