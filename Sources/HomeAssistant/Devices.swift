public import Contract

extension DiscoveryDevice {
    /// Which of a camera's features are in use.
    public struct CameraFeatures: Hashable, Sendable {
        /// Gestures act only when armed.
        public var showsArming = false
        /// …and the switch arms.
        public var armsByCommand = false

        public init(showsArming: Bool = false, armsByCommand: Bool = false) {
            (self.showsArming, self.armsByCommand) = (showsArming, armsByCommand)
        }
    }

    /// A camera with what is seen by it.
    ///
    /// `more` are components of other parts of the program, such as a choice of profiles.
    public static func camera(
        _ camera: Identifier, topics: Topics, version: String, features: CameraFeatures = CameraFeatures(),
        more: [DiscoveryComponent] = []
    ) -> Self {
        func topic(_ leaf: Topics.CameraLeaf) -> String { topics.camera(camera, leaf) }
        let name = camera.rawValue == "camera" ? "HandKit camera" : "HandKit camera \(camera)"
        var components: [DiscoveryComponent] = [
            DiscoveryComponent(
                "toggle", .event, name: "Toggle",
                ["state_topic": .text(topic(.toggle)), "event_types": [.text(ToggleEvent.eventType)], "device_class": "button", "qos": 1]
            ).icon("gesture-pinch"),
            .sensor(
                "brightness", "Brightness", topic: topic(.state), template: "{{ value_json.brightness }}", unit: "%", isMeasurement: true
            ).icon("brightness-percent"),
            .binarySensor("hand", "Hand", topic: topic(.state), template: "{{ 'ON' if value_json.hand else 'OFF' }}")
                .with("device_class", "occupancy").icon("hand-front-right"),
            .sensor("fingers", "Fingers", topic: topic(.fingers), isMeasurement: true).icon("counter"),
            .toggleSwitch("enabled", "Enabled", state: topic(.enabled), command: topic(.enabledSet)).category(.config).icon("cctv"),
        ]
        if features.armsByCommand {
            components.append(.toggleSwitch("armed", "Armed", state: topic(.armed), command: topic(.armedSet)).icon("lock-open-check"))
        } else if features.showsArming {
            components.append(.binarySensor("armed", "Armed", topic: topic(.armed)).icon("lock-open-check"))
        }
        components += more
        components += [
            lastCrash(topic(.crash)),
            .sensor(
                "frame_rate", "Frame rate", topic: topic(.state), template: "{{ value_json.fps }}", unit: "fps", isMeasurement: true
            ).category(.diagnostic, isOn: false).icon("speedometer"),
            .sensor(
                "frame_age", "Frame age", topic: topic(.state), template: "{{ value_json.frame_age | default(none) }}", unit: "s",
                isMeasurement: true
            ).category(.diagnostic, isOn: false).with("device_class", "duration"),
            .trigger("toggle", topic: topic(.toggle), template: "{{ value_json.event_type }}", payload: ToggleEvent.eventType),
        ]
        components += [BrightnessEvent.Phase.began, .ended].map { phase in
            .trigger(
                "slide_\(phase.rawValue)", topic: topic(.brightness), template: "{{ value_json.phase }}", payload: phase.rawValue)
        }
        return Self(
            id: id("camera", camera, base: topics.base), name: name, model: "Camera with hand recognition", version: version,
            availability: [topic(.availability)], components: components)
    }

    /// A bridge, which lamps are reached through.
    public static func bridge(_ bridge: Identifier, topics: Topics, version: String) -> Self {
        let state = topics.bridge(bridge, .state)
        let name = bridge.rawValue == "bridge" ? "HandKit bridge" : "HandKit bridge \(bridge)"
        return Self(
            id: id("bridge", bridge, base: topics.base), name: name, model: "HomeKit bridge", version: version,
            availability: [topics.bridge(bridge, .availability)],
            components: [
                .sensor(
                    "lamps_available", "Lamps available", topic: state,
                    template: "{{ value_json.lamps | selectattr('available') | list | count }}", isMeasurement: true
                ).category(.diagnostic).icon("lightbulb-group"),
                counter("events_accepted", "Events accepted", topic: state, template: "{{ value_json.accepted }}").icon("check"),
                counter("events_rejected", "Events rejected", topic: state, template: "{{ value_json.rejected.values() | sum }}")
                    .icon("close"),
                lastCrash(topics.bridge(bridge, .crash)),
                .button(
                    "refresh", "Refresh", command: topics.request(.refresh), payload: "{\"bridge\":\"\(bridge)\"}"
                ).category(.config).icon("refresh"),
            ])
    }

    private static func lastCrash(_ topic: String) -> DiscoveryComponent {
        .sensor("last_crash", "Last crash", topic: topic, template: "{{ value_json.ts }}").with("device_class", "timestamp")
            .category(.diagnostic)
    }

    private static func counter(_ key: String, _ name: String, topic: String, template: String) -> DiscoveryComponent {
        .sensor(key, name, topic: topic, template: template).with("state_class", "total_increasing").category(.diagnostic, isOn: false)
    }

    /// A lamp behind a bridge.
    ///
    /// `isDimmable` is false for a lamp that is known to be only on or off; `statuses` are all that `bridge/<id>/state` may say of a lamp.
    public static func lamp(
        _ lamp: Identifier, of bridge: Identifier, topics: Topics, version: String, isDimmable: Bool, statuses: [String]
    ) -> Self {
        let process = topics.bridge(bridge, .availability)
        var light: [String: DiscoveryValue] = [
            "schema": "json", "state_topic": .text(topics.lamp(lamp, .state)), "command_topic": .text(topics.lamp(lamp, .set)),
            "supported_color_modes": [isDimmable ? "brightness" : "onoff"], "qos": 1,
        ]
        if isDimmable { light["brightness_scale"] = 100 }
        let status = "{{ value_json.lamps | selectattr('id', 'eq', '\(lamp)') | map(attribute='status') | first }}"
        return Self(
            id: id("lamp", lamp, base: topics.base), name: title(lamp), model: "HomeKit lamp", version: version,
            via: id("bridge", bridge, base: topics.base), availability: [process, topics.lamp(lamp, .availability)],
            components: [
                DiscoveryComponent("light", .light, name: nil, light),
                // Of most use while the lamp itself is not available.
                .sensor("status", "Status", topic: topics.bridge(bridge, .state), template: status)
                    .with("device_class", "enum").with("options", .list(statuses.map(DiscoveryValue.text)))
                    .with("availability", .list([.map(["topic": .text(process)])])).category(.diagnostic).icon("lan-connect"),
                .button(
                    "identify", "Identify", command: topics.request(.identify), payload: "{\"bridge\":\"\(bridge)\",\"lamp\":\"\(lamp)\"}"
                ).with("device_class", "identify").category(.config),
            ])
    }
}
