internal import Contract
internal import Glibc
internal import ServiceKit

extension Timestamp {
    /// The system's clock.
    static var now: Timestamp { Timestamp(millisecondsSinceEpoch: WallTime.now().millisecondsSinceEpoch) }
}

/// Seconds on the system's steady clock, which is also that of V4L2's frames.
func steadySeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Blocks the calling thread, which must be one of its own.
func pause(_ duration: Duration) {
    guard duration > .zero else { return }
    let parts = duration.components
    var rest = timespec(tv_sec: Int(parts.seconds), tv_nsec: Int(parts.attoseconds / 1_000_000_000))
    nanosleep(&rest, nil)
}
