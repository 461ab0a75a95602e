internal import CMicroHTTPD
internal import Glibc
internal import ServiceKit

/// Why a server did not start.
public enum HTTPServerError: Error, Equatable, Sendable {
    /// The text is neither an IPv4 nor an IPv6 address.
    case notAnAddress(String)
    /// - Parameter code: errno.
    case system(operation: String, code: Int32)
    /// libmicrohttpd refused without a reason.
    case library
}

/// A small HTTP/1.1 server over libmicrohttpd, on two threads of its own.
///
/// A handler is called on the server's thread, one request at a time, and must not wait for anything: what takes time is sent through an
/// ``HTTPStream``. Bounds on connections, sizes and times keep a hostile client from more than its own connection.
public final class HTTPServer: Sendable {
    public struct Configuration: Sendable {
        /// An address of this machine; other machines reach none but others than the loopback's.
        public var address = "127.0.0.1"
        /// 0 for any that is free; see ``HTTPServer/port``.
        public var port: UInt16 = 0
        public var access = HTTPAccess()
        public var limits = HTTPLimits()

        public init() {}
    }

    public typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

    /// The port it listens on.
    public let port: UInt16
    private let daemon: Daemon
    private let context: ServerContext

    /// libmicrohttpd guards it by itself.
    private struct Daemon: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    public init(_ configuration: Configuration, handler: @escaping Handler) throws(HTTPServerError) {
        guard let address = IPAddress(configuration.address, port: configuration.port) else {
            throw .notAnAddress(configuration.address)
        }
        let listener = try address.listen()
        port = listener.port
        context = ServerContext(access: configuration.access, limits: configuration.limits, handler: handler)
        let limits = cmicrohttpd_limits(
            connections: UInt32(configuration.limits.connections),
            connections_per_address: UInt32(configuration.limits.connectionsPerAddress),
            idle_seconds: UInt32(configuration.limits.idleSeconds), connection_memory: configuration.limits.headBytes)
        let reference = Unmanaged.passRetained(context)
        guard
            let daemon = cmicrohttpd_start(
                listener.descriptor, limits, handleRequest, requestCompleted, connectionChanged, reference.toOpaque())
        else {
            reference.release()
            close(listener.descriptor)
            throw .library
        }
        self.daemon = Daemon(pointer: daemon)
        context.connections.startWatch()
    }

    /// Ends every response and closes every connection. Blocks until the server's threads are gone; once, and before the last reference goes.
    public func stop() {
        context.connections.stop()
        MHD_stop_daemon(daemon.pointer)
        Unmanaged.passUnretained(context).release()
    }
}

/// What a server allows a client.
public struct HTTPLimits: Sendable {
    public var connections = 64
    public var connectionsPerAddress = 48
    /// Request line and headers, with room for the library's own buffers.
    public var headBytes = 32_768
    public var bodyBytes = 65_536
    /// How long nothing may be sent or received on a connection.
    public var idleSeconds = 15
    /// How long a request may take to arrive, however busily it drips in, and an idle connection may wait for the next.
    public var requestSeconds = 10

    public init() {}
}
