import Glibc
import TestSupport
import Testing

/// The commands of the built program against a real lamp.
@Suite(.serialized) struct CommandTests {
    @Test func `a lamp is paired, read, set and unpaired`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        let host = "\(lamp.host):\(lamp.port)"
        let paired = try await house.command("pair", "desk", "--host", host, "--code-stdin", input: "031-45-154\n")
        #expect(paired.output == "paired 'desk' at \(host): off\n")
        #expect(paired.ending == .exited(0))

        #expect(try await house.command("set", "desk", "30").output == "on 30%\n")
        #expect(lamp.writes.last?.on == true)
        #expect(lamp.writes.last?.brightness == 30)
        #expect(try await house.command("get", "desk").output == "on 30%\n")
        #expect(try await house.command("set", "desk", "toggle").output == "off\n")
        #expect(try await house.command("set", "desk", "on").output == "on 30%\n")
        #expect(try await house.command("set", "desk", "0").output == "off\n")
        #expect(try await house.command("get", "desk", "--json").output == #"{"brightness":30,"state":"OFF"}"# + "\n")
        let list = try await house.command("lamps").output
        #expect(list.contains("desk") && list.contains(host) && list.contains("off"))

        #expect(try await house.command("unpair", "desk").output == "unpaired 'desk'\n")
        try await eventually("the lamp was unpaired") { lamp.events.contains { $0.event == "unpaired" } }
        #expect(try await house.command("get", "desk").ending == .exited(1))
    }

    @Test func `the code is read from a file too, and appears nowhere`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        try Paths.write("03145154\n", to: "\(house.folder)/code")
        let outcome = try await house.command(
            "pair", "desk", "--host", "\(lamp.host):\(lamp.port)", "--code-file", "\(house.folder)/code")
        #expect(outcome.ending == .exited(0))
        #expect(!(outcome.output + outcome.error).contains("154"))
    }

    @Test func `a wrong code pairs nothing and keeps nothing`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        let outcome = try await house.command(
            "pair", "desk", "--host", "\(lamp.host):\(lamp.port)", "--code-stdin", input: "111-22-333\n")
        #expect(outcome.ending == .exited(1))
        #expect(outcome.error.contains("the setup code is wrong"))
        #expect(try await house.command("lamps").output.contains("no lamp is paired"))
    }

    @Test func `a pairing is not replaced unasked, and a paired lamp says that it is`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        try await house.pair(lamp)
        let host = "\(lamp.host):\(lamp.port)"
        let again = try await house.command("pair", "desk", "--host", host, "--code-stdin", input: "031-45-154\n")
        #expect(again.ending == .exited(1))
        #expect(again.error.contains("there is a pairing named 'desk' already"))
        let other = try await house.command("pair", "other", "--host", host, "--code-stdin", input: "031-45-154\n")
        #expect(other.error.contains("the lamp is paired already"))
        let replaced = try await house.command("pair", "desk", "--host", host, "--code-stdin", "--replace", input: "031-45-154\n")
        #expect(replaced.ending == .exited(1))
        #expect(try await house.command("get", "desk").output == "off\n", "a failed replacement keeps the pairing")
    }

    @Test func `a lamp that is gone is forgotten only by force`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        try await house.pair(lamp)
        try await lamp.stop()
        let refused = try await house.command("unpair", "desk")
        #expect(refused.ending == .exited(1))
        #expect(refused.error.contains("connection refused"))
        #expect(try await house.command("lamps").output.contains("connection refused"))
        #expect(try await house.command("unpair", "desk", "--force-local").ending == .exited(0))
        #expect(try await house.command("lamps").output.contains("no lamp is paired"))
    }

    @Test func `a lamp that was reset is paired anew in place of the old pairing`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        try await house.pair(lamp)
        try await lamp.stop()
        let fresh = try await HAPLamp.start(port: lamp.port)
        #expect(try await house.command("get", "desk").ending == .exited(1))
        let outcome = try await house.command(
            "pair", "desk", "--host", "\(fresh.host):\(fresh.port)", "--code-stdin", "--replace", input: "031-45-154\n")
        #expect(outcome.ending == .exited(0))
        #expect(try await house.command("get", "desk").output == "off\n")
    }

    @Test func `pairings that others may read are refused with what to do`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        try await house.pair(lamp)
        chmod("\(house.folder)/state/pairings.json", 0o644)
        for command in ["lamps", "run"] {
            let outcome = try await house.command(command)
            #expect(outcome.ending == .exited(1))
            #expect(outcome.error.contains("others may read the pairings (mode 0644)"))
            #expect(outcome.error.contains("chmod"))
        }
    }

    @Test(arguments: [
        (["get", "attic"], "there is no lamp 'attic'", Int32(1)), (["set", "desk", "blue"], "'blue' is nothing to set", 2),
        (["pair", "Küche", "--host", "a:1"], "no name for a lamp", 2), (["pair", "desk", "--code-stdin"], "that is no setup code", 1),
        (["pair", "desk", "--host", "a"], "'a' is no address", 2), (["dance"], "there is no command 'dance'", 2),
        (["pair", "desk", "--host", "127.0.0.1:1", "--code-stdin"], "that is no setup code", 1),
    ])
    func `what cannot be done ends in one line and the right exit code`(arguments: [String], text: String, code: Int32) async throws {
        let house = try await House()
        let process = try house.start(arguments)
        #expect(try await process.wait() == .exited(code))
        #expect(process.errorLines.count == 1)
        #expect(process.errorLines.first?.contains(text) == true)
        #expect(process.output.isEmpty)
    }
}
