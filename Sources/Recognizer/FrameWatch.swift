public import Contract

/// Says whether the camera is available: frames come, or it is paused on purpose.
///
/// Time is an argument, in seconds on any steady clock.
public struct FrameWatch: Sendable {
    /// Without a frame for this long a camera is offline; the contract's number.
    public static let patience = 3.0

    private var lastFrame: Double?
    private var isPaused = false

    public init() {}

    public mutating func sawFrame(at time: Double) { lastFrame = time }

    /// A paused camera stays available: it can be switched on again.
    public mutating func paused(_ isPaused: Bool, at time: Double) {
        self.isPaused = isPaused
        if !isPaused { lastFrame = time }
    }

    public mutating func lostCamera() { lastFrame = nil }

    /// Seconds since the latest frame; nil where none is expected or none came.
    public func frameAge(at time: Double) -> Double? {
        isPaused ? nil : lastFrame.map { max(0, time - $0) }
    }

    public func availability(at time: Double) -> Availability {
        if isPaused { return .online }
        guard let lastFrame, time - lastFrame < Self.patience else { return .offline }
        return .online
    }
}
