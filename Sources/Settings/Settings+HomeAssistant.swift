internal import Contract
internal import HomeAssistant
internal import ServiceKit

extension Discovery.Settings {
    mutating func read(_ section: ConfigurationSection) {
        isEnabled = section.flag("enabled", default: isEnabled)
        let expectation = "without + and #, with no empty level, not beginning with $"
        // The rules for a base are those for any topic that others are built upon.
        func topic(_ text: String) -> String? { (try? Topics(base: text))?.base }
        prefix = section.value("prefix", default: prefix, expected: "a topic such as homeassistant, \(expectation)", topic)
        statusTopic = section.value(
            "status_topic", default: statusTopic, expected: "a topic such as homeassistant/status, \(expectation)", topic)
    }
}
