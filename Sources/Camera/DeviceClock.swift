/// Decides from a driver's timestamps when each frame was taken.
struct DeviceClock {
    enum Verdict: Hashable {
        /// The frame's time; `repaired` if the driver's was unusable and the time of arrival stands in.
        case use(Double, repaired: Bool)
        /// The same moment again.
        case duplicate
    }

    private var lastTime: Double?
    private var lastStamp: Double?

    /// A buffer waits at most a queue's length for us; a stamp this far from its arrival is from another clock.
    private static let largestDelay = 10.0

    /// - Parameters:
    ///   - stamp: The driver's time in seconds.
    ///   - isMonotonic: Whether the driver says that it is of CLOCK_MONOTONIC.
    ///   - arrival: CLOCK_MONOTONIC when the frame was taken from the queue.
    mutating func judge(stamp: Double, isMonotonic: Bool, arrival: Double) -> Verdict {
        if stamp > 0, stamp == lastStamp { return .duplicate }
        lastStamp = stamp
        let usable = isMonotonic && abs(arrival - stamp) <= Self.largestDelay && stamp > lastTime ?? -.infinity
        let time = usable ? stamp : arrival
        guard time > lastTime ?? -.infinity else { return .duplicate }
        lastTime = time
        return .use(time, repaired: !usable)
    }
}

/// Widens a driver's 32-bit frame numbers and counts the gaps between them.
struct DeviceSequence {
    private(set) var missing = 0
    private var last: UInt32?
    private var number: UInt64 = 0

    /// More than this at once is a counter that began anew, not frames lost: a minute and more at any camera's rate.
    private static let largestGap: UInt32 = 10_000

    /// The number of the frame that the driver numbered `raw`; starts at 0.
    mutating func number(of raw: UInt32) -> UInt64 {
        guard let last else {
            self.last = raw
            return 0
        }
        self.last = raw
        let step = raw &- last
        if (2...Self.largestGap).contains(step) {
            missing += Int(step) - 1
            number += UInt64(step)
        } else {
            number += 1
        }
        return number
    }
}
