internal import Synchronization

/// Sends the same messages to every client that watches, and knows whether anybody does.
public final class HTTPBroadcast: Sendable {
    private struct State {
        var streams: [Int: HTTPStream] = [:]
        var next = 0
        var droppedByGone = 0
    }

    private let state = Mutex(State())
    private let watchers = Atomic(0)
    private let capacity: Int
    private let limit: Int

    /// - Parameters:
    ///   - capacity: Messages held for each client; see ``HTTPStream``.
    ///   - limit: Most clients at a time.
    public init(capacity: Int, limit: Int) { (self.capacity, self.limit) = (capacity, limit) }

    /// Costs next to nothing, so that whoever makes the messages can ask before each.
    public var isWatched: Bool { watchers.load(ordering: .relaxed) > 0 }

    public var watcherCount: Int { watchers.load(ordering: .relaxed) }

    /// Messages that slow clients did not get.
    public var droppedCount: Int { state.withLock { $0.streams.values.reduce($0.droppedByGone) { $0 + $1.droppedCount } } }

    /// A stream for one more client; nil where there are too many.
    /// - Parameter greeting: What it begins with.
    public func join(greeting: [[UInt8]] = []) -> HTTPStream? {
        state.withLock { state in
            guard state.streams.count < limit else { return nil }
            state.next += 1
            let id = state.next
            let stream = HTTPStream(capacity: max(capacity, greeting.count)) { [weak self] in self?.leave(id) }
            for message in greeting { stream.send(message) }
            state.streams[id] = stream
            watchers.store(state.streams.count, ordering: .relaxed)
            return stream
        }
    }

    public func send(_ message: [UInt8]) {
        for stream in state.withLock({ Array($0.streams.values) }) { stream.send(message) }
    }

    private func leave(_ id: Int) {
        state.withLock { state in
            state.droppedByGone += state.streams.removeValue(forKey: id)?.droppedCount ?? 0
            watchers.store(state.streams.count, ordering: .relaxed)
        }
    }
}
