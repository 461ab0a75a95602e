/// One entity, or device trigger, of a device.
public struct DiscoveryComponent: Hashable, Sendable {
    /// Home Assistant's MQTT platforms that are used here.
    public enum Platform: String, Hashable, Sendable {
        case event, sensor, light, button, select
        case binarySensor = "binary_sensor"
        case toggleSwitch = "switch"
        case trigger = "device_automation"
    }

    public enum Category: String, Hashable, Sendable {
        case config, diagnostic
    }

    /// Names it within its device, for ever: it is part of the unique id.
    public var key: String
    public var platform: Platform
    /// What a person reads; nil for an entity that goes by its device's name. Triggers have none.
    public var name: String?
    /// Options as Home Assistant documents them for the platform.
    public var options: [String: DiscoveryValue]

    public init(_ key: String, _ platform: Platform, name: String?, _ options: [String: DiscoveryValue]) {
        (self.key, self.platform, self.name, self.options) = (key, platform, name, options)
    }

    /// The same with an icon.
    public func icon(_ name: String) -> Self { with("icon", .text("mdi:\(name)")) }

    /// The same as a setting or a diagnosis, which dashboards leave out; `isOn` says whether it is there without being asked for.
    public func category(_ category: Category, isOn: Bool = true) -> Self {
        let result = with("entity_category", .text(category.rawValue))
        return isOn ? result : result.with("enabled_by_default", false)
    }

    public func with(_ option: String, _ value: DiscoveryValue) -> Self {
        var result = self
        result.options[option] = value
        return result
    }
}

extension DiscoveryComponent {
    /// A value read from a topic.
    ///
    /// The template is Jinja, over the payload as `value` and `value_json`; nil for the payload as it is.
    public static func sensor(
        _ key: String, _ name: String, topic: String, template: String? = nil, unit: String? = nil, isMeasurement: Bool = false
    ) -> Self {
        var options: [String: DiscoveryValue] = ["state_topic": .text(topic)]
        if let template { options["value_template"] = .text(template) }
        if let unit { options["unit_of_measurement"] = .text(unit) }
        if isMeasurement { options["state_class"] = "measurement" }
        return Self(key, .sensor, name: name, options)
    }

    /// On or off, read from a topic; what the template makes of it has to be `ON` or `OFF`.
    public static func binarySensor(_ key: String, _ name: String, topic: String, template: String? = nil) -> Self {
        var options: [String: DiscoveryValue] = ["state_topic": .text(topic)]
        if let template { options["value_template"] = .text(template) }
        return Self(key, .binarySensor, name: name, options)
    }

    /// A switch between `ON` and `OFF`.
    public static func toggleSwitch(_ key: String, _ name: String, state: String, command: String) -> Self {
        Self(key, .toggleSwitch, name: name, ["state_topic": .text(state), "command_topic": .text(command), "qos": 1])
    }

    /// A choice of names, each sent and received as it is.
    public static func select(_ key: String, _ name: String, choices: [String], state: String, command: String) -> Self {
        Self(
            key, .select, name: name,
            [
                "state_topic": .text(state), "command_topic": .text(command), "options": .list(choices.map(DiscoveryValue.text)), "qos": 1,
            ])
    }

    /// A button that sends a payload.
    public static func button(_ key: String, _ name: String, command: String, payload: String) -> Self {
        Self(key, .button, name: name, ["command_topic": .text(command), "payload_press": .text(payload), "qos": 1])
    }

    /// A device trigger: fires when the template makes `payload` of a message.
    public static func trigger(_ subtype: String, topic: String, template: String, payload: String) -> Self {
        Self(
            "trigger_\(subtype)", .trigger, name: nil,
            [
                "automation_type": "trigger", "type": "action", "subtype": .text(subtype), "topic": .text(topic),
                "value_template": .text(template), "payload": .text(payload), "qos": 1,
            ])
    }
}
