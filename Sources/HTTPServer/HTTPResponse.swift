/// What a handler answers.
public struct HTTPResponse: Sendable {
    public enum Body: Sendable {
        case bytes([UInt8])
        /// Sent as it comes, until the stream ends or the client leaves.
        case stream(HTTPStream)
    }

    /// `404`.
    public var status: Int
    public var headers: [HTTPRequest.Field]
    public var body: Body

    public init(status: Int, headers: [HTTPRequest.Field] = [], body: Body = .bytes([])) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    public init(status: Int = 200, type: String, _ body: [UInt8]) {
        self.init(status: status, headers: [.init("Content-Type", type)], body: .bytes(body))
    }

    public static func text(_ text: String, status: Int = 200) -> Self {
        Self(status: status, type: "text/plain; charset=utf-8", Array("\(text)\n".utf8))
    }

    public static func stream(_ stream: HTTPStream, type: String) -> Self {
        Self(status: 200, headers: [.init("Content-Type", type)], body: .stream(stream))
    }

    /// With one more header.
    public func with(_ name: String, _ value: String) -> Self {
        var copy = self
        copy.headers.append(.init(name, value))
        return copy
    }
}
