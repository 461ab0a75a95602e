import MQTT
import Synchronization
import TestSupport

/// The events of a client, as they came.
final class EventLog: Sendable {
    private let events = Mutex<[MQTTEvent]>([])

    var all: [MQTTEvent] { events.withLock { $0 } }

    var connections: [MQTTConnection] {
        all.compactMap { if case .connected(let connection) = $0 { connection } else { nil } }
    }

    var disconnections: [MQTTDisconnection] {
        all.compactMap { if case .disconnected(let disconnection) = $0 { disconnection } else { nil } }
    }

    var messages: [MQTTMessage] {
        all.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }

    var subscriptions: Int {
        all.count { if case .subscribed = $0 { true } else { false } }
    }

    func append(_ event: MQTTEvent) {
        events.withLock { $0.append(event) }
    }

    /// Waits for the nth connection.
    @discardableResult
    func connection(_ number: Int = 1) async throws -> MQTTConnection {
        try await eventually("connection \(number) came, but \(all)") { connections.count >= number ? connections[number - 1] : nil }
    }

    /// Waits for the nth acknowledgement of subscriptions.
    func subscription(_ number: Int = 1) async throws {
        try await eventually("subscription \(number) was acknowledged, but \(all)") { subscriptions >= number }
    }

    /// Waits for a message.
    @discardableResult
    func message(_ topic: String) async throws -> MQTTMessage {
        try await eventually("a message came on \(topic), but \(all)") { messages.first { $0.topic.string == topic } }
    }

    /// Waits for an end of this kind.
    func disconnection(_ matches: (MQTTDisconnectReason) -> Bool) async throws -> MQTTDisconnection {
        try await eventually("a connection ended like that, but \(all)") { disconnections.first { matches($0.reason) } }
    }
}

/// Runs a client while `body` does, and waits for its clean end.
func withClient(_ configuration: MQTTConfiguration, _ body: (MQTTClient, EventLog) async throws -> Void) async throws {
    let client = MQTTClient(configuration)
    let log = EventLog()
    try await withThrowingTaskGroup { group in
        group.addTask { await client.run() }
        group.addTask { for await event in client.events { log.append(event) } }
        defer { client.shutdown() }
        try await body(client, log)
        client.shutdown()
        try await group.waitForAll()
    }
}

extension MQTTConfiguration {
    /// For a broker of the test's own; retries soon, because the test waits for it.
    static func test(_ port: UInt16, _ clientID: String = "test", _ change: (inout MQTTConfiguration) throws -> Void = { _ in }) rethrows
        -> MQTTConfiguration
    {
        var configuration = MQTTConfiguration(
            host: "127.0.0.1", port: port, clientID: clientID, backoff: Backoff(initial: .milliseconds(20), maximum: .milliseconds(100)))
        try change(&configuration)
        return configuration
    }
}

extension MQTTMessage {
    static func test(
        _ topic: String, _ text: String, qos: QualityOfService = .atLeastOnce, retain: Bool = false,
        properties: MQTTProperties = MQTTProperties()
    ) throws -> MQTTMessage {
        MQTTMessage(topic: try TopicName(topic), text: text, qos: qos, retain: retain, properties: properties)
    }
}
