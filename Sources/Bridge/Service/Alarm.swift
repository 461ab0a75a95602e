/// Calls back at the earliest of the deadlines it was set to; for the actor that holds it.
///
/// A later deadline does not move an alarm that is set: it goes off, nothing is due, and it is set anew. So a stream of events that each
/// push the deadline back starts no task for each.
struct Alarm {
    private var armed: (deadline: ContinuousClock.Instant, task: Task<Void, Never>)?

    /// - Parameter fire: called once, from a task of its own; it is to call `rang()` first.
    mutating func set(_ deadline: ContinuousClock.Instant?, fire: @escaping @Sendable () async -> Void) {
        guard let deadline else { return }
        if let armed {
            guard deadline < armed.deadline else { return }
            armed.task.cancel()
        }
        let task = Task {
            try? await Task.sleep(until: deadline, clock: .continuous)
            if !Task.isCancelled { await fire() }
        }
        armed = (deadline, task)
    }

    mutating func rang() { armed = nil }

    mutating func cancel() {
        armed?.task.cancel()
        armed = nil
    }
}
