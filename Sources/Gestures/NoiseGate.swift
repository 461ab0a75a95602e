/// Smooths a signal by as much as it jitters: a clean one passes as it is, without lag.
///
/// A small or blurred hand's gap jumps by half a palm from frame to frame while the fingers rest; a near one's stays within 0.05.
struct NoiseGate: Sendable {
    /// Three times the jitter up to which nothing is smoothed, in the signal's unit. Of 0.1, 0.2 and 0.3 the best over clips made darker,
    /// noisier and smaller; clean clips pass as they are with all three.
    private static let clean = 0.3
    /// The strongest smoothing: share of a new value.
    private static let leastShare = 0.25
    /// How long jitter is remembered, in seconds.
    private static let memory = 0.3

    private var jitter = 0.0
    private var recent: (last: Double, step: Double, smoothed: Double, time: Double)?

    mutating func pass(_ value: Double, at time: Double) -> Double {
        guard let recent, time > recent.time, time - recent.time < Self.memory else {
            self.recent = (value, 0, value, time)
            jitter = 0
            return value
        }
        let step = value - recent.last
        // A turn counts, going on does not: steady movement is no noise, however fast.
        let turn = step * recent.step < 0 ? min(abs(step), abs(recent.step)) : 0
        let share = min((time - recent.time) / Self.memory, 1)
        jitter += (turn - jitter) * share
        let weight = jitter * 3 <= Self.clean ? 1 : max(Self.leastShare, Self.clean / (jitter * 3))
        let smoothed = recent.smoothed + (value - recent.smoothed) * weight
        self.recent = (value, step, smoothed, time)
        return smoothed
    }
}
