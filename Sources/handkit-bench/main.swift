internal import Fleet
internal import FoundationEssentials
internal import Glibc
internal import ServiceKit
internal import Settings

private let programs = OptionSyntax.value("programs", "FOLDER", "Where the programs are; .build/release by default.")

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
                programs,
            ]),
        CommandSyntax(
            "path", "From a frame to a lamp: delays, CPU and memory of both services, beside the same in Python",
            discussion: """
                Run it from the package's folder, built with 'swift build -c release', with the peers of deploy/setup and a Mosquitto. A \
                clip without end, the HAP-python lamp and the broker are the same for both.
                """,
            options: [
                .value("clip", "FILE", "The clip that is played again and again."),
                .value("peer", "PYTHON", "Python with mediapipe 0.10.21, OpenCV, paho-mqtt and aiohomekit 4.0.1."),
                .value("seconds", "N", "How long is measured, 40 unless given.", kind: .integer(5...3600)), programs,
            ]),
        CommandSyntax(
            "growth", "What a bridge takes and costs with ever more lamps that are all moved at once",
            options: [
                .value("lamps", "N,N,…", "How many; 1,10,100,1000 unless given."),
                .value("rate", "N", "Steps a second of each slide, 2 unless given.", kind: .number(0.1...30)), programs,
            ]),
        CommandSyntax(
            "fleet", "Cameras and lamps in growing numbers, with several bridges, on a broker or a cluster, and with a node of it killed",
            discussion: """
                Every number of lamps is measured with every number of cameras. Bridges are processes of their own; cameras and lamps are \
                in this one, each camera with a connection of its own, and each lamp with a session. Clients begin at different nodes.
                """,
            options: [
                .value("lamps", "N,N,…", "How many; 1,10,100,1000 unless given."),
                .value("cameras", "N,N,…", "How many; 1,10,100 unless given."),
                .value("bridges", "N", "How many, each with its share of the lamps; 2 unless given.", kind: .integer(1...100)),
                .value("broker", "HOST:PORT,…", "The broker, or the nodes of a cluster; without it a Mosquitto is started."),
                .value("broker-processes", "PID,…", "Processes on this machine whose CPU and memory are the broker's."),
                .value("rate", "N", "Steps a second of each camera, 2 unless given.", kind: .number(0.1...30)),
                .value("seconds", "N", "How long each is measured, 20 unless given.", kind: .integer(5...3600)),
                .value(
                    "kill-command", "COMMAND",
                    "What kills a node, for the shell: instead of a table, how the largest fleet lives through it; exit code 1 where not well."
                ),
                programs,
            ]),
    ])

let code = await syntax.run(Array(CommandLine.arguments.dropFirst())) { arguments in
    let environment = ProcessInfo.processInfo.environment
    raiseDescriptorLimit()
    let folder = arguments["programs"] ?? ".build/release"
    switch arguments.command {
    case "path":
        var bench = PathBench(
            peerPython: arguments["peer"], programs: folder, clip: arguments["clip"] ?? "Tests/Clips/slide_return.avi")
        if let seconds = arguments.integer("seconds") { bench.measured = .seconds(seconds) }
        print(try await bench.run(), terminator: "")
    case "growth":
        var bench = GrowthBench(programs: folder)
        if let lamps = arguments["lamps"] { bench.counts = lamps.split(separator: ",").compactMap { Int($0) } }
        if let rate = arguments["rate"].flatMap({ Double($0) }) { bench.rate = rate }
        print(try await bench.run(), terminator: "")
    case "fleet":
        var bench = FleetBench(programs: folder)
        if let text = arguments["lamps"] { bench.lamps = try fleetCounts(text, option: "lamps") }
        if let text = arguments["cameras"] { bench.cameras = try fleetCounts(text, option: "cameras") }
        if let text = arguments["broker"] { bench.brokers = try fleetBrokers(text, option: "broker") }
        if let text = arguments["broker-processes"] { bench.brokerProcesses = try fleetProcesses(text, option: "broker-processes") }
        if let bridges = arguments.integer("bridges") { bench.bridges = bridges }
        if let rate = arguments["rate"].flatMap({ Double($0) }) { bench.rate = rate }
        if let seconds = arguments.integer("seconds") { bench.measured = .seconds(seconds) }
        bench.killCommand = arguments["kill-command"]
        try await bench.run()
    case "hap":
        let python = arguments["peer"] ?? "\(environment["HANDKIT_PREFIX"] ?? ".handkit")/peers/bin/python"
        let bench = HAPBench(python: python, programs: folder)
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
