internal import Gestures

extension GestureField {
    /// Every setting of the gestures, those of a section together.
    public static let all: [GestureField] = pinch + slide + hands + arming

    private static let pinch: [GestureField] = [
        .choice("pinch.unit", \.pinch.unit, "What the gaps are measured in; picture: its width and height."),
        .number("pinch.close", \.pinch.close, 0.01...5, "palms", "Finger tips nearer than this are pinched."),
        .number("pinch.certain_close", \.pinch.certainClose, 0.01...5, "palms", "The same where the reach is certain."),
        .number("pinch.open", \.pinch.open, 0.01...5, "palms", "Finger tips further apart than this are open."),
        .number("pinch.wide_open", \.pinch.wideOpen, 0.01...5, "palms", "A gap that only fingers held apart have."),
        .number("pinch.reach", \.pinch.reach, 0...5, "palms", "How far the index finger is stretched at least: a fist is no pinch."),
        .number("pinch.certain_reach", \.pinch.certainReach, 0...5, "palms", "A reach that surely is no fist's."),
        .number("pinch.sudden", \.pinch.sudden, 0...1000, "palms/s", "Tips that close faster than this are doubted."),
        .time("pinch.dwell_ms", \.pinch.dwell, "How long the tips stay together before it counts."),
        .time("pinch.doubtful_dwell_ms", \.pinch.doubtfulDwell, "The same where it might still be a fist."),
        .time("pinch.release_ms", \.pinch.release, "How long the tips are apart before a pinch is over."),
        .time("pinch.doubtful_release_ms", \.pinch.doubtfulRelease, "The same where they are not wide apart."),
        .time("pinch.seen_open_ms", \.pinch.seenOpen, "How long a hand is seen open before it may pinch."),
        .time("pinch.unseen_ms", \.pinch.unseen, "How long a hand may be out of sight between open and pinched."),
        .time("pinch.lost_ms", \.pinch.lost, "How long a hand may be gone before it is forgotten."),
    ]

    private static let slide: [GestureField] = [
        .choice("slide.direction", \.slide.direction, "natural: movement to your own right brightens."),
        .choice("slide.unit", \.slide.unit, "What ways and speeds are measured in; picture: its width."),
        .number("slide.gain", \.slide.gain, 1...1000, "%/picture", "Brightness for a movement across the whole picture."),
        .number("slide.reach", \.slide.reach, 0...5, "palms", "How far the index finger is stretched at least."),
        .number("slide.rest_space", \.slide.restSpace, 0...5, "palms", "How far a resting finger may tremble."),
        .time("slide.rest_time_ms", \.slide.restTime, "How long the finger rests before a slide."),
        .number("slide.pointing", \.slide.pointing, 0...5, "of index", "How far a pointing hand's other fingers are stretched at most."),
        .number("slide.open_rest_space", \.slide.openRestSpace, 0...5, "palms", "How far a hand that does not point may tremble."),
        .time("slide.open_rest_time_ms", \.slide.openRestTime, "How long a hand that does not point rests before a slide."),
        .time("slide.drift_time_ms", \.slide.driftTime, "How slowly the place of rest follows the finger."),
        .number("slide.start_travel", \.slide.startTravel, 0...5, "palms", "How far the finger moves for a slide to begin."),
        .number("slide.start_speed", \.slide.startSpeed, 0.01...50, "palms/s", "How fast the finger moves for a slide to begin."),
        .number("slide.stop_speed", \.slide.stopSpeed, 0.01...50, "palms/s", "How slow the finger is when a slide ends."),
        .time("slide.stop_time_ms", \.slide.stopTime, "For how long it is slower than that."),
        .number("slide.sideways", \.slide.sideways, 0...100, "times", "How many times wider than high the way is."),
        .number("slide.whole_hand", \.slide.wholeHand, 0...1, "", "Share of the finger's way that the knuckles go too."),
        .number("slide.steadiness", \.slide.steadiness, 0...5, "palms", "How far the hand's shape may change in a slide."),
    ]

    private static let hands: [GestureField] = [
        .choice("hands.choice", \.hands.choice, "Which of your own hands counts."),
        .integer("hands.maximum", \.hands.maximum, 1...4, "hands", "How many hands are followed at once."),
        .number("hands.presence", \.hands.presence, 0...1, "", "How sure the model is of a hand that acts."),
        .time("hands.settle_ms", \.hands.settle, "How long a hand is there before it counts."),
        .time("hands.lock_ms", \.hands.lock, "How long the hand that acted keeps others from acting."),
        .number("hands.zone.left", \.hands.zone.left, 0...1, "", "Left edge of the part of the picture in which a hand acts."),
        .number("hands.zone.top", \.hands.zone.top, 0...1, "", "Its upper edge."),
        .number("hands.zone.right", \.hands.zone.right, 0...1, "", "Its right edge."),
        .number("hands.zone.bottom", \.hands.zone.bottom, 0...1, "", "Its lower edge."),
    ]

    private static let arming: [GestureField] = [
        .choice("arming.mode", \.arming.mode, "Whether gestures act only after a sign, and which."),
        .time("arming.hold_ms", \.arming.hold, "How long the open palm is held."),
        .time("arming.duration_ms", \.arming.duration, to: 3_600_000, "How long gestures act after it."),
    ]
}
