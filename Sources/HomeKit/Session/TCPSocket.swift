internal import Glibc
internal import Reactor

/// Owns one non-blocking TCP socket and closes it when the last user, watches included, is done with it.
final class TCPSocket: Sendable {
    let descriptor: Int32

    /// Seconds of silence before the kernel probes, seconds between probes, probes until the peer counts as gone. With ``userTimeout`` an
    /// idle peer is known to be gone after 12 s; sooner would end sessions for a moment without Wi-Fi.
    private static let keepAlive: (idle: Int32, interval: Int32, count: Int32) = (10, 2, 3)
    /// Milliseconds until sent but unacknowledged bytes end the connection: an event's lifetime, after which the kernel is not to deliver a
    /// toggle any more.
    private static let userTimeout: Int32 = 3000

    /// Makes a socket and begins to connect it; writable once that has come to an end.
    init(connectingTo address: SocketAddress) throws(Errno) {
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(address.family, flags, 0)
        guard descriptor >= 0 else { throw Errno(code: errno) }
        setOptions()
        let code = address.connect(descriptor)
        guard code == 0 || code == EINPROGRESS || code == EINTR else { throw Errno(code: code) }
    }

    /// Takes over a connection that was accepted.
    init(adopting descriptor: Int32) {
        self.descriptor = descriptor
        setOptions()
    }

    private func setOptions() {
        set(IPPROTO_TCP, TCP_NODELAY, 1)
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
        set(IPPROTO_TCP, TCP_KEEPIDLE, Self.keepAlive.idle)
        set(IPPROTO_TCP, TCP_KEEPINTVL, Self.keepAlive.interval)
        set(IPPROTO_TCP, TCP_KEEPCNT, Self.keepAlive.count)
        set(IPPROTO_TCP, TCP_USER_TIMEOUT, Self.userTimeout)
    }

    deinit { close(descriptor) }

    struct Errno: Error, Equatable {
        var code: Int32
    }

    enum Reading: Equatable {
        case bytes([UInt8])
        case wouldBlock
        case ended(errno: Int32)
    }

    enum Writing: Equatable {
        case wrote(Int)
        case wouldBlock
        case failed(errno: Int32)
    }

    /// The pending error, 0 for a connection that stands.
    func takeError() -> Int32 {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno
    }

    func read() -> Reading {
        var count = 0
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 16 * 1024) { buffer, initialized in
            repeat {
                count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                code = errno
            } while count < 0 && code == EINTR
            initialized = max(0, count)
        }
        if count > 0 { return .bytes(bytes) }
        if count == 0 { return .ended(errno: 0) }
        return code == EAGAIN ? .wouldBlock : .ended(errno: code)
    }

    func write(_ bytes: ArraySlice<UInt8>) -> Writing {
        var count = 0
        var code: Int32 = 0
        bytes.withUnsafeBytes { buffer in
            repeat {
                count = send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
                code = errno
            } while count < 0 && code == EINTR
        }
        if count >= 0 { return .wrote(count) }
        return code == EAGAIN ? .wouldBlock : .failed(errno: code)
    }

    /// Calls `handler` on `loop` whenever there is something to read, as long as the result lives.
    func whenReadable(on loop: EventLoop, _ handler: @escaping @Sendable () -> Void) -> LoopWatch {
        loop.whenReadable(descriptor, of: self, handler)
    }

    /// Calls `handler` on `loop` whenever there is room to write, as long as the result lives.
    func whenWritable(on loop: EventLoop, _ handler: @escaping @Sendable () -> Void) -> LoopWatch {
        loop.whenWritable(descriptor, of: self, handler)
    }

    /// Best effort: a kernel that lacks one of these options still carries the connection.
    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private func set(_ level: Int, _ option: Int32, _ value: Int32) { set(Int32(level), option, value) }
}
