/// Turns the gap between thumb and index finger into pinches: once, however long one is held.
enum PinchMachine: Hashable, Sendable {
    /// Not seen open yet on this track: whatever it does is no pinch. `openSince` is when it began to be seen open.
    case unarmed(openSince: Double?)
    case open
    /// The fingers touch, not for long enough yet.
    case closing(Candidate)
    case pinched
    /// The gap of a pinch has been open since then, not for long enough yet.
    case opening(since: Double)

    /// A pinch that may become one.
    struct Candidate: Hashable, Sendable {
        /// The latest frame.
        var time: Double
        /// For how long the fingers have been seen to touch, in seconds; frames in which they nearly do are left out.
        var touched = 0.0
        /// The gap closed faster than fingers do.
        var isSudden: Bool
    }

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
                self = time - since >= settings.seenOpen ? .open : .unarmed(openSince: since)
            }
            return nil
        case .open:
            if isClosed { self = .closing(Candidate(time: time, isSudden: shape.closingSpeed > settings.sudden)) }
            return nil
        case .closing(var candidate):
            let isCertain = isStretched && !candidate.isSudden
            if isClosed {
                candidate.touched += time - candidate.time
                guard candidate.touched < (isCertain ? settings.dwell : settings.doubtfulDwell) else {
                    self = .pinched
                    return .toggle
                }
            } else if isCertain ? isOpen : shape.gap > limit || shape.reach < settings.reach {
                self = .open
                return nil
            }
            candidate.time = time
            self = .closing(candidate)
            return nil
        case .pinched:
            if isOpen { self = .opening(since: time) }
            return nil
        case .opening(let since):
            if isOpen {
                let patience = shape.gap > settings.wideOpen ? settings.release : settings.doubtfulRelease
                guard time - since >= patience else { return nil }
                self = .open
                return .release
            }
            if touches { self = .pinched }
            return nil
        }
    }

    /// A frame did not show the hand: a pinch that was about to happen does not.
    mutating func lost() {
        switch self {
        case .closing: self = .open
        case .opening: self = .pinched
        case .unarmed: self = .unarmed(openSince: nil)
        case .open, .pinched: break
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
