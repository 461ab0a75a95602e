import Cryptography
import Testing

@testable import HomeKit

/// What Apple's reference accessory was measured to answer, where it and others differ.
@Suite struct `An accessory in use` {
    private func bench() throws -> (AccessoryBench, PairingRecord, AccessoryBench.Connection) {
        var bench = try AccessoryBench()
        let record = try bench.pair()
        let session = try bench.session(record)
        return (bench, record, session)
    }

    private func item(_ iid: Int, _ rest: String) -> String { "{\"aid\":1,\"iid\":\(iid),\(rest)}" }

    private func body(_ items: String...) -> String { "{\"characteristics\":[\(items.joined(separator: ","))]}" }

    @Test(arguments: ["GET /accessories", "GET /characteristics", "PUT /characteristics", "PUT /prepare", "POST /pairings"])
    func `says 470 to whoever has not verified`(line: String) throws {
        var bench = try AccessoryBench()
        let connection = try bench.connect()
        try bench.send(Array("\(line) HTTP/1.1\r\n\r\n".utf8), on: connection)
        let answer = try #require(bench.clients[connection]?.responses.first)
        #expect(answer.status == 470 && answer.body == Array("{\"status\":-70411}".utf8))
    }

    @Test func `does not know other paths or methods`() throws {
        var (bench, _, session) = try bench()
        #expect(try bench.get("/nothing", on: session).status == 404)
        #expect(try bench.get("/pairings", on: session).status == 405)
    }

    @Test func `has a database in which our controller finds a bulb`() throws {
        var (bench, _, session) = try bench()
        let answer = try bench.ask(.get("/accessories"), on: session)
        let accessories = try [Accessory](json: answer.body)
        let bulb = try #require(Lightbulb.all(in: accessories).first)
        #expect(bulb.name == "Bench lamp" && bulb.on == AccessoryBench.on && bulb.brightness?.id == AccessoryBench.brightness)
        #expect(bulb.onCanNotify && bulb.brightness?.canNotify == true)
        #expect(bulb.brightness?.scale == BrightnessScale(minimum: 0, maximum: 100, step: 1))
        #expect(accessories[0].information(.serialNumber) == "0001")
    }

