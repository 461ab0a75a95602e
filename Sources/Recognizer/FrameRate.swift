/// Frames a second over the last second of the frames' own time.
struct FrameRate: Sendable {
    private var times: [Double] = []

    /// Frames a second, counting a frame at `time` as the newest; 0 until there are two.
    mutating func frame(at time: Double) -> Double {
        if let last = times.last, time <= last { times.removeAll() }
        times.append(time)
        times.removeAll { $0 < time - 1 }
        guard let first = times.first, time > first else { return 0 }
        return Double(times.count - 1) / (time - first)
    }

    mutating func reset() { times.removeAll() }
}
