import TestSupport

/// Broker, lamp and both services as separate processes, the bridge paired with the lamp.
final class Stage: Sendable {
    let broker: Mosquitto
    let lamp: HAPLamp
    let bridge: ChildProcess
    private let folder: String
    private let configuration: String

    /// - Parameters:
    ///   - camera, lamp: their ids.
    ///   - more: lines at the end of the configuration.
    init(camera: String = "desk", lamp name: String = "bulb", more: String = "") async throws {
        (broker, lamp) = (try await Mosquitto(), try await HAPLamp.start())
        folder = try Paths.temporaryFolder()
        configuration = "\(folder)/handkit.yaml"
        try Paths.write(
            """
            mqtt: { host: 127.0.0.1, port: \(broker.port) }
            camera: { id: \(camera) }
            bridge: { state: \(folder)/state }
            lamps: { \(name): {} }
            \(more)
            """, to: configuration)
        let pairing = try ChildProcess(
            Paths.program("handkit-bridge"),
            ["pair", name, "--host", "\(lamp.host):\(lamp.port)", "--code-stdin", "--config", configuration],
            input: Array("\(HAPLamp.code)\n".utf8))
        guard try await pairing.wait(within: .seconds(60)) == .exited(0) else { throw Failure(lines: pairing.errorLines) }
        bridge = try ChildProcess(Paths.program("handkit-bridge"), ["run", "--config", configuration, "--log-format", "text"])
        try await bridge.line("that the lamp is connected") { $0.contains("lamp connected") }
    }

    deinit { Paths.remove(folder) }

    struct Failure: Error {
        var lines: [String]
    }

    /// The recognizer, which plays a clip of the project at its own pace.
    func play(_ clip: String, _ options: String...) throws -> ChildProcess {
        try recognize("\(Paths.root)/Tests/Clips/\(clip)", options)
    }

    /// The recognizer with any source.
    func recognize(_ source: String, _ options: [String] = []) throws -> ChildProcess {
        try ChildProcess(
            Paths.program("handkit-recognizer"),
            ["run", "--source", source, "--config", configuration, "--log-format", "text"] + options)
    }

    /// Every message from now on, as topic and payload.
    func listen() async throws -> ChildProcess { try await broker.subscribe("handkit/#") }
}

extension ChildProcess {
    /// How many toggles a listener has heard.
    var toggles: Int { lines.filter { $0.hasPrefix("handkit/camera/desk/toggle ") }.count }
}
