public import Contract
internal import Glibc
internal import ServiceKit

/// When a frame arrived: by the system's clock, which may be set, and in seconds since the host started, sleep included.
public struct ArrivalTime: Equatable, Sendable {
    public var ts: Timestamp
    public var uptime: Double

    public init(ts: Timestamp, uptime: Double) { (self.ts, self.uptime) = (ts, uptime) }

    static var now: ArrivalTime {
        ArrivalTime(
            ts: Timestamp(millisecondsSinceEpoch: WallTime.now().millisecondsSinceEpoch), uptime: seconds(CLOCK_BOOTTIME).rounded(3))
    }
}

/// Seconds on the system's steady clock, which is also that of V4L2's frames.
func steadySeconds() -> Double { seconds(CLOCK_MONOTONIC) }

private func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Blocks the calling thread, which must be one of its own.
func pause(_ duration: Duration) {
    guard duration > .zero else { return }
    let parts = duration.components
    var rest = timespec(tv_sec: Int(parts.seconds), tv_nsec: Int(parts.attoseconds / 1_000_000_000))
    nanosleep(&rest, nil)
}
