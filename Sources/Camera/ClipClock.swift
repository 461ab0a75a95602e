/// Turns a clip's presentation times into times that start at zero and always increase.
struct ClipClock {
    /// Seconds between frames as the container promises, used where a time is missing.
    let interval: Double
    /// How many times were replaced.
    private(set) var repaired = 0

    /// Added to a presentation time.
    private var offset: Double?
    private var last: Double?

    /// A step back of more than this is a clock that was set anew, not a frame out of order; it exceeds any reordering of a video codec.
    private static let resetThreshold = 1.0
    /// A pause longer than this, and than three intervals, is a broken number: no recording of a hand pauses for so long.
    private static let longestPause = 10.0

    init(interval: Double) {
        self.interval = interval
    }

    /// The time of the frame that comes next, in seconds after the first; `presentation` is its time in seconds as stored, if any.
    mutating func time(presentation: Double?) -> Double {
        let time = next(presentation)
        last = time
        return time
    }

    private mutating func next(_ presentation: Double?) -> Double {
        guard let last else {
            if presentation == nil { repaired += 1 }
            offset = presentation.map { -$0 }
            return 0
        }
        guard let presentation else {
            repaired += 1
            return last + interval
        }
        guard let offset else {
            offset = last + interval - presentation
            return last + interval
        }
        let time = presentation + offset
        switch time - last {
        case let step where step > max(Self.longestPause, 3 * interval) || step < -Self.resetThreshold:
            repaired += 1
            self.offset = last + interval - presentation
            return last + interval
        case let step where step <= 0:
            // Half an interval leaves room for the next frame's own time.
            repaired += 1
            return last + interval / 2
        default:
            return time
        }
    }
}
