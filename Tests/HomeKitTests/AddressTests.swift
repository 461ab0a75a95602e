import Glibc
import HomeKit
import TestSupport
import Testing

/// Several addresses of which one is right, with real lamps behind them.
@Suite(.timeLimit(.minutes(3))) struct `An accessory of several addresses` {
    private func address(_ lamp: HAPLamp) -> HAPAddress { HAPAddress(host: lamp.host, port: lamp.port) }

    private func pair(_ lamp: HAPLamp) async throws -> PairingRecord {
        try await HAPPairing.pair(at: [address(lamp)], code: try SetupCode(HAPLamp.code))
    }

    @Test func `is found behind one where nobody answers, one that does not exist and one of another accessory`() async throws {
        let (lamp, stranger, server) = (try await HAPLamp.start(), try await HAPLamp.start(), try Listener(answering: nil))
        let record = try await pair(lamp)
        _ = try await pair(stranger)
        let wrong = [
            HAPAddress(host: "127.0.0.1", port: try freePort()), HAPAddress(host: "lamp.invalid", port: 1), address(stranger),
            HAPAddress(host: "127.0.0.1", port: server.port),
        ]
        let timeouts = HAPTimeouts(verify: .seconds(5))
        let session = try await HAPSession.open(record, at: wrong + [address(lamp)], timeouts: timeouts)
        #expect(session.address == address(lamp))
        #expect(try await session.accessories().count == 1)
        await #expect(throws: HAPError.wrongAccessory(expected: lamp.id, found: stranger.id)) {
            try await HAPSession.open(record, at: Array(wrong.prefix(3)))
        }
    }

    @Test func `is not waited for at an address that swallows everything, where there is another`() async throws {
        let lamp = try await HAPLamp.start()
        let record = try await pair(lamp)
        // TEST-NET-1: a network that must not exist (RFC 5737); the kernel may also refuse it at once.
        let nowhere = HAPAddress(host: "192.0.2.254", port: 9)
        let timeouts = HAPTimeouts(connect: .seconds(3600), connectAmongSeveral: .milliseconds(200))
        let session = try await HAPSession.open(record, at: [nowhere, address(lamp)], timeouts: timeouts)
        #expect(session.address == address(lamp))
    }

    @Test func `lists its controllers, takes another and lets it go`() async throws {
        let lamp = try await HAPLamp.start()
        let record = try await pair(lamp)
        let session = try await HAPSession.open(record)
        #expect(try await session.pairings().map(\.id).map { $0.lowercased() } == [record.controllerID.lowercased()])
        #expect(try await session.pairings().map(\.isAdministrator) == [true])
        let guest = ControllerPairing(
            id: "11111111-2222-3333-4444-555555555555", publicKey: [UInt8](repeating: 7, count: 32), isAdministrator: false)
        try await session.addPairing(guest)
        #expect(try await session.pairings().contains(guest))
        try await session.removePairing(of: guest.id)
        #expect(try await session.pairings().count == 1)
    }

    @Test func `takes a timed write, and one that asks for what came of it`() async throws {
        let lamp = try await HAPLamp.start()
        let session = try await HAPSession.open(try await pair(lamp))
        let bulb = try #require(Lightbulb.all(in: try await session.accessories()).first)
        #expect(try await session.write([CharacteristicWrite(bulb.on, .bool(true))], timed: true).map(\.status) == [.success])
        #expect(try await session.read([bulb.on]).first?.value?.bool == true)
        let identify = try #require(bulb.identify)
        #expect(try await session.write([CharacteristicWrite(identify, .bool(true))]).map(\.status) == [.success])
        try await eventually("the lamp was asked to show itself") { lamp.events.contains { $0.event == "identify" } }
    }
}
