internal import CSystem
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Runs an actor's jobs one after another on a thread of its own.
///
/// For actors that make blocking C calls (waiting for a frame, inference): Swift's own pool has one thread a core, and a call that blocks
/// there stalls every other task. The actor keeps the executor and names it:
///
///     actor Capture {
///         private let executor = ThreadExecutor(name: "capture")
///         nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
///     }
///
/// The thread lives until the executor is released and every job handed over before that has run.
public final class ThreadExecutor: SerialExecutor {
    private let queue = Queue()

    /// - Parameter name: As `top -H` shows it; Linux keeps 15 bytes.
    public init(name: String) {
        let start = Unmanaged.passRetained(ThreadStart(name: name, queue: queue))
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, runThread, start.toOpaque())
        precondition(status == 0, "cannot start a thread: errno \(status)")
        pthread_detach(thread)
    }

    deinit { queue.stop() }

    public func enqueue(_ job: consuming ExecutorJob) {
        queue.append(.init(job: UnownedJob(job), executor: self))
    }

    /// Lets `assumeIsolated` and `preconditionIsolated` see that they are on this thread.
    public func isIsolatingCurrentContext() -> Bool? { queue.isCurrentThread }

    public func checkIsolated() {
        precondition(queue.isCurrentThread, "not on the thread of this executor")
    }
}

/// A job with the executor it runs on, which must outlive it even when the job lets the last actor go.
private struct Work: Sendable {
    let job: UnownedJob
    let executor: ThreadExecutor
}

private final class Queue: Sendable {
    private struct State {
        var jobs: [Work] = []
        var isStopped = false
        var thread: pthread_t?
    }

    private let state = Mutex(State())
    private let available = DispatchSemaphore(value: 0)

    var isCurrentThread: Bool {
        guard let thread = state.withLock({ $0.thread }) else { return false }
        return pthread_equal(thread, pthread_self()) != 0
    }

    func append(_ work: Work) {
        state.withLock { $0.jobs.append(work) }
        available.signal()
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        available.signal()
    }

    func run() {
        state.withLock { $0.thread = pthread_self() }
        while true {
            available.wait()
            let (jobs, isStopped) = state.withLock { state in
                defer { state.jobs.removeAll(keepingCapacity: true) }
                return (state.jobs, state.isStopped)
            }
            for work in jobs { work.job.runSynchronously(on: work.executor.asUnownedSerialExecutor()) }
            if isStopped { return }
        }
    }
}

private final class ThreadStart {
    let name: String
    let queue: Queue

    init(name: String, queue: Queue) { (self.name, self.queue) = (name, queue) }
}

private nonisolated func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let start = Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
    csystem_name_current_thread(start.name)
    start.queue.run()
    return nil
}
