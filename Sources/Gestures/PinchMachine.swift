/// Turns the gap between thumb and index finger into pinches: once, however long one is held.
enum PinchMachine: Hashable, Sendable {
    /// Not seen open yet on this track: whatever it does is no pinch. `openSince` is when it began to be seen open.
    case unarmed(openSince: Double?)
    case open
    /// The gap has been closed since then, not for long enough yet; `sudden` is whether it closed faster than fingers do.
    case closing(since: Double, sudden: Bool)
    case pinched
    /// The gap of a pinch has been open since then, not for long enough yet.
    case opening(since: Double)

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
            if isClosed { self = .closing(since: time, sudden: shape.closingSpeed > settings.sudden) }
            return nil
        case .closing(let since, let sudden):
            if isClosed {
                let dwell = isStretched && !sudden ? settings.dwell : settings.doubtfulDwell
                guard time - since >= dwell else { return nil }
                self = .pinched
                return .toggle
            }
            let tolerance = isStretched && !sudden ? settings.tremble : 0
            if shape.gap > limit + tolerance || shape.reach < settings.reach { self = .open }
            return nil
        case .pinched:
            if isOpen { self = .opening(since: time) }
            return nil
        case .opening(let since):
            if isOpen {
                guard time - since >= settings.release else { return nil }
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
