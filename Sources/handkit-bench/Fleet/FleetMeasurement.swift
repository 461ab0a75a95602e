internal import Contract
internal import Fleet
internal import Glibc
internal import Settings
internal import TestSupport

/// One fleet, measured: real bridges between a broker and lamps, moved by a crowd of cameras.
struct FleetMeasurement: Sendable {
    var plan: FleetPlan
    var brokers: [HostAndPort]
    /// Whose costs are the broker's; none where it runs elsewhere.
    var brokerProcesses: [pid_t] = []
    var programs: String
    /// Steps a second of each camera; a bridge writes a lamp ten times a second at most unless it is told otherwise.
    var rate = 2.0
    var measured = Duration.seconds(20)
    /// Cameras share so many connections.
    var connections: Int
    /// Slides end and are followed by a toggle, again and again; else one slide goes on and on.
    var toggles = true
    /// Done in the middle.
    var trouble: (@Sendable () async throws -> Void)?

    struct Figures: Sendable {
        var events = CameraCrowd.Counts()
        var outcome = FleetLedger.Outcome()
        var median = 0.0
        var p99 = 0.0
        /// Percent of one core, of all bridges together: at rest, and while all are moved.
        var idle = 0.0
        var cpu = 0.0
        var brokerCPU = 0.0
        /// Megabytes, together.
        var memory = 0.0
        var brokerMemory = 0.0
        /// Until all lamps were connected, seconds.
        var start = 0.0
        /// Of the machine over the last minute, at the end.
        var load = 0.0
        /// Who was online afterwards, and how many lamps had the last brightness; nil where nothing was taken away.
        var aftermath: Aftermath?
    }

    struct Aftermath: Sendable {
        var cameras: Int
        var bridges: Int
        var lamps: Int
        var right: Int
    }

    /// The level of the slide at the very end; none of the others.
    private static let lastLevel = 95
    /// Steps of a slide and the toggle after it: longer than a toggle lives.
    private static let cycle = 10

    func run() async throws -> Figures {
        let interval = Duration.seconds(1 / rate)
        let stage = try await FleetStage(plan, brokers: brokers, programs: programs, longestSilence: max(interval * 3, .seconds(1)))
        var figures = Figures()
        figures.start = stage.start / .seconds(1)
        // All that is retained is on the broker by then.
        try await Task.sleep(for: .seconds(5))
        figures.idle = try await ProcessCost.percent(of: stage.processes) { try await Task.sleep(for: .seconds(5)) }.reduce(0, +)
        let crowd = CameraCrowd(plan, brokers: brokers, connections: connections)
        let steps = Int(rate * (measured / .seconds(1)))
        let street = stage.street
        // A process that is to be killed has no costs afterwards.
        let processes = stage.processes + (trouble == nil ? brokerProcesses : [])
        let played = try await crowd.connected { () -> (costs: [Double], outcome: FleetLedger.Outcome, aftermath: Aftermath?) in
            let costs = try await ProcessCost.percent(of: processes) {
                async let disturbed: Void = disturb(street)
                try await crowd.play(steps, every: interval, to: street) { step, camera in what(step, of: steps, camera) }
                try await disturbed
            }
            let end = ContinuousClock.now
            try await Task.sleep(for: .seconds(trouble == nil ? 1 : 4))
            let outcome = street.note { $0.ended(at: end) }
            guard trouble != nil else { return (costs, outcome, nil) }
            let online = try await FleetWatcher(brokers: brokers.rotated(by: brokers.count - 1)).census(plan)
            try await crowd.play(2, every: interval, to: street) { step, _ in
                .slide(step == 0 ? .began : .ended, level: Self.lastLevel - 1 + step)
            }
            try await Task.sleep(for: .seconds(3))
            let right = await street.count(at: Self.lastLevel)
            return (costs, outcome, Aftermath(cameras: online.cameras, bridges: online.bridges, lamps: online.lamps, right: right))
        }
        (figures.outcome, figures.aftermath, figures.events) = (played.outcome, played.aftermath, crowd.counts)
        figures.cpu = played.costs.prefix(plan.bridges).reduce(0, +)
        figures.brokerCPU = played.costs.dropFirst(plan.bridges).reduce(0, +)
        let delays = played.outcome.delays.map { $0 / .milliseconds(1) }
        (figures.median, figures.p99) = (delays.quantile(0.5), delays.quantile(0.99))
        figures.memory = try stage.processes.map { try ProcessCost(of: $0).resident }.reduce(0, +)
        figures.brokerMemory = try processes.dropFirst(plan.bridges).map { try ProcessCost(of: $0).resident }.reduce(0, +)
        try await stage.end()
        var loads = [0.0]
        getloadavg(&loads, 1)
        figures.load = loads[0]
        return figures
    }

    private func disturb(_ street: LampStreet) async throws {
        guard let trouble else { return }
        try await Task.sleep(for: measured / 3)
        street.note { $0.interrupted(at: .now) }
        try await trouble()
    }

    private func what(_ step: Int, of steps: Int, _ camera: Int) -> CameraCrowd.Step {
        let level = 10 + (step + camera) % 80
        guard toggles else { return .slide(step == 0 ? .began : step == steps - 1 ? .ended : .changed, level: level) }
        return switch step % Self.cycle {
        case 0: .slide(.began, level: level)
        case Self.cycle - 2: .slide(.ended, level: level)
        case Self.cycle - 1: .toggle
        default: .slide(.changed, level: level)
        }
    }
}
