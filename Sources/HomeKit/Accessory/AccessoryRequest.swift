/// A request as an accessory receives it.
package struct AccessoryRequest: Equatable, Sendable {
    package var method: String
    /// Without the query.
    package var path: String
    /// The parts of the query that have the form `name=value`.
    package var query: [String: String]
    /// In the order they came, with the names as they came.
    package var headers: [Header]
    package var body: [UInt8]

    package struct Header: Equatable, Sendable {
        package var name: String
        package var value: String
    }

    /// The value of a header, whatever the case of its name.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Why a controller's bytes are no request; nothing after them can be trusted to be in step.
package enum RequestFault: Error, Equatable {
    case badRequestLine
    case badHeader
    case badContentLength
    /// Chunked requests are not part of HAP.
    case chunked
    case headTooLong
    case bodyTooLong
}

/// Puts a controller's bytes together to requests, however they are cut. A fault is final.
struct RequestParser: Sendable {
    /// Bytes of a request line with headers; controllers need about two hundred, and more for long lists of characteristics.
    static let maximumHead = 16 * 1024
    /// Bytes of a body.
    static let maximumBody = 64 * 1024

    private var buffer: [UInt8] = []
    /// Up to where the buffer is known to hold no end of the head.
    private var searched = 0
    private var fault: RequestFault?

    mutating func append(_ bytes: [UInt8]) {
        if fault == nil { buffer += bytes }
    }

    /// Whether a request has begun and not ended.
    var isWithinRequest: Bool { !buffer.isEmpty }

    /// Takes out the bytes that belong to no request yet returned.
    mutating func takeUnparsed() -> [UInt8] {
        defer { (buffer, searched) = ([], 0) }
        return buffer
    }

    /// The next complete request, nil until more bytes come.
    mutating func next() throws(RequestFault) -> AccessoryRequest? {
        if let fault { throw fault }
        do {
            return try advance()
        } catch {
            fault = error
            buffer = []
            throw error
        }
    }

    private mutating func advance() throws(RequestFault) -> AccessoryRequest? {
        while buffer.first == 0x0D || buffer.first == 0x0A { buffer.removeFirst() }
        guard let end = endOfHead() else {
            guard buffer.count <= Self.maximumHead else { throw .headTooLong }
            return nil
        }
        guard end.head <= Self.maximumHead else { throw .headTooLong }
        var request = try Self.request(head: buffer[..<end.head])
        if request.header("transfer-encoding") != nil { throw .chunked }
        var length = 0
        if let text = request.header("content-length") {
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text.utf8.count <= 10, let number = Int(text) else {
                throw .badContentLength
            }
            guard number <= Self.maximumBody else { throw .bodyTooLong }
            length = number
        }
        guard buffer.count - end.body >= length else { return nil }
        request.body = Array(buffer[end.body..<end.body + length])
        buffer.removeFirst(end.body + length)
        searched = 0
        return request
    }

    /// Where the head ends and the body begins: after the first empty line.
    private mutating func endOfHead() -> (head: Int, body: Int)? {
        var index = max(0, searched - 3)
        while let newline = buffer[index...].firstIndex(of: 0x0A) {
            var next = newline + 1
            if next < buffer.count, buffer[next] == 0x0D { next += 1 }
            if next < buffer.count, buffer[next] == 0x0A { return (newline, next + 1) }
            index = newline + 1
        }
        searched = buffer.count
        return nil
    }

    private static func request(head: ArraySlice<UInt8>) throws(RequestFault) -> AccessoryRequest {
        var lines = head.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        }
        let parts = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[2].hasPrefix("HTTP/1."), !parts[0].isEmpty, parts[1].hasPrefix("/") else { throw .badRequestLine }
        let target = parts[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        var query: [String: String] = [:]
        for item in target.dropFirst().joined().split(separator: "&") {
            let pair = item.split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count == 2 { query[pair[0]] = pair[1] }
        }
        var headers: [AccessoryRequest.Header] = []
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { throw .badHeader }
            var value = line[line.index(after: colon)...]
            while value.first == " " || value.first == "\t" { value.removeFirst() }
            while value.last == " " || value.last == "\t" { value.removeLast() }
            headers.append(.init(name: String(line[..<colon]), value: String(value)))
        }
        return AccessoryRequest(method: parts[0], path: target[0], query: query, headers: headers, body: [])
    }
}
