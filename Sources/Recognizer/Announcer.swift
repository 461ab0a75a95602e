internal import Contract
internal import Gestures
internal import MQTT
internal import ServiceKit

/// Puts on MQTT what the camera sees, by the contract's rules.
struct Announcer: Sendable {
    private let client: MQTTClient
    private let topics: CameraTopics
    private let logger: Logger
    private var writer: EventWriter
    private var throttle = StateThrottle()
    private var availability: Availability?
    /// Events that found no broker; they are gone, as a late toggle is worse than none.
    private(set) var droppedEvents = 0

    init(client: MQTTClient, topics: CameraTopics, boot: UInt32, logger: Logger) {
        (self.client, self.topics, self.logger) = (client, topics, logger)
        writer = EventWriter(boot: boot)
    }

    /// A broker that just let us in knows nothing: everything retained is published anew.
    mutating func connected(availability: Availability, isEnabled: Bool, at time: Double) {
        self.availability = nil
        announce(availability)
        announce(isEnabled: isEnabled)
        throttle.restart()
        if let state = throttle.due(at: time) { publish(state) }
    }

    mutating func announce(_ availability: Availability) {
        guard availability != self.availability else { return }
        if send(topics.availability, Array(availability.rawValue.utf8), qos: .atLeastOnce, retain: true) {
            self.availability = availability
        }
    }

    func announce(isEnabled: Bool) {
        let value: Switch = isEnabled ? .on : .off
        send(topics.enabled, Array(value.rawValue.utf8), qos: .atLeastOnce, retain: true)
    }

    mutating func update(_ state: CameraState, at time: Double) {
        if let due = throttle.update(state, at: time) { publish(due) }
    }

    /// Sends a state that was held back, when its time has come.
    mutating func tick(at time: Double) {
        if let due = throttle.due(at: time) { publish(due) }
    }

    private func publish(_ state: CameraState) {
        send(topics.state, Payload.encode(state), qos: .atLeastOnce, retain: true)
    }

    mutating func announce(_ event: GestureEvent, at time: Timestamp) {
        let properties = MQTTProperties(expiryInterval: UInt32(eventLifetime), contentType: "application/json")
        let sent: Bool
        switch writer.write(event, at: time) {
        case .toggle(let toggle):
            sent = send(topics.toggle, Payload.encode(toggle), qos: .atLeastOnce, retain: false, properties: properties)
            logger.info("toggle", ["hand": toggle.hand.rawValue, "confidence": toggle.confidence, "id": toggle.id, "published": sent])
        case .brightness(let brightness):
            let isEdge = brightness.phase != .changed
            sent = send(
                topics.brightness, Payload.encode(brightness), qos: isEdge ? .atLeastOnce : .atMostOnce, retain: false,
                properties: properties)
            let level: Logger.Level = isEdge ? .info : .debug
            logger.log(
                level, "brightness",
                ["value": brightness.value, "phase": brightness.phase.rawValue, "id": brightness.id, "published": sent])
        }
        if !sent { droppedEvents += 1 }
    }

    /// - Returns: Whether the message is on its way.
    @discardableResult
    private func send(
        _ topic: TopicName, _ payload: [UInt8], qos: QualityOfService, retain: Bool, properties: MQTTProperties = MQTTProperties()
    ) -> Bool {
        do {
            try client.send(MQTTMessage(topic: topic, payload: payload, qos: qos, retain: retain, properties: properties))
            return true
        } catch .offline {
            return false
        } catch {
            logger.warning("not published", ["topic": topic, "reason": "\(error)"])
            return false
        }
    }
}

/// The topics of one camera.
struct CameraTopics: Sendable {
    let toggle: TopicName
    let brightness: TopicName
    let state: TopicName
    let availability: TopicName
    let enabled: TopicName
    let enabledSet: TopicName
    let target: TopicName

    init(_ topics: Topics, camera: Identifier) {
        func name(_ leaf: Topics.CameraLeaf) -> TopicName {
            guard let name = try? TopicName(topics.camera(camera, leaf)) else { preconditionFailure("bases and ids are checked") }
            return name
        }
        toggle = name(.toggle)
        brightness = name(.brightness)
        state = name(.state)
        availability = name(.availability)
        enabled = name(.enabled)
        enabledSet = name(.enabledSet)
        target = name(.target)
    }
}
