import TestSupport
import Testing

@testable import HomeKit

/// Feeds `pieces` to a fresh parser and takes every message as soon as it is complete.
private func parse(_ pieces: [[UInt8]]) throws -> [HTTPMessage] {
    var parser = HTTPParser()
    var messages: [HTTPMessage] = []
    for piece in pieces {
        parser.append(piece)
        while let message = try parser.next() { messages.append(message) }
    }
    return messages
}

private func parse(_ text: String) throws -> [HTTPMessage] { try parse([Array(text.utf8)]) }

private func response(_ status: Int, _ body: String = "") -> HTTPMessage {
    HTTPMessage(kind: .response, status: status, body: Array(body.utf8))
}

private func event(_ body: String) -> HTTPMessage { HTTPMessage(kind: .event, status: 200, body: Array(body.utf8)) }

@Suite struct `HTTP answers and events` {
    /// Everything accessories are known to send, one after the other.
    static let stream = """
        HTTP/1.1 200 OK\r\nContent-Type: application/hap+json\r\nContent-Length: 4\r\n\r\n{a}\n\
        EVENT/1.0 200 OK\r\ncontent-length:2\r\n\r\n{}\
        HTTP/1.1 204 No Content\r\n\r\n\
        HTTP/1.1 470 Connection Authorization Required\r\n\r\n\
        HTTP/1.1 207 Multi-Status\r\nTRANSFER-ENCODING: Chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n\r\n\
        EVENT/1.0 200 OK\nContent-Length : 0\n\n\
        HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx
        """
    static let messages = [
        response(200, "{a}\n"), event("{}"), response(204), response(470), response(207, "abc0123456789"), event(""), response(200, "x"),
    ]

    @Test func `come out in order`() throws {
        #expect(try parse(Self.stream) == Self.messages)
    }

    @Test func `come out the same byte by byte`() throws {
        #expect(try parse(Self.stream.utf8.map { [$0] }) == Self.messages)
    }

    @Test func `come out the same wherever the stream is cut in two`() throws {
        let bytes = Array(Self.stream.utf8)
        for cut in 0...bytes.count {
            #expect(try parse([Array(bytes[..<cut]), Array(bytes[cut...])]) == Self.messages)
        }
    }

    @Test func `an interim answer is not the answer`() throws {
        #expect(try parse("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n") == [response(204)])
    }

