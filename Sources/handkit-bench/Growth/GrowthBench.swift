internal import Glibc
internal import ServiceKit
internal import TestSupport

/// What one bridge takes and costs with ever more lamps that are all moved at once: a real broker, a real bridge, and each lamp an accessory
/// with a session of its own.
struct GrowthBench: Sendable {
    var programs: String
    var counts = [1, 10, 100, 1000]
    /// Steps a second of each slide; a bridge writes a lamp ten times a second at most unless it is told otherwise.
    var rate = 2.0
    var measured = Duration.seconds(20)

    struct Figures: Sendable {
        var lamps: Int
        var events = 0
        var median = 0.0
        var p99 = 0.0
        var replaced = 0
        var missing = 0
        /// Percent of one core: at rest, and while all slide.
        var idle = 0.0
        var cpu = 0.0
        var memory = 0.0
        /// Until all lamps were connected, seconds.
        var start = 0.0
    }

    func run() async throws -> String {
        var text =
            "lamps  events/s  event to PUT, median ms  p99 ms  replaced  lost  CPU %  CPU % a lamp  at rest %  memory MB  all there, s\n"
        for count in counts {
            let figures = try await measure(count)
            let rate = Double(figures.events) / (measured / .seconds(1))
            text += pad("\(count)", 7) + pad(fixed(rate), 10) + pad(fixed(figures.median), 25) + pad(fixed(figures.p99), 8)
            text += pad("\(figures.replaced)", 10) + pad("\(figures.missing)", 6) + pad(fixed(figures.cpu), 7)
            text += pad(thousandths(figures.cpu / Double(count)), 14) + pad(fixed(figures.idle), 11) + pad(fixed(figures.memory), 11)
            text += fixed(figures.start) + "\n"
        }
        return text
    }

    private func measure(_ count: Int) async throws -> Figures {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let broker = try await Mosquitto(logs: "information")
        let street = try await LampStreet(lamps: count, pairingsIn: "\(folder)/state")
        let configuration = "\(folder)/handkit.yaml"
        let lamps = (0..<count).map { "  \(LampStreet.name($0)): {}\n" }.joined()
        let routes = (0..<count).map { "  - { camera: \(LampStreet.camera($0)), lamps: [\(LampStreet.name($0))] }\n" }.joined()
        try Paths.write(
            """
            mqtt: { host: 127.0.0.1, port: \(broker.port) }
            bridge: { state: \(folder)/state, discovery: false }
            lamps:
            \(lamps)
            routes:
            \(routes)
            """, to: configuration)
        let start = ContinuousClock.now
        let bridge = try ChildProcess("\(programs)/handkit-bridge", ["run", "--config", configuration, "--log-format", "json"])
        try await eventually("all lamps were connected, but \(bridge.errorLines.suffix(3))", within: .seconds(120)) {
            bridge.errorLines.count { $0.contains("lamp connected") } == count
        }
        var figures = Figures(lamps: count)
        figures.start = (ContinuousClock.now - start) / .seconds(1)
        // All that is retained is on the broker by then.
        try await Task.sleep(for: .seconds(5))
        figures.idle = try await ProcessCost.percent(of: [bridge.id]) { try await Task.sleep(for: .seconds(5)) }[0]
        let steps = Int(rate * (measured / .seconds(1)))
        let crowd = CameraCrowd(broker: broker.port, connections: min(count, 8))
        figures.events = steps * count
        let interval = Duration.seconds(1 / rate)
        figures.cpu = try await crowd.connected { [id = bridge.id] in
            try await ProcessCost.percent(of: [id]) {
                try await crowd.slide(cameras: count, steps: steps, every: interval) { camera, level, now in
                    street.expect(level, of: camera, sent: now)
                }
            }
        }[0]
        try await Task.sleep(for: .seconds(1))
        let outcome = street.take()
        let delays = outcome.delays.map { $0 / .milliseconds(1) }
        (figures.median, figures.p99) = (delays.quantile(0.5), delays.quantile(0.99))
        (figures.replaced, figures.missing) = (outcome.replaced, outcome.missing)
        figures.memory = try ProcessCost(of: bridge.id).resident
        bridge.signal(SIGTERM)
        try await bridge.wait()
        await street.stop()
        return figures
    }
}

private func thousandths(_ value: Double) -> String {
    let whole = Int((value * 1000).rounded())
    let rest = String(whole % 1000)
    return "\(whole / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
}
