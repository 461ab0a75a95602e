internal import CMulticast
internal import Glibc
internal import Reactor

/// A system call on a socket for mDNS failed.
public struct MDNSFailure: Error, Equatable, Sendable {
    public var call: String
    public var errno: Int32
}

/// Where a datagram came from, or is to go.
struct Endpoint: Hashable, Sendable {
    /// A `sockaddr_in` or `sockaddr_in6`.
    let bytes: [UInt8]

    /// The port stands in the same place in both families.
    var port: UInt16 { bytes.count >= 4 ? UInt16(bytes[2]) << 8 | UInt16(bytes[3]) : 0 }

    /// The mDNS group on port 5353.
    static func group(_ family: MulticastSocket.Family) -> Endpoint {
        switch family {
        case .ipv4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = MulticastSocket.port.bigEndian
            inet_pton(AF_INET, "224.0.0.251", &address.sin_addr)
            return Endpoint(bytes: withUnsafeBytes(of: address) { Array($0) })
        case .ipv6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = MulticastSocket.port.bigEndian
            inet_pton(AF_INET6, "ff02::fb", &address.sin6_addr)
            return Endpoint(bytes: withUnsafeBytes(of: address) { Array($0) })
        }
    }
}

/// Owns one UDP socket for mDNS, of IPv4 or IPv6, shared by all interfaces.
final class MulticastSocket: Sendable {
    enum Family: Sendable, CaseIterable {
        case ipv4
        case ipv6

        fileprivate var number: Int32 { self == .ipv4 ? AF_INET : AF_INET6 }
    }

    struct Datagram: Sendable {
        var bytes: [UInt8]
        var sender: Endpoint
        var interface: UInt32
    }

    static let port: UInt16 = 5353
    /// Bytes of the largest datagram of mDNS (RFC 6762, 17).
    static let maximumDatagram = 9000

    let family: Family
    private let descriptor: Int32

    /// - Parameter port: 5353 to hear what is said to all, 0 for questions alone.
    init(_ family: Family, port: UInt16) throws(MDNSFailure) {
        self.family = family
        descriptor = cmulticast_open(family.number, port)
        guard descriptor >= 0 else { throw MDNSFailure(call: "socket", errno: -descriptor) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Listens to the group on an interface as well; to have joined already is no failure.
    func join(interface: UInt32) throws(MDNSFailure) {
        let result = cmulticast_join(descriptor, family.number, interface)
        guard result == 0 || result == -EADDRINUSE else { throw MDNSFailure(call: "join", errno: -result) }
    }

    func send(_ bytes: [UInt8], to endpoint: Endpoint, interface: UInt32) throws(MDNSFailure) {
        let result = cmulticast_send(descriptor, bytes, bytes.count, endpoint.bytes, endpoint.bytes.count, interface)
        guard result == 0 else { throw MDNSFailure(call: "sendmsg", errno: -result) }
    }

    /// The next datagram; nil where there is none now.
    func receive() -> Datagram? {
        // Room for any sockaddr.
        var sender = [UInt8](repeating: 0, count: 128)
        var length = sender.count
        var interface: UInt32 = 0
        var count: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.maximumDatagram) { buffer, initialized in
            count = cmulticast_receive(descriptor, buffer.baseAddress, buffer.count, &sender, &length, &interface)
            initialized = Int(max(0, count))
        }
        guard count >= 0 else { return nil }
        return Datagram(bytes: bytes, sender: Endpoint(bytes: Array(sender.prefix(length))), interface: interface)
    }

    /// Calls `handler` on `loop` whenever there is something to receive, as long as the result lives.
    func whenReadable(on loop: EventLoop, _ handler: @escaping @Sendable () -> Void) -> LoopWatch {
        loop.whenReadable(descriptor, of: self, handler)
    }
}
