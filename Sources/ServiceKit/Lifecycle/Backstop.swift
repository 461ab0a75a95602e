internal import Dispatch
internal import Glibc
internal import Synchronization

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
