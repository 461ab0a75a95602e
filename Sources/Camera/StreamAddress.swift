/// Where a camera in the network is, with what it asks for; only its host is ever shown.
///
/// User names, passwords and tokens stand in any part of such an address, the path too.
public struct StreamAddress: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public static let schemes = ["rtsp", "rtsps", "http", "https"]

    /// All of it, for the one call that needs it.
    let url: String
    private let scheme: String
    private let host: String

    /// - Throws: ``CameraError/unsupportedScheme(_:)``, ``CameraError/badAddress``.
    public init(_ text: String) throws(CameraError) {
        guard let separator = text.firstRange(of: "://") else { throw .badAddress }
        let scheme = text[..<separator.lowerBound].lowercased()
        guard Self.schemes.contains(scheme) else { throw .unsupportedScheme(scheme) }
        let authority = text[separator.upperBound...].prefix { !"/?#".contains($0) }
        // A password may hold an @ of its own.
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        guard !host.isEmpty, host.first != ":", !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else { throw .badAddress }
        (url, self.scheme, self.host) = (text, scheme, String(host))
    }

    private init(url: String, scheme: String, host: String) {
        (self.url, self.scheme, self.host) = (url, scheme, host)
    }

    /// The same with these credentials, in place of those that it has.
    public func signed(username: String, password: String) -> StreamAddress {
        guard let separator = url.firstRange(of: "://") else { return self }
        let rest = url[separator.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        let signed = "\(scheme)://\(Self.encoded(username)):\(Self.encoded(password))@\(host)\(rest[authority.endIndex...])"
        return StreamAddress(url: signed, scheme: scheme, host: host)
    }

    /// RFC 3986: everything but the unreserved characters as %XX.
    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "-._~".contains(character) { return String(character) }
            return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    /// "rtsp://camera:554/…"
    public var description: String { "\(scheme)://\(host)/…" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// How libavformat shall open it.
    var options: [String: String] {
        [
            // Nothing that it sends may make this machine open its own files.
            "protocol_whitelist": "rtsp,rtp,tcp,udp,tls,http,https,crypto,httpproxy",
            // Over UDP the frames of a lossy network are broken; the newest one wins anyway.
            "rtsp_transport": "tcp",
            "fflags": "nobuffer",
            // Microseconds and bytes that are looked at to learn what it is.
            "analyzeduration": "1500000", "probesize": "500000",
            // How fast it is and whether it has times shows later; waiting for that now would hold up the first pictures.
            "fpsprobesize": "0", "max_ts_probe": "0",
        ]
    }
}
