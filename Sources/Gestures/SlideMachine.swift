/// Turns sideways movement of a stretched index finger into the way it has gone from where it rested.
///
/// A slide begins only from rest, so an arm that passes by does nothing, and only when the knuckles go along, so a finger that bends
/// does nothing. It measures the way from the resting place, not speed summed up, so going back brings back the start.
enum SlideMachine: Hashable, Sendable {
    /// The hand is not fit for a slide, or has not rested for long enough yet.
    case waiting(Stillness?)
    /// At rest about `anchor`.
    case resting(anchor: Pose)
    case sliding(Slide)

    init() { self = .waiting(nil) }

    /// Place and shape of the hand, as far as a slide depends on them.
    struct Pose: Hashable, Sendable {
        /// Index tip, smoothed, in pixels.
        var tip: SIMD2<Double>
        /// Middle of the knuckles, in pixels.
        var knuckles: SIMD2<Double>
        var gap: Double
        var reach: Double
        /// Direction of the palm, in radians.
        var angle: Double
    }

    /// A stay within a small space.
    struct Stillness: Hashable, Sendable {
        var since: Double
        var about: Pose
    }

    struct Stay: Hashable, Sendable {
        var since: Double
        var x: Double
    }

    struct Slide: Hashable, Sendable {
        var anchor: Pose
        /// Pixels from the anchor along x.
        var way: Double
        /// Since when, and about which place along x, the finger has stayed as near as a slow one does.
        var stay: Stay
    }

    /// Each carries the way from the resting place along x, in pixels.
    enum Action: Hashable, Sendable {
        case began(Double)
        case moved(Double)
        case ended(Double)
    }

    /// One frame's view of a hand that is fit for a slide: its index finger stretched, no pinch under way.
    struct Sight {
        var pose: Pose
        /// The index finger is stretched and its neighbours are not.
        var isPointing = true
        /// Smoothed speed of the tip along x, units a second.
        var speed: Double
        /// What ways are measured in, in pixels: the palm's size, unless the settings want another.
        var unit: Double
        var time: Double
        /// Seconds since the frame before.
        var interval: Double
    }

    mutating func saw(_ sight: Sight, settings: SlideSettings) -> Action? {
        switch self {
        case .waiting(let stillness):
            self = Self.rested(sight, stillness: stillness, settings: settings)
            return nil
        case .resting(let anchor):
            return leave(anchor, sight, settings: settings)
        case .sliding(let slide):
            return follow(slide, sight, settings: settings)
        }
    }

    /// The hand is lost or no longer fit for a slide: a slide ends where it last was.
    mutating func interrupted() -> Action? {
        defer { self = .waiting(nil) }
        guard case .sliding(let slide) = self else { return nil }
        return .ended(slide.way)
    }

    private static func rested(_ sight: Sight, stillness: Stillness?, settings: SlideSettings) -> SlideMachine {
        let (time, space) = sight.isPointing ? (settings.restTime, settings.restSpace) : (settings.openRestTime, settings.openRestSpace)
        // A hand that turns or closes is slow for a moment too, but changes its shape meanwhile.
        guard let stillness, stillness.about.shapeMatches(sight.pose, within: settings.steadiness / 2),
            (sight.pose.tip - stillness.about.tip).largest <= space * sight.unit
        else { return .waiting(Stillness(since: sight.time, about: sight.pose)) }
        return sight.time - stillness.since >= time ? .resting(anchor: sight.pose) : .waiting(stillness)
    }

    private mutating func leave(_ anchor: Pose, _ sight: Sight, settings: SlideSettings) -> Action? {
        let pose = sight.pose
        guard anchor.shapeMatches(pose, within: settings.steadiness) else {
            self = .waiting(nil)
            return nil
        }
        let tip = (pose.tip - anchor.tip) / sight.unit
        let knuckles = (pose.knuckles - anchor.knuckles) / sight.unit
        if tip.largest < settings.startTravel {
            self = .resting(anchor: anchor.approaching(pose, share: sight.interval / (settings.driftTime + sight.interval)))
            return nil
        }
        let isMeant = abs(sight.speed) >= settings.startSpeed
        let isSideways = abs(tip.x) >= settings.sideways * abs(tip.y)
        // A fingertip is about 1.8 palms from the wrist: a hand that turns on it moves the tip by its angle times that.
        let turn = (pose.angle - anchor.angle).remainder(dividingBy: 2 * .pi)
        let isTurning = abs(turn) * 1.8 > 0.5 * abs(tip.x)
        let isWholeHand =
            settings.wholeHand == 0 || knuckles.x * tip.x > 0 && abs(knuckles.x) >= settings.wholeHand * abs(tip.x) && !isTurning
        guard isMeant, isSideways, isWholeHand else {
            self = .waiting(nil)
            return nil
        }
        let way = pose.tip.x - anchor.tip.x
        self = .sliding(Slide(anchor: anchor, way: way, stay: Stay(since: sight.time, x: pose.tip.x)))
        return .began(way)
    }

    private mutating func follow(_ slide: Slide, _ sight: Sight, settings: SlideSettings) -> Action? {
        guard slide.anchor.shapeMatches(sight.pose, within: settings.steadiness) else { return interrupted() }
        var slide = slide
        // The way within the time, not the speed of a frame: pictures that come twice, and noise, make a resting finger look fast.
        let stopTime = max(settings.stopTime, sight.interval)
        if abs(sight.pose.tip.x - slide.stay.x) > settings.stopSpeed * stopTime * sight.unit {
            slide.stay = Stay(since: sight.time, x: sight.pose.tip.x)
        }
        let slowFor = sight.time - slide.stay.since
        if slowFor >= stopTime {
            self = .resting(anchor: sight.pose)
            return .ended(slide.way)
        }
        // Half-way to the end the smoothing has caught up; what comes then is the hand's sway, not the slide.
        if slowFor < stopTime / 2 { slide.way = sight.pose.tip.x - slide.anchor.tip.x }
        self = .sliding(slide)
        return .moved(slide.way)
    }
}

extension SlideMachine.Pose {
    fileprivate func shapeMatches(_ other: Self, within limit: Double) -> Bool {
        abs(gap - other.gap) <= limit && abs(reach - other.reach) <= limit
    }

    fileprivate func approaching(_ other: Self, share: Double) -> Self {
        Self(
            tip: tip + (other.tip - tip) * share, knuckles: knuckles + (other.knuckles - knuckles) * share,
            gap: gap + (other.gap - gap) * share, reach: reach + (other.reach - reach) * share,
            angle: angle + (other.angle - angle).remainder(dividingBy: 2 * .pi) * share)
    }
}

extension SIMD2<Double> {
    /// The larger of both components' magnitudes.
    fileprivate var largest: Double { Swift.max(abs(x), abs(y)) }
}
