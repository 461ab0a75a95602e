import FoundationEssentials
import HomeKit
import TestSupport
import Testing

/// The lamp as a program, with our own controller before it.
@Suite(.timeLimit(.minutes(2))) struct `The lamp as a program` {
    private func address(_ lamp: HandKitLamp) -> HAPAddress { HAPAddress(host: "127.0.0.1", port: lamp.port) }

    private func pair(_ lamp: HandKitLamp) async throws -> PairingRecord {
        try await HAPPairing.pair(at: [address(lamp)], code: try SetupCode(HandKitLamp.code))
    }

    private func bulb(_ session: HAPSession) async throws -> (on: CharacteristicID, brightness: CharacteristicID) {
        let bulb = try #require(Lightbulb.all(in: try await session.accessories()).first)
        return (bulb.on, try #require(bulb.brightness?.id))
    }

    @Test func `is paired, switched, dimmed, watched and unpaired`() async throws {
        let lamp = try await HandKitLamp.start()
        let record = try await pair(lamp)
        #expect(record.accessoryID == lamp.id)
        let session = try await HAPSession.open(record)
        let (on, brightness) = try await bulb(session)
        let results = try await session.write([
            CharacteristicWrite(on, .bool(true)), CharacteristicWrite(brightness, .integer(57)),
        ])
        #expect(results.map(\.status) == [.success, .success])
        try await eventually("the lamp told who set it") {
            lamp.events.contains { $0.event == "set" && $0.on == true && $0.brightness == 57 && $0.by == record.controllerID }
        }
        _ = try await session.subscribe(to: [on, brightness])
        lamp.toggle()
        var events = session.events.makeAsyncIterator()
        let event = try #require(await events.next())
        #expect(event.id == on && event.value?.bool == false)
        #expect(lamp.events.contains { $0.event == "local" && $0.on == false && $0.brightness == 57 })
        await session.close()

        try await HAPPairing.unpair(record)
        try await eventually("the lamp told that it is unpaired") { lamp.events.last?.event == "unpaired" }
        await #expect(throws: HAPError.pairingLost) { try await HAPSession.open(record) }
        #expect(try await lamp.stop() == .exited(0))
    }

    @Test func `stays who it is and paired when it is started again`() async throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let first = try await HandKitLamp.start(folder: folder)
        let record = try await pair(first)
        #expect(try await first.stop() == .exited(0))
        let second = try await HandKitLamp.start(folder: folder)
        #expect(second.id == first.id)
        #expect(second.events.first?.paired == true)
        let session = try await HAPSession.open(record, at: [address(second)])
        #expect(try await session.accessories().count == 1)
    }

    @Test func `a wrong code is refused, counted and told of`() async throws {
        let lamp = try await HandKitLamp.start()
        await #expect(throws: HAPError.wrongSetupCode) {
            try await HAPPairing.pair(at: [address(lamp)], code: try SetupCode("111-22-333"))
        }
        try await eventually("the lamp told of the wrong code") { lamp.events.contains { $0.event == "wrong-code" && $0.tries == 1 } }
        _ = try await pair(lamp)
    }

    @Test func `pairs again and again, where only Apple's reading of leading zeros counts`() async throws {
        let lamp = try await HandKitLamp.start(quirks: ["leading-zeros=apple"])
        for _ in 0..<40 {
            let record = try await pair(lamp)
            try await HAPPairing.unpair(record)
        }
        #expect(!lamp.events.contains { $0.event == "wrong-code" })
    }

    @Test func `is many lamps where that is asked for`() async throws {
        let lamp = try await HandKitLamp.start(options: ["--lamps", "150"])
        let session = try await HAPSession.open(try await pair(lamp))
        let bulbs = Lightbulb.all(in: try await session.accessories())
        #expect(bulbs.count == 150)
        let last = try #require(bulbs.last)
        #expect(try await session.write([CharacteristicWrite(last.on, .bool(true))]).map(\.status) == [.success])
        #expect(try await session.read([last.on, bulbs[0].on]).map { $0.value?.bool } == [true, false])
    }

    @Test func `handkit-bridge pairs with it, dims it, reads it and unpairs`() async throws {
        let lamp = try await HandKitLamp.start()
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        try Paths.write("bridge:\n  state: \(folder)/bridge\n", to: "\(folder)/handkit.yaml")
        func bridge(_ arguments: String..., input: String = "") async throws -> String {
            let program = try ChildProcess(
                Paths.program("handkit-bridge"), arguments + ["--config", "\(folder)/handkit.yaml"], input: Array(input.utf8))
            let ending = try await program.wait()
            try #require(ending == .exited(0), "\(arguments): \(program.errorLines)")
            return program.lines.joined(separator: "\n")
        }
        _ = try await bridge("pair", "desk", "--host", "127.0.0.1:\(lamp.port)", "--code-stdin", input: HandKitLamp.code)
        #expect(try await bridge("set", "desk", "57", "--json").contains("\"brightness\":57"))
        #expect(lamp.events.contains { $0.event == "set" && $0.on == true && $0.brightness == 57 })
        #expect(try await bridge("get", "desk", "--json").contains("\"state\":\"ON\""))
        _ = try await bridge("unpair", "desk")
        try await eventually("the lamp told that it is unpaired") { lamp.events.last?.event == "unpaired" }
    }

    // MARK: An independent controller

    private struct Told: Decodable {
        struct Announced: Decodable, Equatable {
            var name: String
            var model: String
            var category: Int
            var unpaired: Bool
        }

        struct State: Decodable, Equatable {
            var on: Int?
            var brightness: Int?
        }

        var announced: Announced
        var before: State
        var write: [String: Int]
        var after: State
        var unknown: [String: Int]
        var refused: State
        var event: State
        var pairings: [String]
        var identify: Bool
        var unpaired: Bool
    }

    @Test func `aiohomekit finds it, pairs, reads, writes, hears of changes, lists and unpairs`() async throws {
        let lamp = try await HandKitLamp.start(isAnnounced: true, options: ["--name", "Lamp of aiohomekit"])
        let driver = try ChildProcess(
            try Peers.python(),
            ["\(Paths.root)/Tests/Peers/drive_lamp.py", "--id", lamp.id, "--code", HandKitLamp.code, "--process", "\(lamp.processID)"])
        let ending = try await driver.wait(within: .seconds(60))
        try #require(ending == .exited(0), "\(driver.errorLines.suffix(5))")
        let told = try JSONDecoder().decode(Told.self, from: Data(driver.output))
        #expect(told.announced == .init(name: "Lamp of aiohomekit", model: "HandKit Lamp", category: 5, unpaired: true))
        #expect(told.before == .init(on: 0, brightness: 40))
        #expect(told.write.isEmpty)
        #expect(told.after == .init(on: 1, brightness: 57))
        #expect(told.unknown == ["1.4242": -70409])
        #expect(told.refused == .init(brightness: -70410))
        #expect(told.event == .init(on: 0))
        #expect(told.pairings == ["admin"])
        #expect(told.identify && told.unpaired)
        let happened = lamp.events.map(\.event)
        #expect(happened == ["ready", "paired", "set", "local", "identify", "controller-removed", "unpaired"])
    }
}