    @Test func `bytes of the next message stay untouched`() throws {
        var parser = HTTPParser()
        parser.append(Array("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxREST".utf8))
        #expect(try parser.next() == response(200, "x"))
        #expect(parser.takeUnparsed() == Array("REST".utf8))
        #expect(try parser.next() == nil)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", HTTPFault.badStartLine),
        ("SSH-2.0-OpenSSH_9.2\r\n\r\n", .badStartLine),
        ("HTTP/1.1 2000 OK\r\n\r\n", .badStartLine),
        ("HTTP/1.1 -20 OK\r\n\r\n", .badStartLine),
        ("HTTP/2 200\r\n\r\n", .badStartLine),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", .badHeader),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", .badContentLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n", .badContentLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n", .badContentLength),
        ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", .badContentLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", .badContentLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", .badContentLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 8388609\r\n\r\n", .bodyTooLong),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", .badChunkSize),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", .badChunkSize),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", .badChunkSize),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFF\r\n", .badChunkSize),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n", .bodyTooLong),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", .badChunkEnd),
    ])
    func `what is not HTTP is refused, and nothing after it is read`(text: String, fault: HTTPFault) throws {
        for pieces in [[Array(text.utf8)], text.utf8.map { [$0] }] {
            var parser = HTTPParser()
            #expect(throws: fault) {
                for piece in pieces {
                    parser.append(piece)
                    while try parser.next() != nil {}
                }
            }
            parser.append(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8))
            #expect(throws: fault) { try parser.next() }
        }
    }

    @Test func `a head without end is refused before it fills the memory`() throws {
        for filler in ["a", "a: b\r\n"] {
            var parser = HTTPParser()
            parser.append(Array("HTTP/1.1 200 OK\r\n".utf8))
            var taken = 0
            #expect(throws: HTTPFault.headTooLong) {
                while taken < 10 * HTTPParser.maximumHead {
                    parser.append(Array(String(repeating: filler, count: 100).utf8))
                    taken += 100 * filler.utf8.count
                    while try parser.next() != nil {}
                }
            }
        }
    }

    @Test func `chunks without end are refused before they fill the memory`() throws {
        var parser = HTTPParser()
        parser.append(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8))
        let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 0x61, count: 0x10000) + Array("\r\n".utf8)
        #expect(throws: HTTPFault.bodyTooLong) {
            for _ in 0...HTTPParser.maximumBody / 0x10000 {
                parser.append(chunk)
                while try parser.next() != nil {}
            }
        }
    }

    @Test(arguments: 1...8)
    func `broken streams never crash it, and the cuts never matter`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<600 {
            let bytes = random.mutated(Array(Self.stream.utf8))
            let whole = Result { try parse([bytes]) }
            let cut = Result { try parse(random.pieces(bytes)) }
            switch (whole, cut) {
            case (.success(let whole), .success(let cut)): #expect(whole == cut)
            case (.failure(let whole), .failure(let cut)): #expect(whole as? HTTPFault == cut as? HTTPFault)
            default: Issue.record("cutting the stream changed whether it is HTTP: \(bytes)")
            }
        }
    }
}

@Suite struct `Requests` {
    @Test func `are written byte for byte as every known accessory takes them`() {
        #expect(
            HTTPRequest.get("/accessories").encoded(host: "192.168.1.20")
                == Array("GET /accessories HTTP/1.1\r\nHost: 192.168.1.20\r\n\r\n".utf8))
        #expect(
            HTTPRequest.post("/pair-setup", pairing: [6, 1, 1]).encoded(host: "10.0.0.2")
                == Array(
                    "POST /pair-setup HTTP/1.1\r\nHost: 10.0.0.2\r\nContent-Length: 3\r\nContent-Type: application/pairing+tlv8\r\n\r\n"
                        .utf8) + [6, 1, 1])
        let writes = [
            CharacteristicWrite(CharacteristicID(accessory: 1, instance: 9), .bool(true)),
            CharacteristicWrite(CharacteristicID(accessory: 1, instance: 10), .integer(57)),
        ]
        let body = #"{"characteristics":[{"aid":1,"iid":9,"value":1},{"aid":1,"iid":10,"value":57}]}"#
        #expect(
            HTTPRequest.put("/characteristics", json: CharacteristicsPayload.writing(writes)).encoded(host: "10.0.0.2")
                == Array(
                    """
                    PUT /characteristics HTTP/1.1\r\nHost: 10.0.0.2\r\nContent-Length: \(body.utf8.count)\r\n\
                    Content-Type: application/hap+json\r\n\r\n\(body)
                    """.utf8))
    }

    @Test func `name IPv6 hosts in brackets and without their scope`() {
        let text = String(decoding: HTTPRequest.get("/accessories").encoded(host: "fe80::1%eth0"), as: UTF8.self)
        #expect(text.contains("\r\nHost: [fe80::1]\r\n"))
    }

    @Test func `list the characteristics to read and to hear from`() {
        let ids = [CharacteristicID(accessory: 1, instance: 9), CharacteristicID(accessory: .max, instance: 10)]
        #expect(CharacteristicsPayload.path(reading: ids) == "/characteristics?id=1.9,18446744073709551615.10")
        #expect(
            CharacteristicsPayload.subscribing(ids)
                == #"{"characteristics":[{"aid":1,"iid":9,"ev":true},{"aid":18446744073709551615,"iid":10,"ev":true}]}"#)
    }
}
