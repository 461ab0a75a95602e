/// What an accessory says: the answer to a request, or an event.
package struct AccessoryResponse: Equatable, Sendable {
    package enum Kind: String, Sendable {
        case response = "HTTP/1.1"
        case event = "EVENT/1.0"
    }

    package enum Content: String, Sendable {
        case pairing = "application/pairing+tlv8"
        case json = "application/hap+json"
    }

    package enum Framing: Sendable {
        case contentLength
        case chunked
        /// Neither length nor chunks: the receiver has to know that there is no body.
        case none
    }

    package var kind = Kind.response
    package var status: Int
    package var content: Content?
    package var body: [UInt8] = []
    package var framing = Framing.contentLength
    package var hasLowerCaseHeaders = false
    /// Follows the body and belongs to no message.
    package var tail: [UInt8] = []

    /// A status alone.
    package static func status(_ status: Int) -> AccessoryResponse {
        AccessoryResponse(status: status, framing: status == 204 ? .none : .contentLength)
    }

    /// A status with neither body nor length.
    package static func bare(_ status: Int) -> AccessoryResponse { AccessoryResponse(status: status, framing: .none) }

    package static func json(_ text: String, status: Int = 200) -> AccessoryResponse {
        AccessoryResponse(status: status, content: .json, body: Array(text.utf8))
    }

    /// The refusal of a whole request by a HAP status.
    package static func refusal(_ status: Int, _ code: HAPStatus) -> AccessoryResponse {
        .json("{\"status\":\(code.code)}", status: status)
    }

    static func pairing(_ message: TLV8) -> AccessoryResponse {
        AccessoryResponse(status: 200, content: .pairing, body: message.encoded)
    }

    /// An error of the pairing protocol, which HTTP takes for a success.
    package static func pairingError(state: UInt8, code: UInt8) -> AccessoryResponse {
        .pairing(TLV8((.state, [state]), (.error, [code])))
    }

    /// Whether it is a pairing message that refuses something.
    package var isPairingError: Bool { content == .pairing && (try? TLV8(decoding: body))?[.error] != nil }

    /// The same pairing message without its state item.
    package var withoutState: AccessoryResponse {
        guard content == .pairing, let message = try? TLV8(decoding: body) else { return self }
        var response = self
        response.body = TLV8(items: message.items.filter { $0.type != TLV8.Kind.state.rawValue }).encoded
        return response
    }

    /// Bytes of body in one chunk; with its size line it fills one encrypted frame.
    private static let chunk = 1024 - 7

    package var encoded: [UInt8] {
        var lines = ["\(kind.rawValue) \(status) \(Self.reason(status))"]
        func add(_ name: String, _ value: String) { lines.append("\(hasLowerCaseHeaders ? name.lowercased() : name): \(value)") }
        if let content { add("Content-Type", content.rawValue) }
        switch framing {
        case .contentLength: add("Content-Length", String(body.count))
        case .chunked: add("Transfer-Encoding", "chunked")
        case .none: break
        }
        var bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        if framing == .chunked {
            var rest = body[...]
            while !rest.isEmpty {
                let part = rest.prefix(Self.chunk)
                rest = rest.dropFirst(part.count)
                bytes += Array("\(String(part.count, radix: 16))\r\n".utf8) + part + [0x0D, 0x0A]
            }
            bytes += Array("0\r\n\r\n".utf8)
        } else {
            bytes += body
        }
        return bytes + tail
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 204: "No Content"
        case 207: "Multi-Status"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 422: "Unprocessable Entity"
        case 429: "Too Many Requests"
        case 470: "Connection Authorization Required"
        case 500: "Internal Server Error"
        case 503: "Service Unavailable"
        default: "Status"
        }
    }
}
