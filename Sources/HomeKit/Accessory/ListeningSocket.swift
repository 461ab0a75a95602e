internal import Glibc
internal import Reactor

/// Why an accessory cannot listen; `errno` of the system call.
package struct ListenFailure: Error, Equatable, Sendable {
    package var address: HAPAddress
    package var errno: Int32
}

/// Owns a TCP socket that takes connections.
final class ListeningSocket: Sendable {
    /// The port it listens on, the system's choice where 0 was asked for.
    let port: UInt16

    private let socket: TCPSocket
    /// Connections the kernel holds until they are accepted.
    private static let backlog: Int32 = 64

    /// - Parameter address: A numeric address; `::` takes IPv4 as well.
    init(_ address: HAPAddress) throws(ListenFailure) {
        func failure(_ code: Int32) -> ListenFailure { ListenFailure(address: address, errno: code) }
        guard let candidate = try? SocketAddress.lookUp(address, flags: AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE).get().first else {
            throw failure(EADDRNOTAVAIL)
        }
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(candidate.family, flags, 0)
        guard descriptor >= 0 else { throw failure(errno) }
        socket = TCPSocket(adopting: descriptor)
        var on: Int32 = 1
        var off: Int32 = 0
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        if candidate.family == AF_INET6 {
            setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &off, socklen_t(MemoryLayout<Int32>.size))
        }
        let code = candidate.bind(descriptor)
        guard code == 0 else { throw failure(code) }
        guard listen(descriptor, Self.backlog) == 0 else { throw failure(errno) }
        guard let port = Self.port(of: descriptor) else { throw failure(errno) }
        self.port = port
    }

    /// The next connection; nil where there is none now, or it has gone again.
    func accept() -> TCPSocket? {
        let descriptor = Glibc.accept(socket.descriptor, nil, nil)
        guard descriptor >= 0 else { return nil }
        let status = fcntl(descriptor, F_GETFL)
        guard fcntl(descriptor, F_SETFL, status | O_NONBLOCK) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
            close(descriptor)
            return nil
        }
        return TCPSocket(adopting: descriptor)
    }

    /// Calls `handler` on `loop` while connections wait, as long as the result lives.
    func whenConnected(on loop: EventLoop, _ handler: @escaping @Sendable () -> Void) -> LoopWatch {
        socket.whenReadable(on: loop, handler)
    }

    private static func port(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { return nil }
        // The port stands in the same place in both families.
        return withUnsafeBytes(of: &storage) { bytes in UInt16(bytes[2]) << 8 | UInt16(bytes[3]) }
    }
}
