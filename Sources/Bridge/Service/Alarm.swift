import Reactor

/// Calls back at the earliest of the deadlines it was set to; for the actor of the event loop that holds it.
///
/// A later deadline does not move an alarm that is set: it goes off, nothing is due, and it is set anew. So a stream of events that each
/// push the deadline back sets no timer for each.
struct Alarm {
    private var armed: (deadline: ContinuousClock.Instant, timer: LoopTimer)?

    /// - Parameter fire: called once, on the event loop; it is to call `rang()` first.
    mutating func set(_ deadline: ContinuousClock.Instant?, fire: @escaping @Sendable () -> Void) {
        guard let deadline else { return }
        if let armed, deadline >= armed.deadline { return }
        armed = (deadline, EventLoop.shared.timer(at: deadline, fire))
    }

    mutating func rang() { armed = nil }

    mutating func cancel() { armed = nil }
}
