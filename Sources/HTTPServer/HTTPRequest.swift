/// A request that has arrived whole.
public struct HTTPRequest: Sendable {
    public struct Field: Hashable, Sendable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    /// As sent: `GET`, `POST`.
    public var method: String
    /// Decoded, without the query.
    public var path: String
    /// Decoded, in the order of the URL.
    public var query: [Field]
    public var headers: [Field]
    public var body: [UInt8]

    public init(method: String, path: String, query: [Field] = [], headers: [Field] = [], body: [UInt8] = []) {
        (self.method, self.path, self.query, self.headers, self.body) = (method, path, query, headers, body)
    }

    /// The values of a header, whatever the case of its name.
    public func values(of header: String) -> [String] {
        headers.filter { $0.name.lowercased() == header.lowercased() }.map(\.value)
    }

    /// The value of a header; nil where it is absent or stands twice.
    public func value(of header: String) -> String? {
        let values = values(of: header)
        return values.count == 1 ? values[0] : nil
    }

    /// The value of a cookie.
    public func cookie(_ name: String) -> String? {
        for header in values(of: "Cookie") {
            for pair in header.split(separator: ";") {
                let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2, parts[0] == name { return String(parts[1]) }
            }
        }
        return nil
    }
}
