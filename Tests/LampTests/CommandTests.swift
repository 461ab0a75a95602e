import Glibc
import TestSupport
import Testing

/// The program's other commands, and what it says when something is wrong.
@Suite(.timeLimit(.minutes(1))) struct `The lamp's command line` {
    private final class Folder: Sendable {
        let path: String

        init() throws { path = try Paths.temporaryFolder() }

        deinit { Paths.remove(path) }
    }

    private let folder: Folder
    private var state: String { folder.path + "/lamp" }

    init() throws { folder = try Folder() }

    private func run(_ arguments: String..., input: String = "") async throws -> (ChildProcess.Ending, out: String, error: String) {
        let process = try ChildProcess(
            Paths.program("handkit-lamp"), arguments + ["--state", state], input: Array(input.utf8))
        let ending = try await process.wait()
        return (ending, String(decoding: process.output, as: UTF8.self), process.errorLines.joined(separator: "\n"))
    }

    @Test func `a setup code from standard input is kept and shown again`() async throws {
        let lamp = try ChildProcess(
            Paths.program("handkit-lamp"), ["run", "--address", "127.0.0.1", "--no-mdns", "--code-stdin", "--state", state],
            input: Array("314-15-926\n".utf8))
        try await lamp.line("that it is ready") { $0.contains("\"ready\"") }
        lamp.signal(SIGTERM)
        #expect(try await lamp.wait() == .exited(0))
        #expect(!(lamp.lines + lamp.errorLines).contains { $0.contains("314") })
        let shown = try await run("code")
        #expect(shown.0 == .exited(0) && shown.out.contains("setup code  314-15-926\nQR payload  X-HM://"))

        var status = stat()
        #expect(stat("\(state)/lamp.json", &status) == 0 && status.st_mode & 0o7777 == 0o600)
        #expect(stat(state, &status) == 0 && status.st_mode & 0o7777 == 0o700)

        #expect(try await run("reset").0 == .exited(0))
        let new = try await run("code")
        #expect(!new.out.contains("314-15-926"))
    }

    @Test(arguments: [
        (
            "12345678",
            "handkit-lamp: that setup code is too easy to guess for HomeKit; take eight digits that are not in a row or all equal"
        ),
        ("031-45", "handkit-lamp: that is no setup code; a setup code has eight digits: ddd-dd-ddd"),
    ])
    func `codes that HomeKit does not allow are refused`(code: String, line: String) async throws {
        let answer = try await run("run", "--code", code)
        #expect(answer.0 == .exited(1) && answer.error == line)
    }

    @Test func `what is wrong is said in one line, with the right exit code`() async throws {
        #expect(try await run("code").error == "handkit-lamp: \(state): there is no lamp yet; 'handkit-lamp run' makes one")
        let quirk = try await run("run", "--quirk", "dely")
        #expect(quirk.0 == .exited(2) && quirk.error.contains("did you mean 'delay'?"))
        let address = try await run("run", "--no-mdns", "--address", "lamp.local")
        #expect(address.0 == .exited(2) && address.error.contains("'lamp.local' is no numeric address"))
        let taken = try await HandKitLamp.start()
        let port = try await run("run", "--no-mdns", "--address", "127.0.0.1", "--port", "\(taken.port)")
        #expect(port.0 == .exited(1))
        #expect(port.error == "handkit-lamp: 127.0.0.1:\(taken.port): address already in use; choose another --port or --address")
    }

    @Test func `a folder that others can read is refused`() async throws {
        #expect(try await run("reset").0 == .exited(0))
        chmod("\(state)/lamp.json", 0o644)
        let answer = try await run("code")
        #expect(answer.0 == .exited(1) && answer.error.contains("\(state)/lamp.json: others can read it"))
    }

    @Test func `every quirk is listed`() async throws {
        let list = try await run("quirks").out
        #expect(list.contains("bad-json[=HOW]") && list.contains("takes one of comma, garbage, early, comma where it is left out"))
    }
}
