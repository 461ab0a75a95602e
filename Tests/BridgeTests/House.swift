import Contract
import FoundationEssentials
import TestSupport

/// A real broker, a real lamp and the built `handkit-bridge`, in a folder of their own.
final class House: Sendable {
    static let camera = "desk-cam"
    static let lampName = "desk"

    let folder: String
    let broker: Mosquitto

    /// - Parameters:
    ///   - version: of MQTT, as `mqtt.protocol` names it.
    ///   - configuration: More of it.
    init(version: String = "auto", configuration more: String = "") async throws {
        folder = try Paths.temporaryFolder()
        broker = try await Mosquitto()
        let configuration = """
            mqtt: { port: \(broker.port), protocol: "\(version)" }
            camera: { id: \(Self.camera) }
            bridge: { id: house, state: \(folder)/state }
            """
        try Paths.write(configuration + "\n" + more, to: configurationPath)
    }

    deinit { Paths.remove(folder) }

    private var configurationPath: String { "\(folder)/handkit.yaml" }

    // MARK: The program

    struct Refused: Error {
        var line: String
    }

    struct Outcome {
        var ending: ChildProcess.Ending
        var output: String
        var error: String
    }

    func start(_ arguments: [String], input: String = "", environment: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(
            Paths.program("handkit-bridge"), arguments + ["--config", configurationPath], environment: environment, input: Array(input.utf8)
        )
    }

    /// Runs a command to its end.
    func command(_ arguments: String..., input: String = "") async throws -> Outcome { try await command(arguments, input: input) }

    func command(_ arguments: [String], input: String = "") async throws -> Outcome {
        let process = try start(arguments, input: input)
        let ending = try await process.wait(within: .seconds(60))
        return Outcome(
            ending: ending, output: String(decoding: process.output, as: UTF8.self),
            error: String(decoding: process.errorOutput, as: UTF8.self))
    }

    func pair(_ lamp: HAPLamp) async throws {
        let outcome = try await command(
            "pair", Self.lampName, "--host", "\(lamp.host):\(lamp.port)", "--code-stdin", input: HAPLamp.code + "\n")
        guard outcome.ending == .exited(0) else { throw Refused(line: outcome.error) }
    }

    func pair(_ lamp: HandKitLamp, as name: String = lampName) async throws {
        let outcome = try await command(
            "pair", name, "--host", "127.0.0.1:\(lamp.port)", "--code-stdin", input: HandKitLamp.code + "\n")
        guard outcome.ending == .exited(0) else { throw Refused(line: outcome.error) }
    }

    /// A running bridge whose lamp is paired and online.
    func run(with lamp: HandKitLamp) async throws -> ChildProcess {
        try await pair(lamp)
        let bridge = try start(["run", "--log-format", "text"])
        try await bridge.line("that the lamp is connected") { $0.contains("lamp connected") }
        return bridge
    }

    /// A running bridge whose lamp is paired and online.
    func run(with lamp: HAPLamp) async throws -> ChildProcess {
        try await pair(lamp)
        let bridge = try start(["run", "--log-format", "text"])
        try await bridge.line("that the lamp is connected") { $0.contains("lamp connected") }
        return bridge
    }

    // MARK: The broker

    /// What is published from now on, retained messages first: lines of topic and payload.
    func listen() async throws -> ChildProcess {
        try await broker.subscribe("handkit/#", clientID: "listener-\(UInt32.random(in: 0 ... .max))")
    }

    func toggle(_ id: String, age: Double = 0, options: [String] = []) async throws {
        try await broker.publish("handkit/camera/\(Self.camera)/toggle", Array(Self.toggle(id, age: age).utf8), options: options)
    }

    private static func toggle(_ id: String, age: Double) -> String {
        #"{"event_type":"toggle","id":"\#(id)","ts":"\#(now(age: age))","hand":"right","confidence":0.97,"v":1}"#
    }

    /// A slide all at once, its last step as the end of it.
    func slide(through values: [Double], boot: String) async throws {
        let lines = values.enumerated().map { index, value in
            let phase = index == values.count - 1 ? "ended" : index == 0 ? "began" : "changed"
            return #"{"value":\#(value),"phase":"\#(phase)","displacement":0.1,"id":"\#(boot)-\#(index)","ts":"\#(Self.now())","v":1}"#
        }
        let publisher = try ChildProcess(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(broker.port)", "-V", "mqttv5", "-t", "handkit/camera/\(Self.camera)/brightness", "-l"],
            input: Array((lines.joined(separator: "\n") + "\n").utf8))
        try await publisher.wait()
    }

    private static func now(age: Double = 0) -> Timestamp {
        Timestamp(millisecondsSinceEpoch: Int64((Date().timeIntervalSince1970 - age) * 1000))
    }
}

extension ChildProcess {
    /// Waits for a line of standard output that a broker's reader prints for a message, after the first `skipped` lines.
    @discardableResult
    func message(_ text: String, after skipped: Int = 0) async throws -> Int {
        try await eventually("'\(text)' was published") {
            lines.dropFirst(skipped).firstIndex(of: text).map { $0 + 1 }
        }
    }
}
