internal import Fleet
internal import Glibc
internal import ServiceKit
internal import Settings
internal import TestSupport

/// Cameras and lamps in growing numbers on a broker, and what happens when a part of it is killed.
struct FleetBench: Sendable {
    var programs: String
    var lamps = [1, 10, 100, 1000]
    var cameras = [1, 10, 100]
    var bridges = 2
    /// The nodes of the broker; nil for a Mosquitto of its own.
    var brokers: [HostAndPort]?
    var brokerProcesses: [pid_t] = []
    var rate = 2.0
    var measured = Duration.seconds(20)
    /// A command of the shell that kills a node: instead of the table the largest fleet is measured with that in the middle.
    var killCommand: String?

    /// Prints as it goes.
    func run() async throws {
        let plans = FleetPlan.all(lamps: lamps, cameras: cameras, bridges: bridges)
        if let killCommand {
            guard let plan = plans.last else { throw BenchError.failed("no camera has a lamp") }
            return try await survive(killCommand, plan)
        }
        write(
            """
            lamps  cameras  bridges  events/s  PUTs/s  event to PUT, median ms  p99 ms  not sent  overtaken  lost  toggles lost  doubled  \
            bridges: CPU %  at rest %  MB  broker: CPU %  MB  load

            """)
        for plan in plans {
            let own = try await ownBroker()
            let figures = try await measurement(plan, own).run()
            let (seconds, outcome) = (measured / .seconds(1), figures.outcome)
            var text = pad("\(plan.lamps)", 7) + pad("\(plan.cameras)", 9) + pad("\(plan.bridges)", 9)
            text += pad(fixed(Double(figures.events.sent) / seconds), 10)
            text += pad(fixed(Double(outcome.delays.count + outcome.switched) / seconds), 8)
            text += pad(fixed(figures.median), 25) + pad(fixed(figures.p99), 8)
            text += pad("\(figures.events.refused + figures.events.undelivered)", 10) + pad("\(outcome.overtaken)", 11)
            text += pad("\(outcome.missing)", 6) + pad("\(outcome.lostToggles)", 14) + pad("\(outcome.doubled)", 9)
            text += pad(fixed(figures.cpu), 16) + pad(fixed(figures.idle), 11) + pad(fixed(figures.memory), 7)
            text += pad(fixed(figures.brokerCPU), 12) + pad(fixed(figures.brokerMemory), 8) + fixed(figures.load) + "\n"
            write(text)
        }
    }

    /// - Throws: where not all was as it should be.
    private func survive(_ command: String, _ plan: FleetPlan) async throws {
        let own = try await ownBroker()
        var measurement = measurement(plan, own)
        measurement.trouble = {
            let ending = try await ChildProcess("sh", ["-c", command]).wait()
            guard ending == .exited(0) else { throw BenchError.failed("'\(command)' failed") }
        }
        let figures = try await measurement.run()
        guard let aftermath = figures.aftermath else { throw BenchError.failed("nobody looked afterwards") }
        let outcome = figures.outcome
        var text =
            "\(plan.lamps) lamps, \(plan.cameras) cameras, \(plan.bridges) bridges, \(measurement.brokers.count) nodes, load \(fixed(figures.load))\n"
        text += Self.outages("cameras", plan.cameras, outcome) { plan.camera(of: $0) }
        text += Self.outages("bridges", plan.bridges, outcome) { plan.bridge(of: $0) }
        text += Self.outages("lamps", plan.lamps, outcome) { $0 }
        text += """
            events       \(figures.events.sent) sent, \(figures.events.refused) found no connection, \(figures.events.undelivered) messages lost with one
            levels       \(outcome.levels) for lamps: \(outcome.delays.count) written, \(outcome.overtaken) overtaken by the next or lost, \(outcome.missing) missing at the end
            toggles      \(outcome.toggles) for lamps: \(outcome.switched) switched, \(outcome.lostToggles) lost, \(outcome.doubled) doubled or late
            event to PUT \(fixed(figures.median)) ms median, \(fixed(figures.p99)) ms p99
            afterwards   online: \(aftermath.cameras) cameras, \(aftermath.bridges) bridges, \(aftermath.lamps) lamps; \(aftermath.right) lamps have the last brightness

            """
        var faults: [String] = []
        if outcome.doubled > 0 { faults.append("\(outcome.doubled) doubled or late") }
        if outcome.outages.values.contains(where: { $0 == nil }) { faults.append("not all are served again") }
        if (aftermath.cameras, aftermath.bridges, aftermath.lamps) != (plan.cameras, plan.bridges, plan.lamps) {
            faults.append("not all are said to be online")
        }
        if aftermath.right != plan.lamps { faults.append("\(plan.lamps - aftermath.right) lamps have not the last brightness") }
        write(text)
        guard faults.isEmpty else { throw BenchError.failed(faults.joined(separator: "; ")) }
    }

    /// How many of a kind were cut off, and until when; one is served again when its last lamp is.
    private static func outages(_ name: String, _ count: Int, _ outcome: FleetLedger.Outcome, owner: (Int) -> Int) -> String {
        var longest: [Int: Double] = [:]
        var isLost: Set<Int> = []
        for (lamp, outage) in outcome.outages {
            if let outage {
                longest[owner(lamp)] = max(longest[owner(lamp)] ?? 0, outage / .seconds(1))
            } else {
                isLost.insert(owner(lamp))
            }
        }
        let seconds = Array(longest.values)
        var text = pad(name, 13) + "\(count - longest.count) of \(count) without a break"
        if !seconds.isEmpty {
            text += ", the others served again after \(fixed(seconds.quantile(0.5))) s (median), \(fixed(seconds.quantile(1))) s (last)"
        }
        return text + (isLost.isEmpty ? "\n" : ", \(isLost.count) never again\n")
    }

    private func ownBroker() async throws -> Mosquitto? { brokers == nil ? try await Mosquitto(logs: "information") : nil }

    private func measurement(_ plan: FleetPlan, _ own: Mosquitto?) -> FleetMeasurement {
        let nodes = brokers ?? own.map { [HostAndPort(host: "127.0.0.1", port: $0.port)] } ?? []
        var measurement = FleetMeasurement(plan: plan, brokers: nodes, programs: programs, connections: plan.cameras)
        measurement.brokerProcesses = own?.processID.map { [$0] } ?? brokerProcesses
        (measurement.rate, measurement.measured) = (rate, measured)
        return measurement
    }
}

/// To standard output at once, also where that is a file: a fleet takes its time.
private func write(_ text: String) {
    print(text, terminator: "")
    fflush(nil)
}
