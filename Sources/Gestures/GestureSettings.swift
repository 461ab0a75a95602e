/// Everything about the gestures that a person may tune.
public struct GestureSettings: Hashable, Sendable {
    public var pinch = PinchSettings()
    public var slide = SlideSettings()
    public var hands = HandSettings()
    public var arming = ArmingSettings()

    public init() {}
}

/// Which hands count.
public struct HandSettings: Hashable, Sendable {
    public enum Choice: String, Hashable, Sendable, CaseIterable {
        case any, left, right
    }

    /// A part of the frame; 0 to 1 from the left and from the top of the picture as it is stored.
    public struct Zone: Hashable, Sendable {
        public var left = 0.0
        public var top = 0.0
        public var right = 1.0
        public var bottom = 1.0

        public init() {}

        func contains(x: Double, y: Double) -> Bool { x >= left && x <= right && y >= top && y <= bottom }
    }

    public var choice = Choice.any
    /// Most hands followed at once.
    public var maximum = 2
    /// Where the knuckles must be for a hand to count.
    public var zone = Zone()
    /// Presence, 0 to 1, below which a hand does not act. Real pinching hands measured 0.76 and more; two dogs pass at 0.5 and not at 0.9.
    public var presence = 0.7
    /// How long a hand must have been there before it counts, in seconds.
    public var settle = 0.1
    /// How long the hand that acted keeps other hands from acting, in seconds.
    public var lock = 0.5

    public init() {}
}

/// Whether gestures act only after a deliberate sign.
public struct ArmingSettings: Hashable, Sendable {
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// Gestures always act.
        case off
        /// An open palm, held still, arms.
        case gesture
        /// The MQTT switch arms.
        case command
        case both

        var allowsGesture: Bool { self == .gesture || self == .both }
        var allowsCommand: Bool { self == .command || self == .both }
    }

    public var mode = Mode.off
    /// How long the palm is held, in seconds: longer than a wave shows it.
    public var hold = 0.8
    /// How long gestures act after that or after the latest gesture, in seconds.
    public var duration = 15.0

    public init() {}
}

/// What lengths are measured in.
public enum LengthUnit: String, Hashable, Sendable, CaseIterable {
    /// Sizes of the hand's own palm: the same near and far.
    case palm
    /// The picture, as HandKit did: its width along x and its height along y.
    case picture
}

/// When thumb and index finger count as pinched.
///
/// Unless another origin is named, the numbers are the measured gate of 18 clips with 5 real pinches, which found all five and
/// fired never wrongly.
public struct PinchSettings: Hashable, Sendable {
    /// What the gaps below are in.
    public var unit = LengthUnit.palm
    /// Thumb tip to index tip in palm sizes, below which the hand may be pinching. Touching fingers measured 0.08–0.24.
    public var close = 0.25
    /// The same where the index finger is stretched as in no fist: seen from the thumb's side touching fingers measured up to 0.28, and
    /// fingers that nearly touch 0.5.
    public var certainClose = 0.30
    /// The same gap above which the hand is open; between the two it stays what it was. Open hands measured 0.58 and more.
    public var open = 0.40
    /// Index tip to index knuckle in palm lengths, at least: pinches measured 0.51–0.81, fists 0.28–0.43.
    public var reach = 0.47
    /// A reach that no fist has; with it the shorter dwell does. Measured as for `reach`.
    public var certainReach = 0.58
    /// Speed of the closing fingers, in palm sizes a second, above which it may be the model that jumps: pinches measured up to 15.3,
    /// a hand whose blurred fingers were mistaken for others 31.9.
    public var sudden = 22.0
    /// How long the gap stays closed before it is a pinch, in seconds, where reach and speed leave no doubt: the third frame at 30 a second.
    public var dwell = 0.06
    /// The same for a doubtful reach or speed.
    public var doubtfulDwell = 0.15
    /// A gap that only fingers held apart have; noise of touching ones measured up to 0.6.
    public var wideOpen = 0.6
    /// How long the gap stays open before a pinch is over, in seconds, when it is wide.
    public var release = 0.06
    /// The same when it is not.
    public var doubtfulRelease = 0.15
    /// How long a hand must have been seen open before it may pinch, in seconds.
    public var seenOpen = 0.2
    /// How long a hand may be out of sight between open and pinched, in seconds from sight to sight: two frames at 30 a second, as a fast
    /// hand's blur takes. After longer, and more than one frame, it has to be seen open anew.
    public var unseen = 0.11
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
    /// What ways and speeds below are in.
    public var unit = LengthUnit.palm
    /// Brightness points for one frame width of movement; HandKit's rule is 100.
    public var gain = 100.0
    /// Index tip to index knuckle in palm lengths, at least: a stretched finger measured 0.67–0.84 in slides, a fist at most 0.55.
    public var reach = 0.6
    /// The finger rests when it stays within this many palm sizes. Trembling hands measured 0.05 within the rest time.
    public var restSpace = 0.12
    /// How long it must rest before a slide may begin, in seconds.
    public var restTime = 0.15
    /// How far the middle and ring fingers may be stretched in a hand that points, in parts of the index finger's reach: pointing hands
    /// measured 0.5–0.6, loose ones 0.8.
    public var pointing = 0.7
    /// Space and time for a hand that does not point: hands that talk slow down for less.
    public var openRestSpace = 0.06
    public var openRestTime = 0.8
    /// How slowly a resting place follows the hand, in seconds.
    public var driftTime = 0.7
    /// Way from the resting place at which a slide begins, in palm sizes.
    public var startTravel = 0.2
    /// Speed of the index tip at which a slide begins, in palm sizes a second.
    public var startSpeed = 0.6
    /// Speed below which it ends, in palm sizes a second.
    public var stopSpeed = 0.25
    /// How long the finger must be slower than that, in seconds.
    public var stopTime = 0.25
    /// How many times wider than high the way must be to be sideways.
    public var sideways = 1.2
    /// Share of the finger's way that the knuckles must go too: all of it when the arm moves, 0.8 when the forearm swings, about half when
    /// the hand turns on its wrist, hardly any when a pinch or a fist closes. At 0 it is not asked what else of the hand moves.
    public var wholeHand = 0.7
    /// How far gap and reach may depart from those at rest, in palm sizes, before it is another shape of the hand and no slide.
    public var steadiness = 0.25

    public init() {}
}
