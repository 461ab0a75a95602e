import Synchronization

/// Something a test waits for.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
}

/// What happened in a test, in order.
final class Events: Sendable {
    private let kept = Mutex<[String]>([])

    var all: [String] { kept.withLock { $0 } }

    func add(_ event: String) { kept.withLock { $0.append(event) } }
}
