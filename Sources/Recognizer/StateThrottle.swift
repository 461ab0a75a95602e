public import Contract

/// Decides when the retained state is published: at once where something changed, at most four times a second, the last value always.
///
/// Time is an argument, in seconds on any steady clock.
public struct StateThrottle: Sendable {
    /// The contract's limit.
    public static let shortestInterval = 0.25
    /// How long a change of the frames' rate and age alone may wait: nobody acts on it, and every message is a row in somebody's database.
    public static let rateInterval = 10.0

    private var published: (state: CameraState, time: Double)?
    private var latest: CameraState?

    public init() {}

    /// What is to be published now, if anything, `state` being the newest.
    public mutating func update(_ state: CameraState, at time: Double) -> CameraState? {
        latest = state
        return due(at: time)
    }

    /// What is to be published now, if anything, with nothing new: a value that was held back.
    public mutating func due(at time: Double) -> CameraState? {
        guard let latest else { return nil }
        if let published {
            let wait = latest.differs(from: published.state) ? Self.shortestInterval : Self.rateInterval
            guard latest != published.state, time - published.time >= wait else { return nil }
        }
        published = (latest, time)
        return latest
    }

    /// Forgets what was published, so that the latest state is due at once: a broker that was away knows nothing.
    public mutating func restart() { published = nil }
}

extension CameraState {
    /// In anything but the frames' rate and age.
    fileprivate func differs(from other: CameraState) -> Bool {
        brightness != other.brightness || hand != other.hand || pinch != other.pinch || armed != other.armed || arming != other.arming
            || problem != other.problem
    }
}
