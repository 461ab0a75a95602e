import FoundationEssentials
import Glibc
import HomeKit
import TestSupport
import Testing

@testable import Bridge

@Suite struct SecretPromptTests {
    private struct Told: Decodable, Equatable {
        var before: Bool
        var meanwhile: Bool
        var after: Bool
        var signal: Int32
    }

    @Test(arguments: [("SIGTERM", SIGTERM), ("SIGHUP", SIGHUP), ("SIGINT", SIGINT)])
    func `a program ended while it asks for a code leaves a terminal that shows what is typed`(name: String, number: Int32) async throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let process = try ChildProcess(
            try Peers.python(),
            [
                "\(Paths.root)/Tests/Peers/terminal_prompt.py", name, Paths.program("handkit-bridge"), "pair", "desk", "--host",
                "127.0.0.1:9",
            ], environment: ["HANDKIT_BRIDGE_STATE": folder])
        #expect(try await process.wait() == .exited(0), "\(process.errorLines)")
        let told = try JSONDecoder().decode(Told.self, from: Data(process.output))
        #expect(told == Told(before: true, meanwhile: false, after: true, signal: number))
    }

    @Test func `a code is read with dashes and without, a payload in either case`() throws {
        #expect(try SetupSecret("031-45-154\n").payload == nil)
        #expect(try SetupSecret(" x-hm://00522h1vm7osx ").payload?.setupID == "7OSX")
        #expect(try SetupSecret("X-HM://00522H1VM7OSX").code == SetupSecret("03145154").code)
    }

    @Test(arguments: ["", "1234", "X-HM://", "X-HM://00522H1VM7OS", "X-HM://00522H1VM7OS!", "X-HM://ZZZZZZZZZ7OSX"])
    func `what is neither is refused`(text: String) {
        #expect(throws: BridgeFailure.self) { try SetupSecret(text) }
    }

    @Test(arguments: [("Living Room!", "living-room"), ("desk", "desk"), ("Küche", "k-che"), ("---", "lamp"), ("", "lamp")])
    func `an alias becomes a name`(alias: String, name: String) {
        #expect(LampCommands.name(from: alias) == name)
    }
}
