internal import Fleet
internal import Glibc
internal import Settings
internal import TestSupport

/// A fleet with everything but its cameras: bridges as processes of their own, each connected to its share of the lamps.
struct FleetStage: Sendable {
    let street: LampStreet
    let bridges: [ChildProcess]
    /// Until all lamps were connected.
    let start: Duration
    private let folder: String

    /// - Parameter programs: Folder of `handkit-bridge`.
    init(_ plan: FleetPlan, brokers: [HostAndPort], programs: String, longestSilence: Duration) async throws {
        let folder = try Paths.temporaryFolder()
        self.folder = folder
        street = try await LampStreet(plan, longestSilence: longestSilence) { "\(folder)/bridge-\($0)" }
        let begin = ContinuousClock.now
        bridges = try (0..<plan.bridges).map { bridge in
            let configuration = "\(folder)/bridge-\(bridge).yaml"
            try Paths.write(Self.configuration(of: bridge, plan, brokers.rotated(by: bridge + 1), folder), to: configuration)
            return try ChildProcess("\(programs)/handkit-bridge", ["run", "--config", configuration, "--log-format", "json"])
        }
        for (bridge, process) in bridges.enumerated() {
            let count = plan.lamps(drivenBy: bridge).count
            try await eventually("all lamps were connected, but \(process.errorLines.suffix(3))", within: .seconds(120)) {
                process.errorLines.count { $0.contains("lamp connected") } == count
                    && process.errorLines.contains { $0.contains("connected to the broker") }
            }
        }
        start = .now - begin
    }

    var processes: [pid_t] { bridges.map(\.id) }

    func end() async throws {
        for bridge in bridges { bridge.signal(SIGTERM) }
        for bridge in bridges { try await bridge.wait() }
        await street.stop()
        Paths.remove(folder)
    }

    private static func configuration(of bridge: Int, _ plan: FleetPlan, _ nodes: [HostAndPort], _ folder: String) -> String {
        let lamps = plan.lamps(drivenBy: bridge)
        let routes = Dictionary(grouping: lamps, by: plan.camera).sorted { $0.key < $1.key }
        let fallbacks = nodes.dropFirst().map { "\"\($0)\"" }.joined(separator: ", ")
        return """
            mqtt: { host: "\(nodes[0].host)", port: \(nodes[0].port), fallbacks: [\(fallbacks)] }
            bridge: { id: bridge-\(bridge), state: \(folder)/bridge-\(bridge), discovery: false }
            lamps:
            \(lamps.map { "  \(LampStreet.name($0)): {}\n" }.joined())
            routes:
            \(routes.map { "  - { camera: \(LampStreet.camera($0)), lamps: [\($1.map(LampStreet.name).joined(separator: ", "))] }\n" }.joined())
            """
    }
}
