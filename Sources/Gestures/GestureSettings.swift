/// Everything about the gestures that a person may tune.
public struct GestureSettings: Hashable, Sendable {
    public var pinch = PinchSettings()
    public var slide = SlideSettings()

    public init() {}
}

/// When thumb and index finger count as pinched.
///
/// Unless another origin is named, the numbers are the measured gate of 18 clips with 5 real pinches, which found all five and
/// fired never wrongly.
public struct PinchSettings: Hashable, Sendable {
    /// Thumb tip to index tip in palm sizes, below which the hand may be pinching. Touching fingers measured 0.08–0.24.
    public var close = 0.25
    /// The same gap above which the hand is open; between the two it stays what it was. Open hands measured 0.58 and more.
    public var open = 0.40
    /// Index tip to index knuckle in palm lengths, at least: pinches measured 0.51–0.81, fists 0.28–0.43.
    public var reach = 0.47
    /// How long the gap stays closed before it is a pinch, in seconds.
    public var dwell = 0.134
    /// How long the gap stays open before a pinch is over, in seconds.
    public var release = 0.06
    /// How long a hand must have been seen open before it may pinch, in seconds.
    public var seenOpen = 0.2
    /// How long a hand may be lost before everything about it is forgotten, in seconds.
    public var lost = 0.3

    public init() {}
}

/// How sideways movement of the index finger becomes brightness.
public struct SlideSettings: Hashable, Sendable {
    /// What brightens.
    public enum Direction: String, Hashable, Sendable, CaseIterable {
        /// Movement to the person's own right.
        case natural
        /// The other way round.
        case reversed
    }

    public var direction = Direction.natural
    /// Brightness points for one frame width of movement; HandKit's rule is 100.
    public var gain = 100.0
    /// Speed of the index tip at which a slide begins, in palm lengths a second.
    public var startSpeed = 0.6
    /// Speed below which it ends, in palm lengths a second.
    public var stopSpeed = 0.2

    public init() {}
}
