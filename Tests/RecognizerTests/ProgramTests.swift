import ServiceKit
import TestSupport
import Testing

@testable import Recognizer

struct ProgramTests {
    private func run(_ arguments: String...) async throws -> (code: ChildProcess.Ending, output: String, errors: [String]) {
        let process = try ChildProcess(Paths.program("handkit-recognizer"), arguments)
        let ending = try await process.wait(within: .seconds(60))
        return (ending, String(decoding: process.output, as: UTF8.self), process.errorLines)
    }

    private func clip(_ name: String) -> String { "\(Paths.root)/Tests/Clips/\(name)" }

    @Test func `help is printed on standard output and names every command`() async throws {
        let (code, output, errors) = try await run("--help")
        #expect(code == .exited(0) && errors.isEmpty)
        #expect(output == RecognizerProgram.syntax.help(for: nil))
        for command in RecognizerProgram.syntax.commands { #expect(output.contains("\n  \(command.name)")) }
    }

    @Test func `help reads as it should`() {
        #expect(
            RecognizerProgram.syntax.help(for: RecognizerProgram.syntax.commands.first { $0.name == "replay" }) == """
                Recognise a recorded clip as fast as possible, without a broker.

                Usage: handkit-recognizer replay CLIP [OPTIONS]

                Prints one JSON object a line for every event; 't' is seconds of clip time:
                  {"t":1.234,"event":"toggle","hand":"right","confidence":0.97}
                  {"t":2.345,"event":"brightness","value":57.3,"phase":"changed","displacement":0.12}

                Arguments:
                  CLIP  A video file in any format that FFmpeg reads.

                Options:
                  --landmarks           Print the hands of every frame too: 21 points, x and y from 0 to 1.
                  --diagnosis           Print for every frame what the gestures make of the hand: gap, reach and
                                        states.
                  --start-brightness N  Where the first slide starts from, 50 unless given. Takes a number from 0 to
                                        100.

                Common options:
                  --config FILE        Read the settings from FILE; without it the defaults and HANDKIT_… variables
                                       count.
                  --log-format FORMAT  How to log on standard error. Takes one of auto, text, json.
                  --help               Show this help.
                  --version            Show the version.

                """)
    }

    @Test func `a clip that is not there fails in one line`() async throws {
        let (code, output, errors) = try await run("replay", "/nowhere/clip.avi")
        #expect(code == .exited(1) && output.isEmpty)
        #expect(errors == ["handkit-recognizer: /nowhere/clip.avi: the clip cannot be read: no such file or directory; check the path"])
    }

    @Test func `a file that is no clip fails in one line`() async throws {
        let (code, output, errors) = try await run("replay", clip("README.md"))
        #expect(code == .exited(1) && output.isEmpty && errors.count == 1)
        #expect(errors.first?.hasPrefix("handkit-recognizer: \(clip("README.md")): ") == true)
    }

    @Test(arguments: [
        ["--wrong"], ["replay"], ["replay", "a", "b"], ["reply", "a"], ["replay", "a", "--start-brightness", "101"], ["run", "--source"],
    ])
    func `a command line that is not understood fails with code 2 and says where help is`(arguments: [String]) async throws {
        let process = try ChildProcess(Paths.program("handkit-recognizer"), arguments)
        #expect(try await process.wait() == .exited(2))
        #expect(process.output.isEmpty && process.errorLines.count == 1)
        #expect(process.errorLines.first?.contains("--help") == true)
    }

    @Test func `models that are not there fail in one line that says what to do`() async throws {
        let process = try ChildProcess(
            Paths.program("handkit-recognizer"), ["replay", clip("empty_room.avi")], environment: ["HANDKIT_CAMERA_MODELS": "/nowhere"])
        #expect(try await process.wait(within: .seconds(60)) == .exited(1))
        #expect(process.output.isEmpty)
        #expect(
            process.errorLines == [
                "handkit-recognizer: /nowhere/palm_detection_full.tflite: the model is missing; run deploy/setup, or set camera.models to the "
                    + "folder that holds it"
            ])
    }

    @Test func `a clip is replayed as JSON lines, with every frame where that is wished`() async throws {
        let process = try ChildProcess(
            Paths.program("handkit-recognizer"), ["replay", "--landmarks", clip("empty_room.avi")],
            environment: ["HANDKIT_CAMERA_MODELS": "\(Paths.prefix)/models"])
        #expect(try await process.wait(within: .seconds(120)) == .exited(0))
        #expect(process.lines.count == 90 && process.errorLines.isEmpty)
        #expect(process.lines.first == #"{"t":0.0,"frame":0,"hands":[]}"#)
        #expect(process.lines.last == #"{"t":2.967,"frame":89,"hands":[]}"#)
    }
}
