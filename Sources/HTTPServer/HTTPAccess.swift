internal import ServiceKit

/// Who may ask: decides on a request's head, before its body is read.
public struct HTTPAccess: Sendable {
    /// Names that this server is called by beside `localhost` and addresses, in lower case.
    ///
    /// A page of somebody else's, whose name its owner points at this machine (DNS rebinding), is refused, because it sends that name.
    /// An address cannot be pointed elsewhere, so it is always right.
    public var hosts: Set<String>
    /// What a client has to present, where anything.
    public var token: String?
    /// Paths that need no token.
    public var openPaths: Set<String>

    /// The cookie that carries the token.
    public static let cookie = "handkit_token"

    public init(hosts: Set<String> = [], token: String? = nil, openPaths: Set<String> = []) {
        (self.hosts, self.token, self.openPaths) = (Set(hosts.map { $0.lowercased() }), token, openPaths)
    }

    /// The refusal of a request; nil for one that may pass.
    public func refusal(of request: HTTPRequest) -> HTTPResponse? {
        guard let host = request.value(of: "Host"), let name = Self.name(inHost: host) else {
            return .text("the request names no host", status: 400)
        }
        guard isOwn(name) else { return .text("this server is not called that; see the setting 'hosts'", status: 421) }
        if let token, !openPaths.contains(request.path), !presented(by: request).contains(where: { constantTimeEqual($0, token) }) {
            return .text("a token is needed: open the page with ?token=… or send it as a bearer token", status: 401)
                .with("WWW-Authenticate", "Bearer")
        }
        // A browser says where a request comes from: another page may lead here, and neither embed nor change anything.
        let isRead = request.method == "GET" || request.method == "HEAD"
        let site = request.value(of: "Sec-Fetch-Site") ?? "none"
        let isForeign = site != "same-origin" && site != "none" && !(isRead && request.value(of: "Sec-Fetch-Mode") == "navigate")
        let origin = request.value(of: "Origin")?.lowercased() ?? "http://\(host.lowercased())"
        if isForeign || (!isRead && origin != "http://\(host.lowercased())") {
            return .text("pages of other origins may not use this one", status: 403)
        }
        return nil
    }

    private func isOwn(_ name: String) -> Bool {
        name == "localhost" || hosts.contains(name) || IPAddress(name) != nil
    }

    private func presented(by request: HTTPRequest) -> [String] {
        var tokens = request.query.filter { $0.name == "token" }.map(\.value)
        if let header = request.value(of: "Authorization"), header.lowercased().hasPrefix("bearer ") {
            tokens.append(String(header.dropFirst("bearer ".count)))
        }
        if let cookie = request.cookie(Self.cookie) { tokens.append(cookie) }
        return tokens
    }

    /// The name or address in a `Host` header, lower case and without brackets and port; nil where it is none.
    static func name(inHost header: String) -> String? {
        var name = header.lowercased()[...]
        if name.first == "[" {
            guard let end = name.firstIndex(of: "]") else { return nil }
            let rest = name[name.index(after: end)...]
            name = name[name.index(after: name.startIndex)..<end]
            guard rest.isEmpty || isPort(rest) else { return nil }
        } else if let colon = name.firstIndex(of: ":") {
            guard isPort(name[colon...]) else { return nil }
            name = name[..<colon]
        }
        return name.isEmpty ? nil : String(name)
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && text.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }
}

/// Whether two texts are the same, in a time that depends on the first one's length alone: nobody learns how much of a guess was right.
func constantTimeEqual(_ guess: String, _ secret: String) -> Bool {
    let (guess, secret) = (Array(guess.utf8), Array(secret.utf8))
    guard !secret.isEmpty else { return false }
    var difference = guess.count ^ secret.count
    for (index, byte) in guess.enumerated() { difference |= Int(byte ^ secret[index % secret.count]) }
    return difference == 0
}
