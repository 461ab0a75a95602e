internal import CMicroHTTPD
internal import Synchronization

/// The body of a response to one client, made while it is sent.
///
/// Holds at most ``capacity`` messages that the client has not begun to take; a further one replaces the oldest, so that a slow client costs
/// a bounded amount of memory and nobody ever waits for it. A message that has begun to go out goes out whole. Thread-safe.
public final class HTTPStream: Sendable {
    private struct State {
        var waiting: [[UInt8]] = []
        var current: [UInt8] = []
        /// Bytes of `current` that are gone.
        var sent = 0
        var dropped = 0
        var isFinished = false
        /// Set while libmicrohttpd leaves the connection alone because there is nothing to send.
        var suspended: Connection?
    }

    /// libmicrohttpd's functions may be called with it from any thread for as long as it is suspended.
    private struct Connection: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let onClose: @Sendable () -> Void

    /// - Parameters:
    ///   - capacity: In messages, at least one.
    ///   - onClose: Called once, on the server's thread, when the client has left or everything is sent.
    public init(capacity: Int, onClose: @escaping @Sendable () -> Void = {}) {
        precondition(capacity > 0, "a stream holds at least one message")
        (self.capacity, self.onClose) = (capacity, onClose)
    }

    /// How many messages were replaced before the client took them.
    public var droppedCount: Int { state.withLock { $0.dropped } }

    /// Never waits.
    public func send(_ message: [UInt8]) {
        guard !message.isEmpty else { return }
        state.withLock { state in
            guard !state.isFinished else { return }
            if state.waiting.count == capacity {
                state.waiting.removeFirst()
                state.dropped += 1
            }
            state.waiting.append(message)
            Self.resume(&state)
        }
    }

    /// Ends the response after what waits.
    public func finish() {
        state.withLock { state in
            state.isFinished = true
            Self.resume(&state)
        }
    }

    private static func resume(_ state: inout State) {
        if let connection = state.suspended { MHD_resume_connection(connection.pointer) }
        state.suspended = nil
    }

    /// Takes what is there; zero after the connection was suspended, because nothing is.
    ///
    /// The lock is held while the connection is suspended and resumed, so that neither can overtake the other.
    func take(into buffer: UnsafeMutableRawBufferPointer, connection: OpaquePointer) -> Int {
        state.withLock { state in
            if state.sent == state.current.count {
                guard !state.waiting.isEmpty else {
                    if state.isFinished { return -1 }
                    state.suspended = Connection(pointer: connection)
                    MHD_suspend_connection(connection)
                    return 0
                }
                state.current = state.waiting.removeFirst()
                state.sent = 0
            }
            let count = min(buffer.count, state.current.count - state.sent)
            state.current.withUnsafeBytes { bytes in
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[state.sent..<state.sent + count]))
            }
            state.sent += count
            if state.sent == state.current.count { (state.current, state.sent) = ([], 0) }
            return count
        }
    }

    func closed() {
        state.withLock { state in
            state.isFinished = true
            state.waiting.removeAll()
        }
        onClose()
    }
}
