import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The commands that find lamps, with lamps that announce themselves on the loopback.
@Suite(.serialized, .timeLimit(.minutes(4))) struct NetworkCommandTests {
    private struct Finding: Decodable {
        var name: String
        var model: String?
        var id: String?
        var paired: Bool
        var pairing: String?
        var category: Int?
        var address: String?
    }

    /// A search takes what answers within seconds; on a busy machine a lamp may be late, and the next search sees it.
    private func find(_ id: String, in house: House) async throws -> Finding? {
        try await eventually("\(id) was discovered") {
            let output = try await house.command("discover", "--json").output
            return output.split(separator: "\n").compactMap { try? JSONDecoder().decode(Finding.self, from: Data($0.utf8)) }.first {
                $0.id == id
            }
        }
    }

    /// Runs a command until its search has seen what it looks for.
    private func search(
        _ house: House, _ arguments: String..., input: String, until isSeen: (House.Outcome) -> Bool = { $0.ending == .exited(0) }
    ) async throws -> House.Outcome {
        var last: House.Outcome?
        return try await eventually("\(arguments) found its lamp, but \(last?.error ?? "")") {
            let outcome = try await house.command(arguments, input: input)
            last = outcome
            return isSeen(outcome) ? outcome : nil
        }
    }

    @Test func `a newcomer sees the lamps that are there, and which of them is paired`() async throws {
        let (house, lamp) = (try await House(), try await HandKitLamp.start(isAnnounced: true, options: ["--name", "Newcomer"]))
        let finding = try #require(try await find(lamp.id, in: house))
        #expect(finding.name == "Newcomer" && finding.model == "HandKit Lamp" && finding.category == 5)
        #expect(finding.address == "127.0.0.1:\(lamp.port)" && !finding.paired && finding.pairing == nil)
        try await house.pair(lamp)
        let paired = try #require(try await find(lamp.id, in: house))
        #expect(paired.paired && paired.pairing == "desk")
        #expect(try await house.command("discover").output.contains("Newcomer"))
    }

    @Test func `a lamp is paired by its name, and by its id in whatever case`() async throws {
        let house = try await House()
        let first = try await HandKitLamp.start(isAnnounced: true, options: ["--name", "Pair By Name"])
        let second = try await HandKitLamp.start(isAnnounced: true, options: ["--name", "Pair By Id"])
        let byName = try await search(house, "pair", "one", "--lamp", "pair by name", "--code-stdin", input: HandKitLamp.code)
        #expect(byName.output.contains("paired 'one' at 127.0.0.1:\(first.port)"), "\(byName.error)")
        let byID = try await search(house, "pair", "two", "--lamp", second.id.lowercased(), "--code-stdin", input: HandKitLamp.code)
        #expect(byID.output.contains("paired 'two' at 127.0.0.1:\(second.port)"), "\(byID.error)")
    }

    @Test func `the text of a QR code finds its lamp among others and pairs with it`() async throws {
        let house = try await House()
        let others = [try await HandKitLamp.start(isAnnounced: true), try await HandKitLamp.start(isAnnounced: true)]
        let lamp = try await HandKitLamp.start(isAnnounced: true)
        let payload = try await lamp.payload()
        let outcome = try await search(house, "pair", "desk", "--code-stdin", input: payload + "\n")
        #expect(outcome.output.contains("paired 'desk' at 127.0.0.1:\(lamp.port)"), "\(outcome.error)")
        #expect(others.allSatisfy { !$0.events.contains { $0.event == "paired" } })
    }

    @Test func `a lamp that is not there is said not to be, with those that are`() async throws {
        let (house, lamp) = (try await House(), try await HandKitLamp.start(isAnnounced: true))
        let outcome = try await search(house, "pair", "desk", "--lamp", "No Such Lamp", "--code-stdin", input: HandKitLamp.code) {
            $0.error.contains(lamp.id)
        }
        #expect(outcome.ending == .exited(1))
        #expect(outcome.error.contains("'No Such Lamp' was not found on the network"))
    }

    @Test func `a lamp blinks when asked, before anybody is paired with it and after`() async throws {
        let (house, lamp) = (try await House(), try await HandKitLamp.start())
        #expect(try await house.command("identify", "127.0.0.1:\(lamp.port)").ending == .exited(0))
        try await eventually("it blinked") { lamp.events.count { $0.event == "identify" } == 1 }
        try await house.pair(lamp)
        let refused = try await house.command("identify", "127.0.0.1:\(lamp.port)")
        #expect(refused.ending == .exited(1) && refused.error.contains("paired already"))
        #expect(try await house.command("identify", "desk").ending == .exited(0))
        try await eventually("it blinked again") { lamp.events.count { $0.event == "identify" } == 2 }
    }

    @Test func `a lamp is watched, and a hand on it is seen`() async throws {
        let (house, lamp) = (try await House(), try await HandKitLamp.start())
        try await house.pair(lamp)
        let watch = try house.start(["watch", "desk", "--json"])
        try await watch.line("how it is") { $0 == #"{"brightness":40,"state":"OFF"}"# }
        lamp.toggle()
        try await watch.line("that it was switched") { $0 == #"{"brightness":40,"state":"ON"}"# }
        _ = try await lamp.stop()
        #expect(try await watch.wait() == .exited(1))
    }

    @Test func `a lamp that has moved to another port is found by every command, and stays found`() async throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let house = try await House()
        let first = try await HandKitLamp.start(folder: folder, isAnnounced: true)
        try await house.pair(first)
        _ = try await first.stop()
        let second = try await HandKitLamp.start(quirks: ["new-port"], folder: folder, isAnnounced: true)
        try #require(second.port != first.port)
        try await eventually("the lamp was found where it moved") { try await house.command("lamps").output.contains("off") }
        #expect(try await house.command("get", "desk").output == "off\n")
        #expect(try await house.command("lamps").output.contains("127.0.0.1:\(second.port)"))
    }

    @Test func `without a look at the network a lamp is paired by its address, and it is said how`() async throws {
        let (house, lamp) = (try await House(), try await HandKitLamp.start())
        let environment = ["HANDKIT_BRIDGE_DISCOVERY": "false"]
        let lost = try house.start(["pair", "desk", "--code-stdin"], input: HandKitLamp.code, environment: environment)
        #expect(try await lost.wait() == .exited(1))
        #expect(lost.errorLines.first?.contains("--host ADDRESS:PORT") == true)
        let found = try house.start(
            ["pair", "desk", "--host", "127.0.0.1:\(lamp.port)", "--code-stdin"], input: HandKitLamp.code, environment: environment)
        #expect(try await found.wait() == .exited(0))
    }

    @Test func `the controllers and bulbs behind a pairing are listed`() async throws {
        let (house, lamp) = (try await House(), try await HandKitLamp.start(options: ["--lamps", "3"]))
        try await house.pair(lamp)
        #expect(try await house.command("bulbs", "desk", "--json").output.split(separator: "\n").count == 3)
        let controllers = try await house.command("pairings", "desk").output
        #expect(controllers.contains("yes") && controllers.contains("this one"))
    }

    // MARK: Moving pairings

    @Test func `a pairing goes to aiohomekit and works there, and one of aiohomekit comes here and works`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        try await house.pair(lamp)
        let file = "\(house.folder)/out.json"
        #expect(try await house.command("export", file, "desk").ending == .exited(0))
        #expect(try mode(of: file) == 0o600)
        let reader = try ChildProcess(
            try Peers.python(),
            ["\(Paths.root)/Tests/Peers/aiohomekit_controller.py", "set", "--pairings", file, "--alias", "desk", "--on"])
        #expect(try await reader.wait(within: .seconds(60)) == .exited(0), "\(reader.errorLines.suffix(3))")
        #expect(lamp.writes.last?.on == true)

        let other = try await HAPLamp.start(isAnnounced: true)
        let theirs = "\(house.folder)/theirs.json"
        let pairer = try ChildProcess(
            try Peers.python(),
            [
                "\(Paths.root)/Tests/Peers/aiohomekit_controller.py", "pair", "--pairings", theirs, "--alias", "Living Room!", "--id",
                other.id,
                "--code", HAPLamp.code,
            ])
        #expect(try await pairer.wait(within: .seconds(60)) == .exited(0), "\(pairer.errorLines.suffix(3))")
        let imported = try await house.command("import", theirs)
        #expect(imported.output == "imported 1 pairing: living-room\n", "\(imported.error)")
        #expect(try await house.command("set", "living-room", "30").output == "on 30%\n")
        #expect(try await house.command("import", theirs).error.contains("there is a pairing named 'living-room' already"))
        #expect(try await house.command("export", theirs).error.contains("exists"))
    }

    private func mode(of path: String) throws -> mode_t {
        var status = stat()
        guard stat(path, &status) == 0 else { throw SystemCallFailure("stat") }
        return status.st_mode & 0o777
    }
}