    @Test func `sends the database in chunks, each within one frame`() throws {
        var response = AccessoryResponse.json(String(repeating: "x", count: 2500))
        response.framing = .chunked
        let text = String(decoding: response.encoded, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: application/hap+json\r\nTransfer-Encoding: chunked\r\n\r\n3f9\r\nxxx"))
        #expect(text.hasSuffix("x\r\n0\r\n\r\n"))
    }

    @Test func `is a bridge where it has many bulbs`() throws {
        var bench = try AccessoryBench(count: 3)
        let session = try bench.session(try bench.pair())
        let bulbs = Lightbulb.all(in: try [Accessory](json: try bench.ask(.get("/accessories"), on: session).body))
        #expect(bulbs.map(\.accessory) == [2, 3, 4])
        #expect(bulbs.map(\.name) == ["Bench lamp 1", "Bench lamp 2", "Bench lamp 3"])
        #expect(try bench.put("{\"characteristics\":[{\"aid\":3,\"iid\":51,\"value\":true}]}", on: session).status == 204)
        #expect(bench.server.bulbs.map(\.on) == [false, true, false])
    }

    @Test func `reads with 200, and with 207 and a status for each where one fails`() throws {
        var (bench, _, session) = try bench()
        #expect(
            try bench.get("/characteristics?id=1.51,1.52", on: session) == (200, body(item(51, "\"value\":0"), item(52, "\"value\":40"))))
        #expect(
            try bench.get("/characteristics?id=1.51,1.99", on: session)
                == (207, body(item(51, "\"value\":0,\"status\":0"), item(99, "\"status\":-70409"))))
        #expect(try bench.get("/characteristics?id=1.2", on: session) == (207, body(item(2, "\"status\":-70405"))))
        for path in ["/characteristics", "/characteristics?id=1", "/characteristics?id=1.x,1.2"] {
            #expect(try bench.get(path, on: session).status == 400)
        }
    }

    @Test func `tells of a characteristic what is asked for`() throws {
        var (bench, _, session) = try bench()
        #expect(
            try bench.get("/characteristics?id=1.51&meta=1&perms=1&type=1&ev=1", on: session).text
                == body(
                    item(51, "\"format\":\"bool\",\"perms\":[\"pr\",\"pw\",\"ev\"],\"type\":\"25\",\"ev\":false,\"value\":0")))
    }

    @Test func `writes with 204 and says who did it`() throws {
        var (bench, record, session) = try bench()
        #expect(try bench.put(body(item(51, "\"value\":true"), item(52, "\"value\":57")), on: session) == (204, ""))
        #expect(bench.server.bulbs == [BulbState(on: true, brightness: 57)])
        let change = BulbChange(on: true, brightness: 57)
        #expect(bench.reports.last == .set(bulb: 0, change, BulbState(on: true, brightness: 57), by: record.controllerID))
    }

    @Test func `refuses item by item, and does what can be done`() throws {
        var (bench, _, session) = try bench()
        let answer = try bench.put(
            body(
                item(51, "\"value\":1"), item(52, "\"value\":101"), item(52, "\"value\":\"x\""), item(99, "\"value\":1"),
                item(20, "\"ev\":true"), item(5, "\"value\":\"x\""), item(5, "\"ev\":true"), item(52, "\"value\":5,\"r\":true")),
            on: session)
        let statuses = [0, -70410, -70410, -70409, -70409, -70404, -70406, -70405]
        let read = try CharacteristicsPayload.readings(Array(answer.text.utf8), step: .write).map(\.result)
        #expect(answer.status == 207)
        #expect(
            read.map { result in
                guard case .failure(let failure) = result else { return Int64.max }
                return failure.status == .notReported ? 0 : failure.status.code
            } == statuses.map(Int64.init))
        #expect(bench.server.bulbs == [BulbState(on: true, brightness: 40)])
    }

    @Test(arguments: ["", "x", "{}", "{\"characteristics\":{}}", "{\"characteristics\":[1]}", "{\"characteristics\":[{\"aid\":1}]}"])
    func `refuses a body it cannot read with 400`(text: String) throws {
        var (bench, _, session) = try bench()
        #expect(try bench.put(text, on: session).status == 400)
    }

    @Test func `a prepared write is done in time, once, and by its number`() throws {
        var (bench, _, session) = try bench()
        let write = "{\"characteristics\":[{\"aid\":1,\"iid\":51,\"value\":1}],\"pid\":7}"
        let refused = (207, body(item(51, "\"status\":-70410")))
        #expect(try bench.put(write, on: session) == refused)
        #expect(try bench.put("{\"ttl\":1000,\"pid\":7}", path: "/prepare", on: session) == (200, "{\"status\":0}"))
        #expect(try bench.put(write, on: session).status == 204)
        #expect(try bench.put(write, on: session) == refused)
        _ = try bench.put("{\"ttl\":1000,\"pid\":7}", path: "/prepare", on: session)
        try bench.pass(.milliseconds(1001))
        #expect(try bench.put(write, on: session) == refused)
        #expect(try bench.put("{\"ttl\":1}", path: "/prepare", on: session).status == 400)
    }

    @Test func `tells the others of a change, gathered, and never the one who wrote it`() throws {
        var (bench, record, writer) = try bench()
        let listener = try bench.session(record)
        for connection in [writer, listener] {
            #expect(try bench.put(body(item(51, "\"ev\":true"), item(52, "\"ev\":true")), on: connection).status == 204)
        }
        _ = try bench.put(body(item(52, "\"value\":50")), on: writer)
        try bench.pass(.milliseconds(100))
        _ = try bench.put(body(item(51, "\"value\":1"), item(52, "\"value\":60")), on: writer)
        #expect(bench.events(listener).isEmpty)
        #expect(bench.server.nextDeadline == .milliseconds(250))
        try bench.pass(.milliseconds(150))
        #expect(bench.events(listener) == [body(item(51, "\"value\":1"), item(52, "\"value\":60"))])
        #expect(bench.events(writer).isEmpty)
        #expect(bench.server.nextDeadline == nil)

        // A hand on the lamp is news to both.
        try bench.perform(bench.server.changed(bulb: 0, BulbChange(on: false), now: bench.now))
        try bench.pass(.seconds(1))
        #expect(bench.events(writer) == [body(item(51, "\"value\":0"))])
        #expect(bench.events(listener).count == 2)
        #expect(bench.reports.last == .local(bulb: 0, BulbState(on: false, brightness: 60)))
    }

    @Test func `says nothing of what has not changed, or is no longer wanted`() throws {
        var (bench, record, writer) = try bench()
        let listener = try bench.session(record)
        _ = try bench.put(body(item(51, "\"ev\":true"), item(52, "\"ev\":true")), on: listener)
        _ = try bench.put(body(item(51, "\"value\":0"), item(52, "\"value\":40")), on: writer)
        #expect(bench.server.nextDeadline == nil)
        _ = try bench.put(body(item(51, "\"ev\":false")), on: listener)
        _ = try bench.put(body(item(51, "\"value\":1")), on: writer)
        try bench.pass(.seconds(1))
        #expect(bench.events(listener).isEmpty)
    }

    @Test func `answers requests that come at once in their order`() throws {
        var (bench, _, session) = try bench()
        let requests = [10, 20, 30].map { HTTPRequest.put("/characteristics", json: body(item(52, "\"value\":\($0)"))) }
        try bench.send(
            requests.flatMap { $0.encoded(host: "lamp") } + HTTPRequest.get("/characteristics?id=1.52").encoded(host: "lamp"), on: session)
        let answers = bench.clients[session]?.responses.suffix(4).map { $0 } ?? []
        #expect(answers.map(\.status) == [204, 204, 204, 200])
        #expect(answers.last?.body == Array(body(item(52, "\"value\":30")).utf8))
    }

    @Test func `a forged frame ends the connection`() throws {
        var (bench, _, session) = try bench()
        try bench.perform(bench.server.received([3, 0] + [UInt8](repeating: 7, count: 19), on: session, now: bench.now))
        #expect(bench.clients[session]?.isClosed == true)
    }

    @Test func `rubbish before a session is answered with 400 and ends the connection`() throws {
        var bench = try AccessoryBench()
        let connection = try bench.connect()
        try bench.send(Array("HELLO\r\n\r\n".utf8), on: connection)
        #expect(bench.clients[connection]?.responses.map(\.status) == [400])
        #expect(bench.clients[connection]?.isClosed == true)
    }

    @Test func `a request in two pieces is waited for, or refused where that is its manner`() throws {
        for isStrict in [false, true] {
            var manners = ReferenceManners()
            manners.traits.wantsWholeRequests = isStrict
            var bench = try AccessoryBench(manners: manners)
            let session = try bench.session(try bench.pair())
            let request = HTTPRequest.put("/characteristics", json: body(item(51, "\"value\":1"))).encoded(host: "lamp")
            bench.clients[session]?.responses = []
            try bench.send(Array(request.prefix(60)), on: session)
            #expect(bench.clients[session]?.isClosed == isStrict)
            if !isStrict { try bench.send(Array(request.dropFirst(60)), on: session) }
            #expect(bench.clients[session]?.responses.map(\.status) == [isStrict ? 400 : 204])
        }
    }

    @Test func `has seventeen places, and those idle for a minute make room`() throws {
        var (bench, record, first) = try bench()
        for _ in 0..<15 { _ = try bench.session(record) }
        #expect(bench.server.acceptsConnections)
        let last = try bench.session(record)
        #expect(!bench.server.acceptsConnections)
        try bench.pass(.seconds(59))
        _ = try bench.get("/accessories", on: last)
        try bench.pass(.seconds(1))
        #expect(bench.clients[first]?.isClosed == true && bench.clients[last]?.isClosed == false)
        #expect(bench.server.acceptsConnections)
    }

    @Test func `keeps an idle connection for ever while there is room`() throws {
        var (bench, _, session) = try bench()
        try bench.pass(.seconds(100_000))
        #expect(bench.clients[session]?.isClosed == false)
        #expect(bench.server.nextDeadline == nil)
    }
}

@Suite struct `What an accessory keeps` {
    @Test func `comes back as it was, and shows no secret`() throws {
        var bench = try AccessoryBench()
        _ = try bench.pair()
        let folder = try TemporaryFolder()
        let store = AccessoryStore(folder: folder.path + "/state")
        #expect(try store.load() == nil)
        try store.save(bench.server.identity)
        #expect(try store.load() == bench.server.identity)
        #expect(!"\(bench.server.identity) \(String(reflecting: bench.server.identity))".contains("031-45"))
    }

    @Test func `the configuration number goes round within what HAP allows`() {
        var identity = AccessoryIdentity.random()
        identity.configurationNumber = 65534
        identity.bumpConfigurationNumber()
        #expect(identity.configurationNumber == 65535)
        identity.bumpConfigurationNumber()
        #expect(identity.configurationNumber == 1)
    }
}
