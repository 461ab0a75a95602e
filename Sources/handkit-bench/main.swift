internal import FoundationEssentials
internal import Glibc
internal import ServiceKit
internal import Settings

let syntax = ProgramSyntax(
    name: "handkit-bench", version: Product.version,
    abstract: "Measures what the programs cost, beside their peers where those are given.",
    commands: [
        CommandSyntax(
            "vision", "CPU a frame and memory of hand tracking",
            discussion: "Run it from the package's folder, built with 'swift build -c release'.",
            options: [
                .value("clips", "A,B,…", "Clips to track, separated by commas."),
                .value("input", "KIND,…", "clip, or what a camera of 1280x720 delivers: mjpeg, yuyv, nv12; all by default."),
                .value("peer", "PYTHON", "Python with mediapipe 0.10.21 and OpenCV, to measure MediaPipe in the same run."),
            ]),
        CommandSyntax(
            "hap", "Pairing, round trips, CPU and memory of controlling a lamp, beside aiohomekit",
            discussion: "Run it from the package's folder, built with 'swift build -c release'.",
            options: [
                .value("peer", "PYTHON", "Python with HAP-python 5.2.0 and aiohomekit 4.0.1; deploy/setup's by default."),
                .value("bridge", "PROGRAM", "The bridge whose memory is measured; .build/release/handkit-bridge by default."),
            ]),
    ])

let code = await syntax.run(Array(CommandLine.arguments.dropFirst())) { arguments in
    let environment = ProcessInfo.processInfo.environment
    switch arguments.command {
    case "hap":
        let python = arguments["peer"] ?? "\(environment["HANDKIT_PREFIX"] ?? ".handkit")/peers/bin/python"
        let bench = HAPBench(python: python, bridge: arguments["bridge"] ?? ".build/release/handkit-bridge")
        print(try await bench.run(), terminator: "")
    default:
        let clips = arguments["clips"] ?? "Tests/Clips/pinch_hold_release_pinch.avi,Tests/Clips/empty_room.avi"
        let inputs = try arguments["input"].map { text in
            try text.split(separator: ",").map { name in
                guard let input = VisionInput(rawValue: String(name)) else { throw BenchError.failed("there is no input '\(name)'") }
                return input
            }
        }
        let bench = VisionBench(
            peerPython: arguments["peer"], settings: try Settings.load(file: nil, environment: environment),
            inputs: inputs ?? VisionInput.allCases)
        print(try bench.run(clips: clips.split(separator: ",").map(String.init)), terminator: "")
    }
}
exit(code.rawValue)
