internal import Fleet
internal import Glibc
internal import Settings
internal import TestSupport

/// What one bridge takes and costs with ever more lamps that are all moved at once, each by a camera of its own.
struct GrowthBench: Sendable {
    var programs: String
    var counts = [1, 10, 100, 1000]
    /// Steps a second of each slide.
    var rate = 2.0

    func run() async throws -> String {
        var text =
            "lamps  events/s  event to PUT, median ms  p99 ms  replaced  lost  CPU %  CPU % a lamp  at rest %  memory MB  all there, s\n"
        for count in counts {
            let broker = try await Mosquitto(logs: "information")
            var measurement = FleetMeasurement(
                plan: FleetPlan(lamps: count, cameras: count, bridges: 1), brokers: [HostAndPort(host: "127.0.0.1", port: broker.port)],
                programs: programs, connections: min(count, 8))
            (measurement.rate, measurement.toggles) = (rate, false)
            let figures = try await measurement.run()
            let rate = Double(figures.events.sent) / (measurement.measured / .seconds(1))
            text += pad("\(count)", 7) + pad(fixed(rate), 10) + pad(fixed(figures.median), 25) + pad(fixed(figures.p99), 8)
            text += pad("\(figures.outcome.overtaken)", 10) + pad("\(figures.outcome.missing)", 6) + pad(fixed(figures.cpu), 7)
            text += pad(thousandths(figures.cpu / Double(count)), 14) + pad(fixed(figures.idle), 11) + pad(fixed(figures.memory), 11)
            text += fixed(figures.start) + "\n"
        }
        return text
    }
}

private func thousandths(_ value: Double) -> String {
    let whole = Int((value * 1000).rounded())
    let rest = String(whole % 1000)
    return "\(whole / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
}
