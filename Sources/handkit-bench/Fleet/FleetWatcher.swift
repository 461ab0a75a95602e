internal import Contract
internal import Fleet
internal import MQTT
internal import Settings
internal import Synchronization
internal import TestSupport

/// One who comes late and wants to know who is there: hears what the broker keeps, asks everybody, and hears the answers.
final class FleetWatcher: Sendable {
    private let client: MQTTClient
    private let heard = Mutex<[String: String]>([:])

    init(brokers: [HostAndPort]) {
        var configuration = MQTTConfiguration(
            host: brokers[0].host, port: brokers[0].port, clientID: "watcher-\(UInt32.random(in: .min ... .max))", version: .only(.v5),
            incomingLimit: .init(messages: 100_000, bytes: 64 << 20))
        configuration.alternatives = brokers.dropFirst().map { MQTTAddress(host: $0.host, port: $0.port) }
        client = MQTTClient(configuration)
    }

    /// How many cameras, bridges and lamps are said to be online once all are, or else after the patience.
    func census(_ plan: FleetPlan, patience: Duration = .seconds(20)) async throws -> (cameras: Int, bridges: Int, lamps: Int) {
        client.subscribe([MQTTSubscription(try TopicFilter("\(Topics.defaultBase)/+/+/availability"))])
        let questions = try [Topics.default.request(Topics.Request.refresh), Topics.default.cameraRequest(.refresh)].map {
            MQTTMessage(topic: try TopicName($0), payload: [], qos: .atLeastOnce)
        }
        return try await withThrowingTaskGroup { group in
            group.addTask { [client] in await client.run() }
            group.addTask { [self] in
                for await event in client.events {
                    switch event {
                    case .subscribed: for question in questions { try client.send(question) }
                    case .message(let message):
                        heard.withLock { $0[message.topic.string] = String(decoding: message.payload, as: UTF8.self) }
                    default: break
                    }
                }
            }
            let end = ContinuousClock.now + patience
            let all = (plan.cameras, plan.bridges, plan.lamps)
            while ContinuousClock.now < end, online() != all { try await Task.sleep(for: .milliseconds(100)) }
            client.shutdown()
            try await group.waitForAll()
            return online()
        }
    }

    private func online() -> (Int, Int, Int) {
        let topics = heard.withLock { $0.filter { $0.value == Availability.online.rawValue }.keys }.map { Topics.default.address(of: $0) }
        return (
            topics.count { if case .camera = $0 { true } else { false } }, topics.count { if case .bridge = $0 { true } else { false } },
            topics.count { if case .lamp = $0 { true } else { false } }
        )
    }
}
