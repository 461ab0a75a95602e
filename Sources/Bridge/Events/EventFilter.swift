public import Contract

/// Decides which events of one camera are acted on: each once, never a retained one, never one older than its lifetime.
///
/// A broker that speaks MQTT 5 drops expired events itself; this catches what waited at the sender or in a broker that does not.
/// Brightness out of order counts as stale, so that an old value never replaces a newer one.
public struct EventFilter: Sendable {
    /// How many ids of each kind are remembered.
    public static let memory = 256

    public enum Verdict: Equatable, Sendable {
        /// - Parameter age: seconds it has lived already.
        case accept(age: Double)
        case reject(Rejection)
    }

    private let lifetime: Double
    private var clock: SenderClock
    private var toggles = RecentIds(capacity: Self.memory)
    private var levels = RecentIds(capacity: Self.memory)
    private var lastLevel: EventSequence?

    /// - Parameters:
    ///   - lifetime: seconds.
    ///   - origin: any instant not far in the past, as a zero for the sender's clock.
    public init(lifetime: Double = eventLifetime, origin: ContinuousClock.Instant) {
        self.lifetime = lifetime
        clock = SenderClock(lifetime: lifetime, origin: origin)
    }

    public mutating func judge(_ event: EventStamp, retained: Bool, arrived now: Moment) -> Verdict {
        guard !retained else { return .reject(.retained) }
        let isNew =
            switch event.kind {
            case .toggle: toggles.insert(event.id)
            case .brightness: levels.insert(event.id)
            }
        guard isNew else { return .reject(.duplicate) }
        let age = clock.age(of: event, arrived: now)
        guard age <= lifetime else { return .reject(.stale) }
        if event.kind == .brightness, let sequence = event.sequence {
            if let last = lastLevel, last.boot == sequence.boot, sequence.number < last.number { return .reject(.stale) }
            lastLevel = sequence
        }
        return .accept(age: age)
    }
}

/// Why a message was not acted on; the raw values are the keys of `BridgeState.rejected`.
public enum Rejection: String, Equatable, Sendable, CaseIterable {
    /// Older than an event's lifetime, or overtaken by a newer one.
    case stale
    /// An id acted on before: QoS 1 may deliver twice.
    case duplicate
    /// Events and commands are never retained; one that is was left by somebody else, and would come back after every restart.
    case retained
    case malformed
    /// From a camera without a route, or for a lamp this bridge has not.
    case unroutable
    /// More commands than the lamp's queue holds.
    case overflow
    /// The lamp refused it, or the connection ended before its answer.
    case failed
}

/// The last ids seen, oldest forgotten first.
private struct RecentIds: Sendable {
    let capacity: Int
    private var order: [String] = []
    private var next = 0
    private var seen: Set<String> = []

    init(capacity: Int) { self.capacity = capacity }

    /// False where the id is remembered.
    mutating func insert(_ id: String) -> Bool {
        guard seen.insert(id).inserted else { return false }
        if order.count < capacity {
            order.append(id)
        } else {
            seen.remove(order[next])
            order[next] = id
            next = (next + 1) % capacity
        }
        return true
    }
}
