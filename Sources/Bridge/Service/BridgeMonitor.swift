import BrokerLink
import Contract
import MQTT
import Monitoring
import ServiceKit
import Settings
import Synchronization

/// Keeps what others may know of the bridge: its numbers and its health. Thread-safe.
final class BridgeMonitor: Sendable {
    let metrics = Metrics()
    private let broker: BrokerMetrics
    private let accepted: Metrics.Counter
    private let durations: Metrics.Histogram
    private let rejected: [Rejection: Metrics.Counter]
    private let lamps: [Identifier: LampMetrics]
    private let brokerTrouble = Mutex<String?>("there was no connection to the broker yet")

    init(lamps: [Identifier]) {
        metrics.describeProcess(program: "handkit-bridge", version: Product.version)
        broker = BrokerMetrics(metrics)
        accepted = metrics.counter("handkit_commands_done_total", "Commands that a lamp carried out.")
        durations = metrics.histogram(
            "handkit_command_seconds", "From a command's arrival until the lamp's answer.",
            bounds: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5])
        rejected = Dictionary(
            uniqueKeysWithValues: Rejection.allCases.map { [metrics] reason in
                let help = "Messages and commands that were not acted on, by reason."
                return (reason, metrics.counter("handkit_rejected_total", help, ["reason": reason.rawValue]))
            })
        self.lamps = Dictionary(uniqueKeysWithValues: lamps.map { [metrics] in ($0, LampMetrics(metrics, lamp: $0)) })
    }

    /// Failing while there is no broker. A lamp that does not answer is the lamp's trouble: `handkit_lamp_available` tells.
    var health: Health { Health(reasons: brokerTrouble.withLock { $0 }.map { [$0] } ?? []) }

    func happened(_ event: MQTTEvent) {
        broker.happened(event)
        switch event {
        case .connected: brokerTrouble.withLock { $0 = nil }
        case .disconnected(let disconnection): brokerTrouble.withLock { $0 = "no broker: \(disconnection.reason.report)" }
        case .message, .subscribed, .subscriptionRefused, .undelivered, .dropped: break
        }
    }

    /// - Parameter duration: since the command was accepted; nil where that is not known.
    func done(after duration: Duration?) {
        accepted.add()
        if let duration { durations.observe(duration / .seconds(1)) }
    }

    func rejected(_ reason: Rejection) { rejected[reason]?.add() }
    func lamp(_ id: Identifier) -> LampMetrics? { lamps[id] }
}

/// How one lamp fares, in numbers.
struct LampMetrics: Sendable {
    let isAvailable: Metrics.Gauge
    let sessions: Metrics.Counter
    let retries: Metrics.Counter
    private let reads: Metrics.Histogram
    private let writes: Metrics.Histogram
    private let failures: Metrics.Counter

    init(_ metrics: Metrics, lamp: Identifier) {
        isAvailable = metrics.gauge("handkit_lamp_available", "1 while the lamp answers.", ["lamp": lamp.rawValue])
        sessions = metrics.counter("handkit_hap_sessions_total", "Verified sessions opened with the lamp.", ["lamp": lamp.rawValue])
        retries = metrics.counter("handkit_hap_retries_total", "Sessions that ended or could not be opened.", ["lamp": lamp.rawValue])
        func latency(_ operation: String) -> Metrics.Histogram {
            metrics.histogram(
                "handkit_hap_request_seconds", "From a request to the lamp until its answer.",
                bounds: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10], ["lamp": lamp.rawValue, "operation": operation])
        }
        (reads, writes) = (latency("read"), latency("write"))
        failures = metrics.counter(
            "handkit_hap_failures_total", "Requests that the lamp refused or did not answer.", ["lamp": lamp.rawValue])
    }

    func answered(_ request: LampQueue.Request, _ answer: LampQueue.Answer, after duration: Duration) {
        let seconds = duration / .seconds(1)
        switch request {
        case .read: reads.observe(seconds)
        case .write, .identify: writes.observe(seconds)
        }
        if case .failed = answer { failures.add() }
    }
}
