/// A complete answer or event of an accessory.
package struct HTTPMessage: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case response
        /// `EVENT/1.0`: the accessory speaks without being asked.
        case event
    }

    package var kind: Kind
    package var status: Int
    package var body: [UInt8]
}

/// Why a byte stream is no HTTP; nothing after it can be trusted to be in step.
package enum HTTPFault: Error, Equatable {
    case badStartLine
    case badHeader
    case badContentLength
    case badChunkSize
    case badChunkEnd
    case headTooLong
    case bodyTooLong
}

/// Puts the bytes of one direction together to messages, however they are cut.
///
/// A fault is final: every further call throws it again.
package struct HTTPParser: Sendable {
    /// Bytes of a start line with headers, or of a chunk-size line; accessories need a few hundred.
    static let maximumHead = 16 * 1024
    /// Bytes of a body; a bridge with 150 accessories needs about half a megabyte.
    static let maximumBody = 8 * 1024 * 1024

    private enum State: Equatable {
        case head
        case body(HTTPMessage, remaining: Int)
        case chunkSize(HTTPMessage)
        case chunkData(HTTPMessage, remaining: Int)
        case chunkEnd(HTTPMessage)
        case trailers(HTTPMessage)
        case failed(HTTPFault)
    }

    private enum Framing { case none, length(Int), chunked }

    private var state = State.head
    private var buffer: [UInt8] = []
    private var position = 0
    /// Up to where the buffer is known to hold no line end, so that a slow sender does not make the search quadratic.
    private var searched = 0
    private var head: [String] = []
    private var headLength = 0

    package init() {}

    package mutating func append(_ bytes: [UInt8]) {
        if position == buffer.count {
            buffer = bytes
            position = 0
            searched = 0
        } else {
            buffer += bytes
        }
    }

    /// Takes out the bytes that belong to no message yet returned.
    mutating func takeUnparsed() -> [UInt8] {
        defer { (buffer, position, searched) = ([], 0, 0) }
        return Array(buffer[position...])
    }

    /// The next complete message, nil until more bytes come.
    package mutating func next() throws(HTTPFault) -> HTTPMessage? {
        do {
            return try advance()
        } catch {
            state = .failed(error)
            (buffer, position, searched) = ([], 0, 0)
            throw error
        }
    }

    private mutating func advance() throws(HTTPFault) -> HTTPMessage? {
        while true {
            switch state {
            case .head:
                guard let line = try nextLine() else { return nil }
                if line.isEmpty {
                    // Stray line ends between messages are skipped.
                    if head.isEmpty { continue }
                    if let message = try finishHead() { return message }
                } else {
                    // At once, so that a server of another kind is told from a slow accessory.
                    if head.isEmpty { _ = try Self.startLine(line) }
                    headLength += line.utf8.count
                    guard headLength <= Self.maximumHead else { throw .headTooLong }
                    head.append(line)
                }
            case .body(var message, let remaining):
                guard let rest = take(remaining, into: &message) else { return nil }
                if rest == 0 { return finish(message) }
                state = .body(message, remaining: rest)
            case .chunkSize(let message):
                guard let line = try nextLine() else { return nil }
                let digits = line.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
                guard !digits.isEmpty, digits.utf8.count <= 8, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }),
                    let size = Int(digits, radix: 16)
                else { throw .badChunkSize }
                guard message.body.count + size <= Self.maximumBody else { throw .bodyTooLong }
                state = size == 0 ? .trailers(message) : .chunkData(message, remaining: size)
            case .chunkData(var message, let remaining):
                guard let rest = take(remaining, into: &message) else { return nil }
                state = rest == 0 ? .chunkEnd(message) : .chunkData(message, remaining: rest)
            case .chunkEnd(let message):
                guard let line = try nextLine() else { return nil }
                guard line.isEmpty else { throw .badChunkEnd }
                state = .chunkSize(message)
            case .trailers(let message):
                guard let line = try nextLine() else { return nil }
                headLength += line.utf8.count
                guard headLength <= Self.maximumHead else { throw .headTooLong }
                if line.isEmpty { return finish(message) }
            case .failed(let fault):
                throw fault
            }
        }
    }

    /// Interprets start line and headers; returns the message at once where it has no body.
    private mutating func finishHead() throws(HTTPFault) -> HTTPMessage? {
        let lines = head
        head = []
        headLength = 0
        let (kind, status) = try Self.startLine(lines[0])
        let framing = try Self.framing(lines.dropFirst())
        let message = HTTPMessage(kind: kind, status: status, body: [])
        switch status {
        case 100...199:
            state = .head
            return nil
        case 204, 304:
            return finish(message)
        default:
            switch framing {
            case .none, .length(0): return finish(message)
            case .length(let length): state = .body(message, remaining: length)
            case .chunked: state = .chunkSize(message)
            }
            return nil
        }
    }

    private static func startLine(_ line: String) throws(HTTPFault) -> (HTTPMessage.Kind, status: Int) {
        let parts = line.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[1].utf8.count == 3, let status = Int(parts[1]), (100...999).contains(status) else {
            throw .badStartLine
        }
        switch parts[0] {
        case "HTTP/1.1", "HTTP/1.0": return (.response, status)
        case "EVENT/1.0": return (.event, status)
        default: throw .badStartLine
        }
    }

    private static func framing(_ headers: ArraySlice<String>) throws(HTTPFault) -> Framing {
        var length: Int?
        var isChunked = false
        for header in headers {
            guard let colon = header.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw .badHeader }
            let name = header[..<colon].lowercased()
            let value = header[header.index(after: colon)...].filter { $0 != " " && $0 != "\t" }
            switch name {
            case "content-length":
                guard !value.isEmpty, value.utf8.count <= 10, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                    let number = Int(value),
                    length == nil || length == number
                else { throw .badContentLength }
                guard number <= maximumBody else { throw .bodyTooLong }
                length = number
            case "transfer-encoding":
                isChunked = isChunked || value.lowercased().hasSuffix("chunked")
            default: break
            }
        }
        if isChunked { return .chunked }
        return length.map { .length($0) } ?? .none
    }

    private mutating func finish(_ message: HTTPMessage) -> HTTPMessage {
        state = .head
        headLength = 0
        if position == buffer.count { (buffer, position, searched) = ([], 0, 0) }
        return message
    }

    /// Moves up to `count` bytes into the body and returns how many are still missing, nil when none were there.
    private mutating func take(_ count: Int, into message: inout HTTPMessage) -> Int? {
        let available = min(count, buffer.count - position)
        guard available > 0 else { return nil }
        state = .head
        message.body += buffer[position..<position + available]
        position += available
        searched = position
        return count - available
    }

    /// The next line without its end, which is CRLF or a lone LF.
    private mutating func nextLine() throws(HTTPFault) -> String? {
        searched = max(searched, position)
        guard let end = buffer[searched...].firstIndex(of: 0x0A) else {
            searched = buffer.count
            guard searched - position <= Self.maximumHead else { throw .headTooLong }
            return nil
        }
        guard end - position <= Self.maximumHead else { throw .headTooLong }
        var line = buffer[position..<end]
        if line.last == 0x0D { line.removeLast() }
        position = end + 1
        searched = position
        return String(decoding: line, as: UTF8.self)
    }
}
