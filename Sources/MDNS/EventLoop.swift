package import Dispatch

/// Runs an actor on a serial Dispatch queue, so that socket readiness and the actor's code take turns on it without locks or hops.
///
/// A queue owns no thread; threads come from Dispatch's pool, about as many as there are cores.
package final class EventLoop: SerialExecutor {
    package let queue: DispatchQueue

    package init(label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
