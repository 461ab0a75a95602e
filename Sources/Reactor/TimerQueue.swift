/// Calls to be made at a time, the earliest first: a binary heap in which a removed one stays, empty, until its time comes.
struct TimerQueue: Sendable {
    typealias Handler = @Sendable () -> Void

    private struct Entry: Sendable {
        var deadline: ContinuousClock.Instant
        var id: UInt64
    }

    private var heap: [Entry] = []
    private var handlers: [UInt64: Handler] = [:]
    private var lastID: UInt64 = 0

    /// The time of the first, which may have been removed.
    var earliest: ContinuousClock.Instant? { heap.first?.deadline }

    mutating func add(_ deadline: ContinuousClock.Instant, _ handler: @escaping Handler) -> UInt64 {
        lastID += 1
        handlers[lastID] = handler
        heap.append(Entry(deadline: deadline, id: lastID))
        var child = heap.count - 1
        while child > 0, heap[child].deadline < heap[(child - 1) / 2].deadline {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
        return lastID
    }

    mutating func remove(_ id: UInt64) -> Handler? {
        let handler = handlers.removeValue(forKey: id)
        // Where most have been removed, the rest is put in order anew: the memory of timers that never ring stays bounded.
        if heap.count > 64, heap.count > 4 * handlers.count {
            heap = heap.filter { handlers[$0.id] != nil }.sorted { $0.deadline < $1.deadline }
        }
        return handler
    }

    /// Takes out the first that is due.
    mutating func takeDue(_ now: ContinuousClock.Instant) -> Handler? {
        while let first = heap.first, first.deadline <= now || handlers[first.id] == nil {
            removeFirst()
            if let handler = handlers.removeValue(forKey: first.id) { return handler }
        }
        return nil
    }

    private mutating func removeFirst() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { return }
            if child + 1 < heap.count, heap[child + 1].deadline < heap[child].deadline { child += 1 }
            guard heap[child].deadline < heap[parent].deadline else { return }
            heap.swapAt(child, parent)
            parent = child
        }
    }
}
