/// Turns the gap between thumb and index finger into pinches: once, however long one is held.
enum PinchMachine: Hashable, Sendable {
    /// Not seen open yet on this track: whatever it does is no pinch. `openSince` is when it began to be seen open.
    case unarmed(openSince: Double?)
    case open(Approach)
    /// The fingers touch, not for long enough yet.
    case closing(Candidate)
    case pinched
    /// The gap of a pinch has been open since then, not for long enough yet.
    case opening(since: Double)

    /// What an open hand did lately that speaks for a fist.
    struct Approach: Hashable, Sendable {
        /// When the index finger was last seen folded.
        var foldedAt = -Double.infinity
        /// When the fingers came together in a way that is no pinch.
        var touchingSince: Double?
    }

    /// A pinch that may become one.
    struct Candidate: Hashable, Sendable {
        /// When the fingers came together.
        let since: Double
        /// The latest frame, and the latest that showed them touching.
        var time: Double
        var touchTime: Double
        /// For how long the fingers have been seen to touch, in seconds; frames in which they nearly do are left out.
        var touched = 0.0
        /// The same for the latest frames that leave no doubt.
        var certain = 0.0
        /// The fingers came together like a fist's.
        let isFistLike: Bool
        /// The gap closed faster than fingers do.
        var isSudden: Bool

        init(after approach: Approach, at time: Double, isSudden: Bool) {
            (since, self.time, touchTime, self.isSudden) = (approach.touchingSince ?? time, time, time, isSudden)
            isFistLike = approach.touchingSince != nil || time - approach.foldedAt <= PinchMachine.folding
        }

        /// Share of the time that it takes, 1 when it is a pinch.
        func progress(_ settings: PinchSettings) -> Double {
            func share(_ spent: Double, _ dwell: Double) -> Double {
                let dwell = isFistLike ? 2 * dwell : dwell
                return dwell > spent ? spent / dwell : 1
            }
            return max(isSudden ? 0 : share(certain, settings.dwell), share(touched, settings.doubtfulDwell))
        }
    }

    /// Fingers that have been together for so long and still do not look like a pinch are a fist, and have to open before they may pinch.
    private static let doubt = 0.5
    /// A fist's index finger folds before the thumb reaches it: so long before, in seconds.
    private static let folding = 0.3
    /// How long fingers that touch may seem apart without it being over, in seconds: of a small hand, or in the dark, the model sees every
    /// other frame of a pinch as a gap of half the open one.
    private static let flicker = 0.2
    /// Share of the open hand's own gap beyond which the fingers are apart without any doubt.
    private static let apart = 0.75

    init() { self = .unarmed(openSince: nil) }

    enum Action: Hashable, Sendable {
        /// The one toggle of a pinch.
        case toggle
        case release
    }

    /// A frame showed the hand at `time`, in seconds.
    mutating func saw(_ shape: HandShape, at time: Double, settings: PinchSettings) -> Action? {
        // A value on a threshold is on neither side of it: it keeps the state.
        let isOpen = shape.gap > settings.open
        let isStretched = shape.reach >= settings.certainReach
        let limit = isStretched ? settings.certainClose : settings.close
        let touches = shape.gap < limit
        let isClosed = touches && shape.reach >= settings.reach
        switch self {
        case .unarmed(let openSince):
            if touches {
                self = .unarmed(openSince: nil)
            } else if isOpen {
                let since = openSince ?? time
                self = time - since >= settings.seenOpen ? .open(Approach()) : .unarmed(openSince: since)
            }
            return nil
        case .open(var approach):
            if shape.reach < settings.reach { approach.foldedAt = time }
            guard isClosed else {
                if isOpen { approach.touchingSince = nil }
                if touches { approach.touchingSince = approach.touchingSince ?? time }
                let isFist = approach.touchingSince.map { time - $0 >= Self.doubt } ?? false
                self = isFist ? .unarmed(openSince: nil) : .open(approach)
                return nil
            }
            self = .closing(Candidate(after: approach, at: time, isSudden: shape.closingSpeed > settings.sudden))
            return saw(shape, at: time, settings: settings)
        case .closing(var candidate):
            let isCertain = isStretched && !candidate.isSudden
            if isClosed {
                candidate.touched += time - candidate.time
                candidate.certain = isStretched ? candidate.certain + time - candidate.time : 0
                candidate.touchTime = time
                guard candidate.progress(settings) < 1 else {
                    self = .pinched
                    return .toggle
                }
            } else if isOpen, !isCertain || Self.isApart(shape) || time - candidate.touchTime > Self.flicker {
                self = .open(Approach())
                return nil
            } else if !isCertain, shape.gap > limit || shape.reach < settings.reach {
                self = .open(Approach(touchingSince: candidate.since))
                return saw(shape, at: time, settings: settings)
            }
            if candidate.isFistLike, time - candidate.since >= Self.doubt {
                self = .unarmed(openSince: nil)
                return nil
            }
            candidate.time = time
            self = .closing(candidate)
            return nil
        case .pinched:
            guard isOpen else { return nil }
            self = .opening(since: time)
            return saw(shape, at: time, settings: settings)
        case .opening(let since):
            guard isOpen else {
                self = touches ? .pinched : .opening(since: time)
                return nil
            }
            guard time - since >= Self.release(of: shape, settings: settings) else { return nil }
            self = .open(Approach())
            return .release
        }
    }

    private static func isApart(_ shape: HandShape) -> Bool { shape.gap > apart * shape.openGap }

    /// How long fingers have to be apart like that before a pinch is over, in seconds.
    static func release(of shape: HandShape, settings: PinchSettings) -> Double {
        shape.gap > settings.wideOpen && isApart(shape) ? settings.release : settings.doubtfulRelease
    }

    /// A frame did not show the hand: a pinch that was about to happen does not.
    mutating func lost() {
        switch self {
        case .closing: self = .open(Approach())
        case .opening: self = .pinched
        case .unarmed: self = .unarmed(openSince: nil)
        case .open, .pinched: break
        }
    }

    /// The hand is back after so long that nobody knows what it did meanwhile: it may have closed for something else.
    mutating func returned() {
        switch self {
        case .open, .closing: self = .unarmed(openSince: nil)
        case .unarmed, .pinched, .opening: break
        }
    }

    /// The hand is there but may not act now: it has to be seen open anew before it may.
    mutating func standBy() { self = .unarmed(openSince: nil) }

    /// Whether thumb and index finger are on their way together, or there already.
    var isEngaged: Bool {
        switch self {
        case .closing, .pinched, .opening: true
        case .unarmed, .open: false
        }
    }
}
