internal import Contract
internal import Gestures
internal import HomeAssistant
internal import MQTT
internal import ServiceKit

/// Puts on MQTT what the camera sees, by the contract's rules.
struct Announcer: Sendable {
    private let client: MQTTClient
    private let topics: CameraTopics
    private let logger: Logger
    private let monitor: RecognizerMonitor
    private var writer: EventWriter
    var discovery: Discovery
    private var throttle = StateThrottle()
    private var availability: Availability?
    private var fingers: Int?
    private var isArmed: Bool?
    private var profile: Identifier?
    /// Events that found no broker; they are gone, as a late toggle is worse than none.
    private(set) var droppedEvents = 0

    init(
        client: MQTTClient, topics: CameraTopics, discovery: Discovery, boot: UInt32, monitor: RecognizerMonitor, logger: Logger
    ) {
        (self.client, self.topics, self.discovery, self.monitor, self.logger) = (client, topics, discovery, monitor, logger)
        writer = EventWriter(boot: boot)
    }

    /// A broker that just let us in, or a Home Assistant that just started, knows nothing: everything retained is published anew.
    mutating func publishEverything(availability: Availability, isEnabled: Bool, at time: Double) {
        publish(discovery.messages)
        self.availability = nil
        let (fingers, isArmed) = (fingers, isArmed)
        (self.fingers, self.isArmed) = (nil, nil)
        if let fingers { announce(fingers: fingers) }
        if let isArmed { announce(isArmed: isArmed) }
        if let profile { announce(profile: profile) }
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

    mutating func announce(fingers: Int) {
        guard fingers != self.fingers else { return }
        self.fingers = fingers
        send(topics.fingers, Array("\(fingers)".utf8), qos: .atLeastOnce, retain: true)
    }

    mutating func announce(isArmed: Bool, always: Bool = false) {
        guard always || isArmed != self.isArmed else { return }
        self.isArmed = isArmed
        let value: Switch = isArmed ? .on : .off
        send(topics.armed, Array(value.rawValue.utf8), qos: .atLeastOnce, retain: true)
    }

    mutating func announce(profile: Identifier) {
        self.profile = profile
        send(topics.profile, Array(profile.rawValue.utf8), qos: .atLeastOnce, retain: true)
    }

    /// Announcements for Home Assistant.
    func publish(_ messages: [Discovery.Message]) {
        for message in messages {
            guard let topic = try? TopicName(message.topic) else { continue }
            send(topic, message.payload, qos: .atLeastOnce, retain: true)
        }
    }

    mutating func update(_ state: CameraState, at time: Double) {
        if let due = throttle.update(state, at: time) { publish(due) }
    }

    private func publish(_ state: CameraState) {
        send(topics.state, Payload.encode(state), qos: .atLeastOnce, retain: true)
    }

    mutating func announce(_ event: GestureEvent, at time: ArrivalTime) {
        let sent: Bool
        switch writer.write(event, at: time) {
        case .toggle(let toggle):
            let payload = Payload.encode(toggle)
            sent = send(topics.toggle, payload, qos: .atLeastOnce, retain: false, properties: .event(.toggle))
            monitor.published(event, topics.toggle, payload, sent: sent)
            logger.info("toggle", ["hand": toggle.hand.rawValue, "confidence": toggle.confidence, "id": toggle.id, "published": sent])
        case .brightness(let brightness):
            let isEdge = brightness.phase != .changed
            let payload = Payload.encode(brightness)
            sent = send(
                topics.brightness, payload, qos: isEdge ? .atLeastOnce : .atMostOnce, retain: false, properties: .event(.brightness))
            monitor.published(event, topics.brightness, payload, sent: sent)
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

extension MQTTProperties {
    /// What an event says of itself beside its payload, where the broker speaks MQTT 5.
    static func event(_ leaf: Topics.CameraLeaf) -> Self {
        Self(
            expiryInterval: UInt32(eventLifetime), contentType: "application/json",
            userProperties: [
                UserProperty(name: "schema", value: "handkit/camera/\(leaf.rawValue)"),
                UserProperty(name: "version", value: "\(schemaVersion)"),
            ])
    }
}

/// The topics of one camera.
struct CameraTopics: Sendable {
    let camera: Identifier
    let toggle: TopicName
    let brightness: TopicName
    let state: TopicName
    let availability: TopicName
    let enabled: TopicName
    let enabledSet: TopicName
    let fingers: TopicName
    let armed: TopicName
    let armedSet: TopicName
    let profile: TopicName
    let profileSet: TopicName
    let target: TopicName
    let crash: TopicName
    let instance: TopicName
    /// What every camera is asked at.
    let refresh: TopicName

    init(_ topics: Topics, camera: Identifier) {
        func name(_ leaf: Topics.CameraLeaf) -> TopicName {
            guard let name = try? TopicName(topics.camera(camera, leaf)) else { preconditionFailure("bases and ids are checked") }
            return name
        }
        self.camera = camera
        toggle = name(.toggle)
        brightness = name(.brightness)
        state = name(.state)
        availability = name(.availability)
        enabled = name(.enabled)
        enabledSet = name(.enabledSet)
        fingers = name(.fingers)
        armed = name(.armed)
        armedSet = name(.armedSet)
        profile = name(.profile)
        profileSet = name(.profileSet)
        target = name(.target)
        crash = name(.crash)
        instance = name(.instance)
        guard let refresh = try? TopicName(topics.cameraRequest(.refresh)) else { preconditionFailure("bases are checked") }
        self.refresh = refresh
    }
}
