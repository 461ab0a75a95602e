public import ServiceKit

/// Where a Sentry wants reports, taken apart from its DSN: `https://KEY@HOST[:PORT][/PATH]/PROJECT`.
public struct SentryAddress: Equatable, Sendable {
    /// Where envelopes are posted to.
    public let envelopes: String
    /// It allows to send and nothing else.
    public let key: Secret

    /// - Returns: nil for what is no DSN, and for one without encryption to another machine.
    public init?(dsn: String) {
        guard let mark = dsn.firstRange(of: "://") else { return nil }
        let (scheme, rest) = (String(dsn[..<mark.lowerBound]), dsn[mark.upperBound...])
        guard scheme == "https" || scheme == "http", let at = rest.firstIndex(of: "@") else { return nil }
        // Old ones have a second key after a colon, which nobody asks for any more.
        let key = String(rest[..<at].prefix { $0 != ":" })
        var path = rest[rest.index(after: at)...].split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard path.count >= 2, let project = path.popLast(), !path[0].isEmpty else { return nil }
        let host = path[0].hasPrefix("[") ? String(path[0].prefix { $0 != "]" }) + "]" : String(path[0].prefix { $0 != ":" })
        let isPlain = { (text: String) in
            !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~:[]".contains($0)) }
        }
        guard isPlain(key), isPlain(project), path.allSatisfy(isPlain) else { return nil }
        guard scheme == "https" || ["localhost", "127.0.0.1", "[::1]"].contains(host) else { return nil }
        envelopes = "\(scheme)://\(path.joined(separator: "/"))/api/\(project)/envelope/"
        self.key = Secret(key)
    }
}
