/// Smooths a noisy signal strongly while it rests and little while it moves (Casiez, Roussel, Vogel: "1€ Filter", CHI 2012).
struct OneEuroFilter: Sendable {
    /// Cut-off at rest, Hz.
    let minimumCutoff: Double
    /// How fast the cut-off rises with speed, Hz for one unit a second.
    let beta: Double
    /// Cut-off of the speed itself, Hz.
    let speedCutoff: Double

    private var latest: (value: Double, speed: Double, time: Double)?

    init(minimumCutoff: Double, beta: Double, speedCutoff: Double) {
        (self.minimumCutoff, self.beta, self.speedCutoff) = (minimumCutoff, beta, speedCutoff)
    }

    /// The value's own unit a second, smoothed; 0 before the second value.
    var speed: Double { latest?.speed ?? 0 }

    /// The smoothed value at `time`, in seconds; `unit` is what the speed is measured in. A time that does not advance changes nothing.
    mutating func smooth(_ value: Double, at time: Double, unit: Double) -> Double {
        guard let previous = latest else {
            latest = (value, 0, time)
            return value
        }
        let interval = time - previous.time
        guard interval > 0 else { return previous.value }
        let rawSpeed = (value - previous.value) / interval
        let speed = previous.speed + weight(speedCutoff, interval) * (rawSpeed - previous.speed)
        let smoothed = previous.value + weight(minimumCutoff + beta * abs(speed) / unit, interval) * (value - previous.value)
        latest = (smoothed, speed, time)
        return smoothed
    }

    /// Share of a new value in the smoothed one.
    private func weight(_ cutoff: Double, _ interval: Double) -> Double {
        let timeConstant = 1 / (2 * Double.pi * cutoff)
        return 1 / (1 + timeConstant / interval)
    }
}
