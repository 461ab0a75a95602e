/// A request to an accessory, written the one way that all known accessories take.
///
/// `Host` without port and nothing that is not needed; `Content-Length` before `Content-Type`; headers and body as one run of bytes. Each
/// of these was found with an accessory that refuses or hangs otherwise.
struct HTTPRequest: Equatable, Sendable {
    enum Method: String, Sendable {
        case get = "GET"
        case put = "PUT"
        case post = "POST"
    }

    enum ContentType: String, Sendable {
        case pairing = "application/pairing+tlv8"
        case json = "application/hap+json"
    }

    var method: Method
    var path: String
    var contentType: ContentType?
    var body: [UInt8] = []

    static func get(_ path: String) -> HTTPRequest { HTTPRequest(method: .get, path: path) }

    static func post(_ path: String, pairing body: [UInt8]) -> HTTPRequest {
        HTTPRequest(method: .post, path: path, contentType: .pairing, body: body)
    }

    static func put(_ path: String, json body: String) -> HTTPRequest {
        HTTPRequest(method: .put, path: path, contentType: .json, body: Array(body.utf8))
    }

    /// - Parameter host: The accessory's numeric address; a scope is left out, IPv6 gets brackets.
    func encoded(host: String) -> [UInt8] {
        let address = host.prefix { $0 != "%" }
        var text = "\(method.rawValue) \(path) HTTP/1.1\r\nHost: \(address.contains(":") ? "[\(address)]" : address)\r\n"
        if let contentType {
            text += "Content-Length: \(body.count)\r\nContent-Type: \(contentType.rawValue)\r\n"
        }
        return Array((text + "\r\n").utf8) + body
    }
}
