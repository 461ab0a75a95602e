internal import Dispatch
internal import Glibc
internal import Synchronization

/// Receives signals: the first is a value to await, the second ends the process at once.
final class SignalWatch: Sendable {
    private let mailbox = Mailbox<Int32>()
    private let numbers: [Int32]
    // Dispatch sources are thread-safe but not marked so.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

    /// Returns once signals are delivered here, so that none that comes later takes its default action.
    /// - Parameter onFirst: Called on a thread of its own, so that it happens even where every pool thread is blocked.
    init(_ numbers: [Int32], onFirst: @escaping @Sendable () -> Void) async {
        self.numbers = numbers
        let queue = DispatchQueue(label: "signals")
        let isFirst = Latch()
        let mailbox = mailbox
        sources = numbers.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { @Sendable in
                // A shell reads 128 + n as "ended by signal n".
                guard isFirst.close() else { _exit(128 + number) }
                onFirst()
                mailbox.put(number)
            }
            return source
        }
        for source in sources {
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler { @Sendable in continuation.resume() }
                source.activate()
            }
        }
    }

    /// Waits for the first signal; nil when cancelled.
    func first() async -> Int32? { await mailbox.take() }

    /// Gives the signals their default action back.
    func end() {
        for (source, number) in zip(sources, numbers) {
            source.setCancelHandler { @Sendable in _ = signal(number, SIG_DFL) }
            source.cancel()
        }
    }
}

/// Ends the process when a stop takes too long, whatever blocks it: it waits on a thread of its own.
final class Backstop: Sendable {
    private let delay: Duration
    private let onLate: @Sendable () -> Void
    private let isArmed = Latch()
    private let isDone = Latch()
    private let queue = DispatchQueue(label: "backstop")

    init(delay: Duration, onLate: @escaping @Sendable () -> Void) {
        (self.delay, self.onLate) = (delay, onLate)
    }

    func arm() {
        guard isArmed.close() else { return }
        let milliseconds = Int(delay / .milliseconds(1))
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { @Sendable [isDone, onLate] in
            guard isDone.close() else { return }
            onLate()
            _exit(1)
        }
    }

    func disarm() { _ = isDone.close() }
}

/// Something that happens once.
private final class Latch: Sendable {
    private let isClosed = Atomic(false)

    /// Whether this call was the one that closed it.
    func close() -> Bool { !isClosed.exchange(true, ordering: .acquiringAndReleasing) }
}
