import Cryptography
import Testing

@testable import HomeKit

@Suite struct `An accessory being paired` {
    typealias Code = PairingErrorCode

    private func m1(method: UInt8 = 0) -> TLV8 { TLV8((.state, [1]), (.method, [method])) }

    private func error(_ message: TLV8) -> Code? { message[.error]?.first.flatMap(Code.init(rawValue:)) }

    @Test func `keeps the controller before it answers`() throws {
        var bench = try AccessoryBench()
        let record = try bench.pair()
        #expect(record.accessoryID == bench.server.identity.id)
        #expect(bench.saved.last?.controllers.all.map(\.id) == [record.controllerID])
        #expect(bench.saved.last?.controllers.all.first?.isAdmin == true)
        #expect(bench.reports == [.paired(controller: record.controllerID)])
    }

    @Test func `the controller is on the disk before the last answer goes out`() throws {
        var responder = PairSetupResponder()
        let identity = AccessoryIdentity.random(setupCode: try SetupCode(AccessoryBench.code))
        var setup = PairSetup(code: identity.setupCode, method: .withAuthentication, controller: .random())
        var message = setup.start()
        var outcomes: [String] = []
        while outcomes.last != "paired" {
            switch responder.received(message, on: 1, of: identity) {
            case .answer(let answer):
                outcomes.append("answer")
                guard case .send(let next) = try setup.received(answer.encoded) else { break }
                message = next
            case .paired(let answer, _):
                outcomes.append("paired")
                guard case .paired(let id, _) = try setup.received(answer.encoded) else { break }
                #expect(id == identity.id)
            case .malformed, .wrongCode: outcomes.append("refused")
            }
            try #require(outcomes.count < 10)
        }
        #expect(outcomes.suffix(3) == ["answer", "answer", "paired"])
    }

    @Test func `counts wrong codes, and after a hundred takes none at all`() throws {
        var bench = try AccessoryBench()
        #expect(throws: HAPError.wrongSetupCode) { try bench.pair(code: "111-22-333") }
        #expect(bench.saved.map(\.failedTries) == [1])
        #expect(bench.reports == [.wrongCode(tries: 1)])

        var identity = bench.server.identity
        identity.failedTries = 100
        var responder = PairSetupResponder()
        guard case .answer(let answer) = responder.received(m1().encoded, on: 1, of: identity) else {
            Issue.record("no answer")
            return
        }
        #expect(error(answer) == .maximumTries)
    }

    @Test func `pairs with one controller at a time, until that one leaves`() throws {
        var bench = try AccessoryBench()
        let (first, second) = (try bench.connect(), try bench.connect())
        #expect(error(try bench.pairing("/pair-setup", m1(), on: first)) == nil)
        #expect(error(try bench.pairing("/pair-setup", m1(), on: second)) == .busy)
        // The same one may begin again.
        #expect(error(try bench.pairing("/pair-setup", m1(), on: first)) == nil)
        bench.disconnect(first)
        #expect(error(try bench.pairing("/pair-setup", m1(), on: second)) == nil)
    }

    @Test func `is not to be had once it is paired`() throws {
        var bench = try AccessoryBench()
        _ = try bench.pair()
        let connection = try bench.connect()
        let answer = try bench.pairing("/pair-setup", m1(), on: connection)
        #expect(answer[.state] == [2] && error(answer) == .unavailable)
    }

    @Test func `answers steps out of order with an error, and rubbish with 400`() throws {
        var bench = try AccessoryBench()
        let connection = try bench.connect()
        #expect(error(try bench.pairing("/pair-setup", TLV8((.state, [3]), (.proof, [1])), on: connection)) == .unknown)
        #expect(error(try bench.pairing("/pair-setup", TLV8((.state, [5])), on: connection)) == .unknown)
        for body: [UInt8] in [[], [6], [6, 1, 9], m1(method: 2).encoded, TLV8((.state, [1])).encoded] {
            #expect(try bench.ask(.post("/pair-setup", pairing: body), on: connection).status == 400)
        }
    }

    @Test func `a forged last message is no pairing`() throws {
        var bench = try AccessoryBench()
        let connection = try bench.connect()
        var setup = PairSetup(code: try SetupCode(AccessoryBench.code), method: .plain, controller: .random())
        var message = setup.start()
        while setup.step != .pairSetupExchange {
            let answer = try bench.ask(.post("/pair-setup", pairing: message), on: connection)
            guard case .send(let next) = try setup.received(answer.body) else { break }
            message = next
        }
        message[message.count - 1] ^= 1
        let answer = try TLV8(decoding: try bench.ask(.post("/pair-setup", pairing: message), on: connection).body)
        #expect(answer[.state] == [6] && error(answer) == .authentication)
        #expect(bench.saved.isEmpty && bench.server.identity.controllers.isEmpty)
    }

    @Test func `verifies whom it knows and nobody else`() throws {
        var bench = try AccessoryBench()
        let record = try bench.pair()
        let connection = try bench.session(record)
        #expect(try bench.get("/accessories", on: connection).status == 200)

        let stranger = PairingRecord(
            accessoryID: record.accessoryID, accessoryKey: record.accessoryKey, controller: .random(), address: record.address)
        let other = try bench.connect()
        #expect(throws: HAPError.pairingLost) { try bench.verify(stranger, on: other) }
        #expect(try bench.get("/accessories", on: other).status == 470)
        // And the right one may still come on the same connection.
        try bench.verify(record, on: other)
    }

