internal import CMulticast
internal import Glibc

/// One address of this machine with its network.
public struct LocalNetwork: Hashable, Sendable {
    /// 4 or 16.
    public var address: [UInt8]
    public var mask: [UInt8]
    public var interface: UInt32
    public var isLoopback: Bool

    public init(address: [UInt8], mask: [UInt8], interface: UInt32, isLoopback: Bool) {
        (self.address, self.mask, self.interface, self.isLoopback) = (address, mask, interface, isLoopback)
    }

    /// Whether an address is reached without a router in between.
    public func contains(_ other: [UInt8]) -> Bool {
        guard other.count == address.count, mask.count == address.count else { return false }
        return other.indices.allSatisfy { other[$0] & mask[$0] == address[$0] & mask[$0] }
    }

    /// Those of the interfaces that are up.
    public static func all() -> [LocalNetwork] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var networks: [LocalNetwork] = []
        var entry = list
        while let current = entry?.pointee {
            entry = current.ifa_next
            guard current.ifa_flags & UInt32(IFF_UP) != 0, let address = bytes(current.ifa_addr), let mask = bytes(current.ifa_netmask)
            else { continue }
            networks.append(
                LocalNetwork(
                    address: address, mask: mask, interface: if_nametoindex(current.ifa_name),
                    isLoopback: current.ifa_flags & UInt32(IFF_LOOPBACK) != 0))
        }
        return networks
    }

    private static func bytes(_ address: UnsafeMutablePointer<sockaddr>?) -> [UInt8]? {
        guard let address else { return nil }
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) } }
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) } }
        default: return nil
        }
    }
}

extension NetworkInterface {
    /// The name of an interface, such as `eth0`; nil where there is none of that index.
    public static func name(of index: UInt32) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard if_indextoname(index, &buffer) != nil else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
