/// When the commands of one lamp that are under way were accepted, oldest first; to tell how long each took.
struct AwaitedCommands: Sendable {
    /// More than a lamp's queue holds.
    private static let capacity = 64

    private var accepted: [(command: LampCommand, at: ContinuousClock.Instant)] = []

    mutating func accepted(_ command: LampCommand, at now: ContinuousClock.Instant) {
        if accepted.count == Self.capacity { accepted.removeFirst() }
        accepted.append((command, now))
    }

    /// How long a command took, from its acceptance to the lamp's answer; nil where that is not known.
    mutating func done(_ command: LampCommand, at now: ContinuousClock.Instant) -> Duration? {
        guard let index = accepted.firstIndex(where: { $0.command == command }) else { return nil }
        let duration = now - accepted.remove(at: index).at
        // Levels before one that was done have been replaced by it.
        if command.isLevel {
            let older = accepted[..<index].indices.filter { accepted[$0].command.isLevel }
            for position in older.reversed() { accepted.remove(at: position) }
        }
        return duration
    }

    mutating func dropped(_ command: LampCommand) {
        if let index = accepted.firstIndex(where: { $0.command == command }) { accepted.remove(at: index) }
    }
}

extension LampCommand {
    fileprivate var isLevel: Bool { if case .level = self { true } else { false } }
}