    @Test(arguments: [[UInt8]([2]), [6]]) func `refuses every method in pair-verify, as Apple's does`(method: [UInt8]) throws {
        var bench = try AccessoryBench()
        let connection = try bench.connect()
        let key = try X25519PrivateKey().publicKey
        let message = TLV8((.state, [1]), (.method, method), (.publicKey, key))
        let answer = try bench.ask(.post("/pair-verify", pairing: message.encoded), on: connection)
        #expect(answer.status == 400 && answer.body.isEmpty)
    }

    @Test func `an all-zero key is refused`() throws {
        var bench = try AccessoryBench()
        let connection = try bench.connect()
        let message = TLV8((.state, [1]), (.publicKey, [UInt8](repeating: 0, count: 32)))
        #expect(try bench.ask(.post("/pair-verify", pairing: message.encoded), on: connection).status == 400)
    }

    // MARK: Controllers

    private func add(_ controller: ControllerIdentity, admin: Bool) -> TLV8 {
        TLV8(
            (.state, [1]), (.method, [3]), (.identifier, Array(controller.id.utf8)), (.publicKey, controller.key.publicKey),
            (.permissions, [admin ? 1 : 0]))
    }

    private func remove(_ id: String) -> TLV8 { TLV8((.state, [1]), (.method, [4]), (.identifier, Array(id.utf8))) }

    private func record(_ controller: ControllerIdentity, like record: PairingRecord) -> PairingRecord {
        PairingRecord(
            accessoryID: record.accessoryID, accessoryKey: record.accessoryKey, controller: controller, address: record.address)
    }

    @Test func `an admin adds, lists and removes controllers, and others may not`() throws {
        var bench = try AccessoryBench()
        let admin = try bench.pair()
        let session = try bench.session(admin)
        let guest = ControllerIdentity.random()
        #expect(error(try bench.pairing("/pairings", add(guest, admin: false), on: session)) == nil)
        let list = try bench.pairing("/pairings", TLV8((.state, [1]), (.method, [5])), on: session)
        #expect(list.items.map(\.type) == [6, 1, 3, 11, 255, 1, 3, 11])
        #expect(list.items[5].value == Array(guest.id.utf8) && list.items[7].value == [0])

        let guestSession = try bench.session(record(guest, like: admin))
        #expect(error(try bench.pairing("/pairings", TLV8((.state, [1]), (.method, [5])), on: guestSession)) == .authentication)
        #expect(error(try bench.pairing("/pairings", remove(admin.controllerID), on: guestSession)) == .authentication)
        // It may use the lamp all the same.
        #expect(try bench.put("{\"characteristics\":[{\"aid\":1,\"iid\":51,\"value\":1}]}", on: guestSession).status == 204)

        // The same name with another key is someone else.
        let impostor = TLV8(
            (.state, [1]), (.method, [3]), (.identifier, Array(guest.id.utf8)), (.publicKey, try Ed25519PrivateKey().publicKey),
            (.permissions, [1]))
        #expect(error(try bench.pairing("/pairings", impostor, on: session)) == .unknown)

        #expect(error(try bench.pairing("/pairings", remove(guest.id), on: session)) == nil)
        #expect(bench.clients[guestSession]?.isClosed == true)
        #expect(bench.clients[session]?.isClosed == false)
        #expect(error(try bench.pairing("/pairings", remove("nobody"), on: session)) == nil)
    }

    @Test func `with the last admin everyone goes, and it can be paired again`() throws {
        var bench = try AccessoryBench()
        let admin = try bench.pair()
        let session = try bench.session(admin)
        let guest = ControllerIdentity.random()
        _ = try bench.pairing("/pairings", add(guest, admin: false), on: session)
        let guestSession = try bench.session(record(guest, like: admin))

        #expect(error(try bench.pairing("/pairings", remove(admin.controllerID), on: session)) == nil)
        #expect(bench.clients[session]?.isClosed == true && bench.clients[guestSession]?.isClosed == true)
        #expect(bench.saved.last?.controllers.isEmpty == true)
        #expect(
            bench.reports.suffix(3) == [.controllerRemoved(admin.controllerID), .controllerRemoved(guest.id), .unpaired])
        _ = try bench.pair()
    }

    @Test func `has room for sixteen controllers`() throws {
        var controllers = Controllers()
        for index in 0..<16 { #expect(controllers.add(PairedController(id: "\(index)", key: [], isAdmin: true)) == nil) }
        #expect(controllers.add(PairedController(id: "16", key: [], isAdmin: true)) == .maximumPeers)
        #expect(controllers.add(PairedController(id: "3", key: [], isAdmin: false)) == nil)
        #expect(controllers["3"]?.isAdmin == false)
    }

    @Test func `identify works without a pairing until there is one`() throws {
        var bench = try AccessoryBench()
        let connection = try bench.connect()
        #expect(try bench.ask(.post("/identify", pairing: []), on: connection).status == 204)
        #expect(bench.reports == [.identify])
        _ = try bench.pair()
        let answer = try bench.ask(.post("/identify", pairing: []), on: connection)
        #expect(answer.status == 400 && answer.body == Array("{\"status\":-70401}".utf8))
    }
}
