/// Holds back what a lamp reports of one characteristic while the bridge writes it, and for a while after.
struct EchoHold<Value: Equatable & Sendable>: Sendable {
    private enum State: Sendable {
        case open
        case writing(Value?)
        case holding(Value?, until: ContinuousClock.Instant)
    }

    private var state = State.open

    var deadline: ContinuousClock.Instant? { if case .holding(_, let until) = state { until } else { nil } }

    /// Reports before a write say nothing about the lamp after it, so they are forgotten.
    mutating func begin() { state = .writing(nil) }

    mutating func end(at instant: ContinuousClock.Instant) {
        if case .writing(let value) = state { state = .holding(value, until: instant) }
    }

    /// False where nothing is held back.
    mutating func hold(_ value: Value, at now: ContinuousClock.Instant) -> Bool {
        switch state {
        case .open: return false
        case .writing: state = .writing(value)
        case .holding(_, let until): state = .holding(value, until: until)
        }
        return true
    }

    /// The last report held back, once the hold is over.
    mutating func take(at now: ContinuousClock.Instant) -> Value? {
        guard case .holding(let value, let until) = state, until <= now else { return nil }
        state = .open
        return value
    }
}
