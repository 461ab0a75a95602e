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
                .value("peer", "PYTHON", "Python with mediapipe 0.10.21 and OpenCV, to measure MediaPipe in the same run."),
            ])
    ])

let code = await syntax.run(Array(CommandLine.arguments.dropFirst())) { arguments in
    let clips = arguments["clips"] ?? "Tests/Clips/pinch_hold_release_pinch.avi,Tests/Clips/empty_room.avi"
    let bench = VisionBench(
        peerPython: arguments["peer"], settings: try Settings.load(file: nil, environment: ProcessInfo.processInfo.environment))
    print(try bench.run(clips: clips.split(separator: ",").map(String.init)), terminator: "")
}
exit(code.rawValue)
