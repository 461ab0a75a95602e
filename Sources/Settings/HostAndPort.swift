/// An address with a port: `192.168.1.20:51826`, `lamp.local:51826`, `[fe80::1]:51826`.
public struct HostAndPort: Hashable, Sendable, CustomStringConvertible {
    /// A name or address, without brackets.
    public let host: String
    public let port: UInt16

    public init(host: String, port: UInt16) {
        (self.host, self.port) = (host, port)
    }

    /// Nil unless `text` has both parts; an IPv6 address stands in brackets, because its own colons would be taken for the port's.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else { return nil }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { return nil }
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || "/[]".contains($0) }) else { return nil }
        self.init(host: String(host), port: port)
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
