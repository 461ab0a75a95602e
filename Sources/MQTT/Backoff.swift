/// How long to wait before each new attempt: exponential, capped, jittered, for ever.
///
/// With the defaults, attempt by attempt:
///
/// | attempt | 1 | 2 | 3 | 4 and later |
/// |---|---|---|---|---|
/// | ceiling (s) | 0.5 | 1 | 2 | 4 |
/// | waits (s) | 0.25–0.5 | 0.5–1 | 1–2 | 2–4 |
///
/// Whatever comes back, a broker, a lamp or a camera, is to be used again within five seconds, and an attempt at one that is away costs a
/// packet or a system call. Half of every wait is fixed, so that no attempt follows at once, and half is random, so that many clients of a
/// broker that comes back do not arrive together.
public struct Backoff: Hashable, Sendable {
    public var initial: Duration
    public var factor: Double
    public var maximum: Duration

    private var ceiling: Duration?

    public init(initial: Duration = .milliseconds(500), factor: Double = 2, maximum: Duration = .seconds(4)) {
        self.initial = initial
        self.factor = factor
        self.maximum = maximum
    }

    /// The wait before the next attempt.
    /// - Parameter jitter: evenly random in 0…1.
    public mutating func next(jitter: Double) -> Duration {
        let ceiling = min(self.ceiling.map { $0 * factor } ?? initial, maximum)
        self.ceiling = ceiling
        return ceiling * (0.5 + 0.5 * min(max(jitter, 0), 1))
    }

    /// Starts the schedule anew, after a success.
    public mutating func reset() {
        ceiling = nil
    }
}
