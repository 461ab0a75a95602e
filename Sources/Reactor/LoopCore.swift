internal import CSystem
internal import Glibc
internal import Synchronization

/// A job with the loop it runs on, which must outlive it even when the job lets the last actor go.
struct LoopJob: Sendable {
    let job: UnownedJob
    let loop: EventLoop
}

/// What a loop's thread and everybody else share.
final class LoopCore: Sendable {
    private struct Registration {
        /// Tells events of this descriptor from those of an earlier one with the same number.
        var generation: UInt32
        var onReadable: (@Sendable () -> Void)?
        var onWritable: (@Sendable () -> Void)?

        var directions: Int32 {
            (onReadable == nil ? 0 : Int32(csystem_readable)) | (onWritable == nil ? 0 : Int32(csystem_writable))
        }
    }

    private struct State {
        var jobs: [LoopJob] = []
        var timers = TimerQueue()
        var registrations: [Int32: Registration] = [:]
        var lastGeneration: UInt32 = 0
        /// Whether the thread must be woken to see what is new.
        var isWaiting = false
        var isStopped = false
        var thread: pthread_t?
    }

    private let state = Mutex(State())
    private let poller: Int32
    private let wakeUp = WakeUp()
    private static let roundsBetweenPolls = 16
    /// Marks the wake-up among the events; no registration has this generation.
    private static let wakeUpMark: UInt64 = 0

    init() {
        poller = csystem_poller_open()
        precondition(poller >= 0, "the system has no descriptor left for a loop")
        csystem_poller_watch(poller, wakeUp.descriptor, Int32(csystem_readable), 0, Self.wakeUpMark)
    }

    deinit { close(poller) }

    var isCurrentThread: Bool {
        guard let thread = state.withLock({ $0.thread }) else { return false }
        return pthread_equal(thread, pthread_self()) != 0
    }

    /// Changes what is shared, and wakes the thread where it has to see that.
    private func change<Result>(_ body: (inout State) -> (Result, isNews: Bool)) -> Result {
        let (result, mustWake) = state.withLock { state in
            let (result, isNews) = body(&state)
            let mustWake = isNews && state.isWaiting
            if mustWake { state.isWaiting = false }
            return (result, mustWake)
        }
        if mustWake { wakeUp.signal() }
        return result
    }

    func append(_ job: LoopJob) {
        change { state in
            state.jobs.append(job)
            return ((), true)
        }
    }

    func schedule(_ deadline: ContinuousClock.Instant, _ handler: @escaping @Sendable () -> Void) -> UInt64 {
        change { state in
            let isFirst = state.timers.earliest.map { deadline < $0 } ?? true
            return (state.timers.add(deadline, handler), isFirst)
        }
    }

    func cancel(timer id: UInt64) {
        // Let go of outside the lock: what a handler holds may have timers of its own.
        withExtendedLifetime(state.withLock { $0.timers.remove(id) }) {}
    }

    func stop() {
        change { state in
            state.isStopped = true
            return ((), true)
        }
    }

    /// Sets what is called for a descriptor in one direction; nil ends it.
    func watch(_ descriptor: Int32, _ direction: LoopWatch.Direction, _ handler: (@Sendable () -> Void)?) {
        let former = state.withLock { state -> (@Sendable () -> Void)? in
            let known = state.registrations[descriptor]
            if known == nil, handler == nil { return nil }
            if known == nil { state.lastGeneration = state.lastGeneration == .max ? 1 : state.lastGeneration + 1 }
            var registration = known ?? Registration(generation: state.lastGeneration)
            let former: (@Sendable () -> Void)?
            switch direction {
            case .reading: (former, registration.onReadable) = (registration.onReadable, handler)
            case .writing: (former, registration.onWritable) = (registration.onWritable, handler)
            }
            let mark = UInt64(registration.generation) << 32 | UInt64(UInt32(bitPattern: descriptor))
            let directions = registration.directions
            state.registrations[descriptor] = directions == 0 ? nil : registration
            csystem_poller_watch(poller, descriptor, directions, known?.directions ?? 0, mark)
            return former
        }
        withExtendedLifetime(former) {}
    }

    // MARK: The thread

    func start(_ name: String) {
        // Signals are for the threads that handle them.
        var (all, previous) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
        let start = Unmanaged.passRetained(LoopStart(name: name, core: self))
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, runLoop, start.toOpaque())
        precondition(status == 0, "the system has no thread left for a loop: errno \(status)")
        pthread_detach(thread)
    }

    fileprivate func run() {
        state.withLock { $0.thread = pthread_self() }
        var events = [csystem_ready](repeating: csystem_ready(), count: 64)
        var jobs: [LoopJob] = []
        while true {
            // What a job leads to is mostly another job: those are run before the system is asked anew, but not for ever.
            for _ in 0..<Self.roundsBetweenPolls {
                state.withLock { swap(&jobs, &$0.jobs) }
                if jobs.isEmpty { break }
                for item in jobs {
                    item.job.runSynchronously(
                        isolatedTo: item.loop.asUnownedSerialExecutor(), taskExecutor: item.loop.asUnownedTaskExecutor())
                }
                jobs.removeAll(keepingCapacity: true)
            }
            // One at a time, as each may cancel the next.
            let now = ContinuousClock.now
            while let handler = state.withLock({ $0.timers.takeDue(now) }) { handler() }

            let (isStopped, wait) = state.withLock { state -> (Bool, Int32) in
                if !state.jobs.isEmpty { return (false, 0) }
                state.isWaiting = true
                return (state.isStopped, Self.milliseconds(until: state.timers.earliest))
            }
            if isStopped { return }
            let count = csystem_poller_wait(poller, &events, Int32(events.count), wait)
            state.withLock { $0.isWaiting = false }
            for event in events.prefix(Int(max(0, count))) { dispatch(event) }
        }
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let rest = max(.zero, deadline - .now) / .milliseconds(1)
        return Int32(min(rest.rounded(.up), 60_000))
    }

    private func dispatch(_ event: csystem_ready) {
        guard event.mark != Self.wakeUpMark else { return wakeUp.clear() }
        let descriptor = Int32(bitPattern: UInt32(truncatingIfNeeded: event.mark))
        let generation = UInt32(truncatingIfNeeded: event.mark >> 32)
        func handler(_ path: KeyPath<Registration, (@Sendable () -> Void)?>) -> (@Sendable () -> Void)? {
            state.withLock { state in
                guard let registration = state.registrations[descriptor], registration.generation == generation else { return nil }
                return registration[keyPath: path]
            }
        }
        if event.directions & Int32(csystem_readable) != 0 { handler(\.onReadable)?() }
        if event.directions & Int32(csystem_writable) != 0 { handler(\.onWritable)?() }
    }
}

private final class LoopStart {
    let name: String
    let core: LoopCore

    init(name: String, core: LoopCore) { (self.name, self.core) = (name, core) }
}

private nonisolated func runLoop(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let start = Unmanaged<LoopStart>.fromOpaque(context).takeRetainedValue()
    csystem_name_current_thread(start.name)
    start.core.run()
    return nil
}
