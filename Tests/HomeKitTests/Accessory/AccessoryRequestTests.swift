import TestSupport
import Testing

@testable import HomeKit

@Suite struct `Requests to an accessory` {
    private static let request = Array(
        "PUT /characteristics?id=1.2&meta=1 HTTP/1.1\r\nHost: lamp\r\ncontent-length:3\r\nX-Y : a: b \r\n\r\nabcGET / HTTP/1.1\r\n\r\n".utf8
    )

    private func requests(_ pieces: [[UInt8]]) throws -> [AccessoryRequest] {
        var parser = RequestParser()
        var found: [AccessoryRequest] = []
        for piece in pieces {
            parser.append(piece)
            while let request = try parser.next() { found.append(request) }
        }
        return found
    }

    @Test func `are the same however they are cut`() throws {
        let whole = try requests([Self.request])
        #expect(whole.count == 2)
        #expect(whole[0].method == "PUT" && whole[0].path == "/characteristics" && whole[0].query == ["id": "1.2", "meta": "1"])
        #expect(whole[0].header("Content-Length") == "3" && whole[0].header("x-y ") == "a: b" && whole[0].body == Array("abc".utf8))
        #expect(whole[1].path == "/" && whole[1].body.isEmpty)
        #expect(try requests(Self.request.map { [$0] }) == whole)
        for cut in 1..<Self.request.count { #expect(try requests([Array(Self.request[..<cut]), Array(Self.request[cut...])]) == whole) }
    }

    @Test(arguments: [
        ("GET\r\n\r\n", RequestFault.badRequestLine), ("GET / SPDY/3\r\n\r\n", .badRequestLine),
        ("GET x HTTP/1.1\r\n\r\n", .badRequestLine),
        ("GET / HTTP/1.1\r\nHost\r\n\r\n", .badHeader), ("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", .badContentLength),
        ("GET / HTTP/1.1\r\nContent-Length: 65537\r\n\r\n", .bodyTooLong),
        ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", .chunked),
        ("GET /" + String(repeating: "x", count: 17_000), .headTooLong),
    ])
    func `that are none stay refused`(text: String, fault: RequestFault) throws {
        var parser = RequestParser()
        parser.append(Array(text.utf8))
        #expect(throws: fault) { try parser.next() }
        parser.append(Self.request)
        #expect(throws: fault) { try parser.next() }
    }

    @Test func `rubbish is refused or waited for, never a crash`() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<2_000 {
            var parser = RequestParser()
            for piece in random.pieces(random.mutated(Self.request)) {
                parser.append(piece)
                while let request = try? parser.next() { #expect(request.body.count <= RequestParser.maximumBody) }
            }
        }
    }

    @Test func `a server survives rubbish before and within a session`() throws {
        var random = SeededGenerator(seed: 12)
        var bench = try AccessoryBench()
        let record = try bench.pair()
        let templates = [
            HTTPRequest.put(
                "/characteristics",
                json: "{\"characteristics\":[{\"aid\":1,\"iid\":52,\"value\":57},{\"aid\":1,\"iid\":51,\"ev\":true}],\"pid\":1}"),
            .put("/prepare", json: "{\"ttl\":100,\"pid\":1}"), .get("/characteristics?id=1.51,1.52&meta=1"),
            .post("/pairings", pairing: TLV8((.state, [1]), (.method, [5])).encoded),
            .post("/pair-setup", pairing: TLV8((.state, [1]), (.method, [0])).encoded),
        ].map { $0.encoded(host: "lamp") }
        for round in 0..<300 {
            let connection = round % 3 == 0 ? try bench.connect() : try bench.session(record)
            for _ in 0..<4 {
                let template = templates[Int.random(in: templates.indices, using: &random)]
                if bench.clients[connection]?.isClosed == false { try bench.send(random.mutated(template), on: connection) }
            }
            bench.disconnect(connection)
        }
        let connection = try bench.session(record)
        #expect((0...100).contains(bench.server.bulbs[0].brightness))
        #expect(try bench.get("/accessories", on: connection).status == 200)
    }
}

@Suite struct `Setup payloads` {
    @Test func `the published example comes out and is read`() throws {
        let payload = try SetupPayload("X-HM://00522H1VM7OSX")
        #expect(payload.category == 5 && payload.isForIP && !payload.isForBluetooth && payload.setupID == "7OSX")
        #expect(payload.code == (try SetupCode("031-45-154")))
        #expect(payload.text == "X-HM://00522H1VM7OSX")
        #expect(try SetupPayload(" x-hm://00522h1vm7osx\n") == payload)
        #expect(!"\(payload) \(String(reflecting: payload))".contains("031"))
    }

    @Test func `what was made is read as what it was`() throws {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<200 {
            let code = SetupCode.random()
            #expect(!code.isTrivial)
            let payload = try #require(
                SetupPayload(
                    code: code, setupID: "AB9Z", category: .random(in: 0...255, using: &random), isForIP: .random(using: &random),
                    isForBluetooth: .random(using: &random)))
            #expect(try SetupPayload(payload.text) == payload)
        }
    }

    @Test(arguments: [
        ("", SetupPayload.Fault.notAPayload), ("X-HM://00522H1VM7OS", .notAPayload), ("http://00522H1VM7OSX", .notAPayload),
        ("X-HM://0052-H1VM7OSX", .badNumber), ("X-HM://ZZZZZZZZZ7OSX", .badNumber), ("X-HM://00522H1VM7O-X", .badSetupID),
        ("X-HM://00548IE4F7OSX", .badSetupCode),
    ])
    func `others are refused with the reason`(text: String, fault: SetupPayload.Fault) {
        #expect(throws: fault) { try SetupPayload(text) }
    }

    @Test func `rubbish is refused`() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<2_000 {
            let text = String(decoding: random.mutated(Array("X-HM://00522H1VM7OSX".utf8)), as: UTF8.self)
            if let payload = try? SetupPayload(text) { #expect(payload.setupID.utf8.count == 4) }
        }
    }
}
