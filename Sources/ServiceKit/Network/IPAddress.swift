public import Glibc

/// An IPv4 or IPv6 address.
public struct IPAddress: Sendable {
    /// As the socket calls take it.
    public let storage: sockaddr_storage
    public let length: socklen_t

    /// Reads an address; nil for a name and anything else that is none.
    public init?(_ text: String) {
        self.init(text, port: 0)
    }

    public init?(_ text: String, port: UInt16) {
        var storage = sockaddr_storage()
        var (v4, v6) = (sockaddr_in(), sockaddr_in6())
        if inet_pton(AF_INET, text, &v4.sin_addr) == 1 {
            v4.sin_family = sa_family_t(AF_INET)
            v4.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: v4, as: sockaddr_in.self) }
            length = socklen_t(MemoryLayout<sockaddr_in>.size)
        } else if inet_pton(AF_INET6, text, &v6.sin6_addr) == 1 {
            v6.sin6_family = sa_family_t(AF_INET6)
            v6.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: v6, as: sockaddr_in6.self) }
            length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        } else {
            return nil
        }
        self.storage = storage
    }

    /// Whether only this machine reaches it: 127.0.0.0/8 and ::1.
    public var isLoopback: Bool {
        withUnsafeBytes(of: storage) { bytes in
            if storage.ss_family == sa_family_t(AF_INET) {
                return UInt32(bigEndian: bytes.load(as: sockaddr_in.self).sin_addr.s_addr) >> 24 == 127
            }
            let address = bytes.load(as: sockaddr_in6.self).sin6_addr
            return withUnsafeBytes(of: address) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
        }
    }
}
