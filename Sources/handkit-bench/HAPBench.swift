internal import FoundationEssentials
internal import Glibc
internal import TestSupport

/// What controlling a lamp costs, and beside it what aiohomekit takes for the same, with the same HAP-python lamp in the same run: two
/// programs that are controllers and nothing else.
struct HAPBench {
    /// Python of an environment with HAP-python 5.2.0 and aiohomekit 4.0.1.
    var python: String
    /// Folder of the programs.
    var programs: String

    struct Figures: Decodable {
        var setup: Spread
        var verify: Spread
        var put: Spread
        /// Percent of one core at 30 writes a second.
        var cpu: Double
        /// Megabytes resident.
        var memory: Double
    }

    func run() async throws -> String {
        let lamp = try await HAPLamp.start(isAnnounced: true)
        let ours = try await figures("\(programs)/handkit-bench-hap", [lamp.host, "\(lamp.port)", HAPLamp.code])
        let theirs = try await figures(
            python, ["\(Paths.root)/Tests/Peers/aiohomekit_controller.py", "bench", "--id", lamp.id, "--code", HAPLamp.code])
        return Self.table(ours, theirs) + pad("the whole bridge, resident MB", 34) + fixed(try await bridgeMemory(lamp)) + "\n"
    }

    private func figures(_ program: String, _ arguments: [String]) async throws -> Figures {
        let process = try ChildProcess(program, arguments)
        guard try await process.wait(within: .seconds(1800)) == .exited(0) else {
            throw BenchError.failed("\(program): \(process.errorLines.suffix(3))")
        }
        return try JSONDecoder().decode(Figures.self, from: Data(process.output))
    }

    /// The bridge as it runs, connected with the lamp, with discovery, MQTT client and all.
    private func bridgeMemory(_ lamp: HAPLamp) async throws -> Double {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let broker = try await Mosquitto()
        let environment = ["HANDKIT_BRIDGE_STATE": "\(folder)/state", "HANDKIT_MQTT_PORT": "\(broker.port)"]
        let program = "\(programs)/handkit-bridge"
        let pairing = try ChildProcess(
            program, ["pair", "lamp", "--host", "\(lamp.host):\(lamp.port)", "--code-stdin"], environment: environment,
            input: Array("\(HAPLamp.code)\n".utf8))
        guard try await pairing.wait() == .exited(0) else { throw BenchError.failed("pairing: \(pairing.errorLines)") }
        let bridge = try ChildProcess(program, ["run", "--log-format", "json"], environment: environment)
        try await bridge.line("that the lamp is connected") { $0.contains("lamp connected") }
        try await Task.sleep(for: .seconds(5))
        return try ProcessCost(of: bridge.id).resident
    }

    private static func table(_ ours: Figures, _ theirs: Figures) -> String {
        let rows: [(String, Double, Double)] = [
            ("pair-setup, median ms", ours.setup.median, theirs.setup.median), ("pair-setup, p95 ms", ours.setup.p95, theirs.setup.p95),
            ("TCP and pair-verify, median ms", ours.verify.median, theirs.verify.median),
            ("TCP and pair-verify, p95 ms", ours.verify.p95, theirs.verify.p95), ("PUT, median ms", ours.put.median, theirs.put.median),
            ("PUT, p95 ms", ours.put.p95, theirs.put.p95), ("CPU at 30 writes/s, %", ours.cpu, theirs.cpu),
            ("resident memory, MB", ours.memory, theirs.memory),
        ]
        let head = pad("", 34) + pad("HandKit", 10) + pad("aiohomekit", 12) + "ratio\n"
        return head
            + rows.map { name, ours, theirs in pad(name, 34) + pad(fixed(ours), 10) + pad(fixed(theirs), 12) + fixed(ours / theirs) + "\n" }
            .joined()
    }
}
