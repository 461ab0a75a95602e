import Glibc
import TestSupport
import Testing

@testable import HomeKit

/// Against a real lamp: HAP-python's.
@Suite(.timeLimit(.minutes(2))) struct `A real lamp` {
    let lamp: HAPLamp
    var address: HAPAddress { HAPAddress(host: lamp.host, port: lamp.port) }

    init() async throws { lamp = try await HAPLamp.start() }

    private func pair() async throws -> PairingRecord {
        try await HAPPairing.pair(at: [address], code: try SetupCode(HAPLamp.code))
    }

    private func bulb(_ session: HAPSession) async throws -> Lightbulb {
        try #require(Lightbulb.all(in: try await session.accessories()).first)
    }

    @Test func `is paired, found, read and written`() async throws {
        let record = try await pair()
        #expect(record.accessoryID == lamp.id)
        #expect(record.address == address)
        try await eventually("the lamp told of the pairing") { lamp.events.contains { $0.event == "paired" } }

        let session = try await HAPSession.open(record)
        let bulb = try await bulb(session)
        #expect(bulb.name == "HandKit bulb")
        #expect(bulb.manufacturer == "HandKit tests")
        let brightness = try #require(bulb.brightness)
        #expect(brightness.scale == BrightnessScale(minimum: 0, maximum: 100, step: 1))

        var readings = try await session.read([brightness.id, bulb.on])
        #expect(readings.map(\.id) == [brightness.id, bulb.on])
        #expect(readings[0].value == .integer(40))
        #expect(readings[1].value?.bool == false)

        let results = try await session.write([
            CharacteristicWrite(bulb.on, .bool(true)), CharacteristicWrite(brightness.id, .integer(57)),
        ])
        #expect(results.map(\.status) == [.success, .success])
        try await eventually("the lamp was set") { lamp.writes.contains { $0.on == true && $0.brightness == 57 } }
        readings = try await session.read([bulb.on, brightness.id])
        #expect(readings[0].value?.bool == true)
        #expect(readings[1].value == .integer(57))
        await session.close()
        #expect(await session.end == .closed(errno: nil))
    }

    @Test func `refuses a wrong code, and takes the right one afterwards`() async throws {
        let wrong = try SetupCode("111-22-333")
        await #expect(throws: HAPError.wrongSetupCode) { try await HAPPairing.pair(at: [address], code: wrong) }
        #expect(try await pair().accessoryID == lamp.id)
    }

    @Test func `refuses a second pairing`() async throws {
        _ = try await pair()
        await #expect(throws: HAPError.alreadyPaired) { try await pair() }
    }

    @Test func `locks pair-setup for a while after too many wrong codes`() async throws {
        let wrong = try SetupCode("111-22-333")
        for _ in 0..<5 {
            await #expect(throws: HAPError.wrongSetupCode) { try await HAPPairing.pair(at: [address], code: wrong) }
        }
        await #expect(throws: HAPError.busy) { try await pair() }
    }

    @Test func `tells of a hand on its switch`() async throws {
        let session = try await HAPSession.open(try await pair())
        let bulb = try await bulb(session)
        let brightness = try #require(bulb.brightness)
        #expect(bulb.onCanNotify && brightness.canNotify)
        let results = try await session.subscribe(to: [bulb.on, brightness.id])
        #expect(results.map(\.status) == [.success, .success])

        lamp.toggle()
        var events = session.events.makeAsyncIterator()
        let event = await events.next()
        #expect(event?.id == bulb.on)
        #expect(event?.value?.bool == true)
        #expect(session.missedEvents == 0)

        await session.close()
        #expect(await events.next() == nil)
    }

    @Test func `answers requests of several tasks each with its own`() async throws {
        let session = try await HAPSession.open(try await pair())
        let bulb = try await bulb(session)
        let brightness = try #require(bulb.brightness)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask {
                    let id = index.isMultiple(of: 2) ? bulb.on : brightness.id
                    let readings = try await session.read([id])
                    #expect(readings.map(\.id) == [id])
                }
            }
            try await group.waitForAll()
        }
        #expect(await session.end == nil)
    }

    @Test func `says which characteristic it does not have`() async throws {
        let session = try await HAPSession.open(try await pair())
        let bulb = try await bulb(session)
        let nothing = CharacteristicID(accessory: 1, instance: 4711)
        let readings = try await session.read([bulb.on, nothing])
        #expect(readings[0].value?.bool == false)
        #expect(readings[1].result == .failure(CharacteristicFailure(status: .cannotCommunicate)))
    }

    @Test func `forgets us when asked, and can be paired again`() async throws {
        let record = try await pair()
        try await HAPPairing.unpair(record)
        try await eventually("the lamp forgot us") { lamp.events.contains { $0.event == "unpaired" } }
        await #expect(throws: HAPError.pairingLost) { try await HAPSession.open(record) }
        let again = try await pair()
        #expect(again.controllerID != record.controllerID)
    }

    @Test func `ends a session by dying, and takes a new one when it is back as the same`() async throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let first = try await HAPLamp.start(folder: folder)
        let record = try await HAPPairing.pair(
            at: [HAPAddress(host: first.host, port: first.port)], code: try SetupCode(HAPLamp.code))
        let session = try await HAPSession.open(record)
        try await first.stop()
        for await _ in session.events {}
        #expect(await session.end == .closed(errno: 0))
        await #expect(throws: HAPError.closed(errno: 0)) { try await session.accessories() }
        await #expect(throws: HAPError.connectFailed(host: "127.0.0.1", port: first.port, errno: ECONNREFUSED)) {
            try await HAPSession.open(record)
        }

        let second = try await HAPLamp.start(port: first.port, folder: folder)
        #expect(second.id == first.id)
        let again = try await HAPSession.open(record)
        #expect(try await again.accessories().count == 1)
    }

    @Test func `that hangs ends the session at the deadline, and no late answer is ever taken`() async throws {
        let record = try await pair()
        var timeouts = HAPTimeouts()
        timeouts.request = .milliseconds(200)
        let session = try await HAPSession.open(record, timeouts: timeouts)
        let bulb = try await bulb(session)
        lamp.freeze(true)
        await #expect(throws: HAPError.timedOut(.read)) { try await session.read([bulb.on]) }
        lamp.freeze(false)
        await #expect(throws: HAPError.timedOut(.read)) { try await session.read([bulb.on]) }
        #expect(await session.end == .timedOut(.read))
        let again = try await HAPSession.open(record)
        #expect(try await again.read([bulb.on])[0].value?.bool == false)
    }

    @Test func `a cancelled request takes the session with it`() async throws {
        let session = try await HAPSession.open(try await pair())
        let bulb = try await bulb(session)
        lamp.freeze(true)
        let reading = Task { try await session.read([bulb.on]) }
        let waiting = Task { try await session.read([bulb.on]) }
        try await Task.sleep(for: .milliseconds(50))
        reading.cancel()
        await #expect(throws: HAPError.self) { try await reading.value }
        waiting.cancel()
        await #expect(throws: HAPError.self) { try await waiting.value }
        lamp.freeze(false)
        try await eventually("the session ended") { await session.end != nil }
    }

    @Test func `hangs up and ends its events when nobody holds the session any more`() async throws {
        let record = try await pair()
        let events = try await HAPSession.open(record).events
        for await event in events { Issue.record("an event nobody asked for: \(event)") }
    }

    @Test func `another lamp at the address is told from the one that was paired`() async throws {
        let record = try await pair()
        let other = try await HAPLamp.start()
        _ = try await HAPPairing.pair(at: [HAPAddress(host: other.host, port: other.port)], code: try SetupCode(HAPLamp.code))
        await #expect(throws: HAPError.wrongAccessory(expected: lamp.id, found: other.id)) {
            try await HAPSession.open(record, at: [HAPAddress(host: other.host, port: other.port)])
        }
    }

    @Test func `is reached by name too`() async throws {
        let record = try await HAPPairing.pair(at: [HAPAddress(host: "localhost", port: lamp.port)], code: try SetupCode(HAPLamp.code))
        let session = try await HAPSession.open(record)
        #expect(try await session.accessories().count == 1)
    }

    @Test func `is paired, used and unpaired twenty times without one failure by chance`() async throws {
        for _ in 0..<20 {
            let record = try await pair()
            let session = try await HAPSession.open(record)
            _ = try await bulb(session)
            await session.close()
            try await HAPPairing.unpair(record)
        }
    }
}
