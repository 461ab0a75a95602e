/// Notices that a camera delivers fewer frames a second than it should, by the frames' own times.
public struct RateCheck: Sendable {
    public enum Verdict: Hashable, Sendable {
        /// Frames a second, and how many there should be.
        case slow(Double, expected: Double)
        case recovered(Double)
    }

    /// What share of the expected rate is enough: gestures are judged by time, and miss nothing that a few frames less would show.
    public static let share = 0.75
    /// Seconds that are looked at at a time; a camera that begins is still looking for its exposure in the first.
    static let window = 5.0

    private let expected: Double
    private var start: (time: Double, frames: Int)?
    private var isFirst = true
    private var isSlow = false

    /// - Parameter expected: Frames a second.
    public init(expected: Double) { self.expected = expected }

    /// - Parameters:
    ///   - time: The newest frame's, in seconds.
    ///   - counters: Of the source; frames that were lost or broken did come from the camera.
    /// - Returns: What is new.
    public mutating func frame(at time: Double, _ counters: SourceCounters) -> Verdict? {
        let frames = counters.delivered + counters.corrupt + counters.missing + counters.duplicates
        guard let start, time >= start.time else {
            start = (time, frames)
            return nil
        }
        guard time - start.time >= Self.window else { return nil }
        let rate = Double(frames - start.frames) / (time - start.time)
        self.start = (time, frames)
        if isFirst {
            isFirst = false
            return nil
        }
        let slow = rate < Self.share * expected
        defer { isSlow = slow }
        if slow == isSlow { return nil }
        return slow ? .slow(rate, expected: expected) : .recovered(rate)
    }
}
