internal import Glibc

/// A network interface that can carry multicast, with its addresses.
public struct NetworkInterface: Hashable, Sendable {
    public var index: UInt32
    public var name: String
    public var isLoopback: Bool
    /// Four bytes each.
    public var ipv4: [[UInt8]] = []
    /// Sixteen bytes each.
    public var ipv6: [[UInt8]] = []

    /// The interfaces that are up, by index.
    public static func all() -> [NetworkInterface] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [UInt32: NetworkInterface] = [:]
        var entry = list
        while let current = entry?.pointee {
            entry = current.ifa_next
            guard let address = current.ifa_addr, current.ifa_flags & UInt32(IFF_UP) != 0 else { continue }
            let isLoopback = current.ifa_flags & UInt32(IFF_LOOPBACK) != 0
            // Linux does not call loopback multicast, and yet carries it.
            guard isLoopback || current.ifa_flags & UInt32(IFF_MULTICAST) != 0 else { continue }
            let index = if_nametoindex(current.ifa_name)
            guard index > 0 else { continue }
            var interface =
                found[index]
                ?? NetworkInterface(index: index, name: String(cString: current.ifa_name), isLoopback: isLoopback)
            switch Int32(address.pointee.sa_family) {
            case AF_INET:
                address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                    withUnsafeBytes(of: pointer.pointee.sin_addr) { interface.ipv4.append(Array($0)) }
                }
            case AF_INET6:
                address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                    withUnsafeBytes(of: pointer.pointee.sin6_addr) { interface.ipv6.append(Array($0)) }
                }
            default: continue
            }
            found[index] = interface
        }
        return found.values.sorted { $0.index < $1.index }
    }
}

/// Numeric addresses as their bytes.
public enum IPAddress {
    /// The 4 or 16 bytes of a numeric address, a scope left out; nil where it is none.
    public static func bytes(_ text: String) -> [UInt8]? {
        let plain = String(text.prefix { $0 != "%" })
        var v4 = in_addr()
        if inet_pton(AF_INET, plain, &v4) == 1 { return withUnsafeBytes(of: v4) { Array($0) } }
        var v6 = in6_addr()
        if inet_pton(AF_INET6, plain, &v6) == 1 { return withUnsafeBytes(of: v6) { Array($0) } }
        return nil
    }

    /// The text of 4 or 16 bytes; nil for any other number.
    public static func text(_ bytes: [UInt8]) -> String? {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        var buffer = [CChar](repeating: 0, count: 64)
        guard inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &buffer, socklen_t(buffer.count)) != nil else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
