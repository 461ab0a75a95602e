internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// The open connections with what each may still take its time for.
///
/// libmicrohttpd ends connections that are idle, not those that drip a byte at a time, and does not look at those it has suspended; a thread
/// does both once a second.
final class ConnectionTable: Sendable {
    private enum Phase {
        /// A request is awaited or arriving, and has to be there by then, in seconds of the steady clock.
        case receiving(deadline: Double)
        case responding
        case streaming(HTTPStream)
    }

    private struct State {
        /// By socket: one that is in here is open, because it leaves under this lock before it is closed.
        var phases: [Int32: Phase] = [:]
        var isStopping = false
    }

    private let state = Mutex(State())
    private let requestSeconds: Double

    init(requestSeconds: Int) { self.requestSeconds = Double(requestSeconds) }

    func opened(_ socket: Int32) {
        // Left to itself the kernel buffers megabytes for a slow client: many seconds of pictures, each old when it is seen.
        var size: Int32 = 65_536
        setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        receive(socket)
    }

    func closed(_ socket: Int32) {
        state.withLock { _ = $0.phases.removeValue(forKey: socket) }
    }

    /// A request has been answered; the next may come.
    func receive(_ socket: Int32) {
        let deadline = steadySeconds() + requestSeconds
        state.withLock { $0.phases[socket] = .receiving(deadline: deadline) }
    }

    /// A request has arrived whole.
    func respond(_ socket: Int32) {
        state.withLock { $0.phases[socket] = .responding }
    }

    /// The response is a stream; it ends at once where the server does.
    func stream(_ stream: HTTPStream, on socket: Int32) {
        let isStopping = state.withLock { state in
            state.phases[socket] = .streaming(stream)
            return state.isStopping
        }
        if isStopping { stream.finish() }
    }

    /// Ends every stream, and the watch.
    func stop() {
        let phases = state.withLock { state in
            state.isStopping = true
            return Array(state.phases.values)
        }
        for case .streaming(let stream) in phases { stream.finish() }
    }

    func startWatch() {
        let reference = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, watchConnections, reference.toOpaque())
        precondition(status == 0, "cannot start a thread: errno \(status)")
        pthread_detach(thread)
    }

    /// - Returns: Whether to go on.
    fileprivate func sweep(at time: Double) -> Bool {
        let (left, isStopping) = state.withLock { state -> ([HTTPStream], Bool) in
            var left: [HTTPStream] = []
            for (socket, phase) in state.phases {
                switch phase {
                case .receiving(let deadline): if time >= deadline { shutdown(socket, Int32(SHUT_RDWR)) }
                case .responding: break
                case .streaming(let stream): if hasLeft(socket) { left.append(stream) }
                }
            }
            return (left, state.isStopping)
        }
        for stream in left { stream.finish() }
        return !isStopping
    }
}

/// Whether the other end has closed a connection on which it has nothing to say.
private func hasLeft(_ socket: Int32) -> Bool {
    var byte: UInt8 = 0
    let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
}

private func steadySeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

private nonisolated func watchConnections(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let table = Unmanaged<ConnectionTable>.fromOpaque(context).takeRetainedValue()
    repeat { sleep(1) } while table.sweep(at: steadySeconds())
    return nil
}
