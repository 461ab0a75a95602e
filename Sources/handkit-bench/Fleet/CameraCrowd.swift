internal import Contract
internal import Fleet
internal import MQTT
internal import Reactor
internal import ServiceKit
internal import Settings
internal import Synchronization
internal import TestSupport

/// Many cameras that publish toggles and slides, each step at its own time: what recognizers would send, and say of themselves.
struct CameraCrowd: Sendable {
    enum Step: Sendable {
        case slide(BrightnessEvent.Phase, level: Int)
        case toggle
    }

    /// What became of messages on this side of the broker.
    struct Counts: Sendable {
        /// Events handed to a connection, and those for which there was none.
        var sent = 0
        var refused = 0
        /// Messages accepted by the client and lost with its connection, of all kinds.
        var undelivered = 0
    }

    private final class Record: Sendable {
        let counts = Mutex(Counts())
        let connected = Mutex(Set<Int>())
    }

    private let plan: FleetPlan
    /// One connection; the cameras take turns on them.
    private let clients: [MQTTClient]
    private let record = Record()
    private let boot = String(UInt32.random(in: .min ... .max), radix: 16)

    init(_ plan: FleetPlan, brokers: [HostAndPort], connections: Int) {
        self.plan = plan
        let boot = boot
        clients = (0..<connections).map { number in
            let nodes = brokers.rotated(by: number)
            // A generator must not be what a measurement waits for.
            var configuration = MQTTConfiguration(
                host: nodes[0].host, port: nodes[0].port, clientID: "crowd-\(boot)-\(number)", version: .only(.v5), outgoingLimit: 100_000)
            configuration.alternatives = nodes.dropFirst().map { MQTTAddress(host: $0.host, port: $0.port) }
            if connections == plan.cameras { configuration.will = Self.availability(of: number, .offline) }
            configuration.farewell = configuration.will
            return MQTTClient(configuration)
        }
    }

    var counts: Counts { record.counts.withLock { $0 } }

    /// Runs `body` while the connections stand.
    func connected<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        let refresh = try TopicFilter(Topics.default.cameraRequest(.refresh))
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            for (number, client) in clients.enumerated() {
                client.subscribe([MQTTSubscription(refresh)])
                group.addTask {
                    await client.run()
                    return nil
                }
                group.addTask {
                    for await event in client.events { happened(event, to: number) }
                    return nil
                }
            }
            defer { group.cancelAll() }
            group.addTask {
                try await eventually("every camera was connected", within: .seconds(120)) {
                    record.connected.withLock { $0.count } == clients.count
                }
                return try await body()
            }
            while let result = try await group.next() { if let result { return result } }
            throw BenchError.failed("the broker has gone")
        }
    }

    private func happened(_ event: MQTTEvent, to number: Int) {
        switch event {
        case .connected:
            record.connected.withLock { _ = $0.insert(number) }
            sayWhoIsThere(number)
        case .message: sayWhoIsThere(number)
        case .undelivered: record.counts.withLock { $0.undelivered += 1 }
        case .disconnected, .subscribed, .subscriptionRefused, .dropped: break
        }
    }

    /// As a recognizer does on every connect, and when it is asked.
    private func sayWhoIsThere(_ number: Int) {
        for camera in stride(from: number, to: plan.cameras, by: clients.count) {
            if let message = Self.availability(of: camera, .online) { try? clients[number].send(message) }
        }
    }

    private static func availability(of camera: Int, _ availability: Availability) -> MQTTMessage? {
        (try? topic(camera, .availability)).map { MQTTMessage(topic: $0, text: availability.rawValue, qos: .atLeastOnce, retain: true) }
    }

    private static func topic(_ camera: Int, _ leaf: Topics.CameraLeaf) throws -> TopicName {
        try TopicName(Topics.default.camera(try Identifier(LampStreet.camera(camera)), leaf))
    }

    /// Lets all cameras do the same at once, their steps spread evenly over the time between two of them, and notes in the ledger what is
    /// asked of the lamps.
    func play(_ steps: Int, every interval: Duration, to street: LampStreet, what: (_ step: Int, _ camera: Int) -> Step) async throws {
        let loop = EventLoop.shared
        let start = ContinuousClock.now
        for step in 0..<steps {
            for camera in 0..<plan.cameras {
                let due = start + interval * step + interval * camera / plan.cameras
                if due > .now { await loop.sleep(until: due) }
                try perform(what(step, camera), of: camera, number: step, street)
            }
        }
    }

    private func perform(_ step: Step, of camera: Int, number: Int, _ street: LampStreet) throws {
        let lamps = plan.lamps(of: camera)
        let time = Timestamp(millisecondsSinceEpoch: WallTime.now().millisecondsSinceEpoch)
        let id = "\(boot)-\(number + 1)"
        var message: MQTTMessage
        switch step {
        case .slide(let phase, let level):
            let event = BrightnessEvent(value: Double(level), phase: phase, displacement: 0, id: id, ts: time)
            message = MQTTMessage(
                topic: try Self.topic(camera, .brightness), payload: Payload.encode(event),
                qos: phase == .changed ? .atMostOnce : .atLeastOnce)
            street.note { $0.sent(level: level, to: lamps, at: .now) }
        case .toggle:
            let event = ToggleEvent(id: id, ts: time, hand: .right, confidence: 1)
            message = MQTTMessage(topic: try Self.topic(camera, .toggle), payload: Payload.encode(event), qos: .atLeastOnce)
            street.note { $0.sentToggle(to: lamps, at: .now) }
        }
        message.properties.expiryInterval = UInt32(eventLifetime)
        do {
            try clients[camera % clients.count].send(message)
            record.counts.withLock { $0.sent += 1 }
        } catch {
            record.counts.withLock { $0.refused += 1 }
            street.note { ledger in
                switch step {
                case .slide(_, let level): ledger.withdrew(level: level, from: lamps)
                case .toggle: ledger.withdrewToggle(from: lamps)
                }
            }
        }
    }
}
