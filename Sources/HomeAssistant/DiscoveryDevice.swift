internal import Contract

/// A device as Home Assistant's device-based MQTT discovery takes it (Home Assistant 2024.12 and newer).
public struct DiscoveryDevice: Equatable, Sendable {
    /// Names it in the topic, in unique ids and as device identifier; only `[a-zA-Z0-9_-]`.
    public var id: String
    /// What a person reads, and what entity ids begin with.
    public var name: String
    public var model: String
    /// The version of the program that announces it.
    public var version: String
    /// The device that it is reached through.
    public var via: String?
    /// Topics that have to say `online`, all of them. The first is that of the process which announces the device, and names its owner.
    public var availability: [String]
    public var components: [DiscoveryComponent]

    static let manufacturer = "HandKit for Linux"

    /// The retained payload of the device's `config` topic.
    ///
    /// `removed` are components that were announced before and are gone: Home Assistant takes them away where only their platform stands.
    public func payload(removing removed: [String: String] = [:]) -> [UInt8] {
        var map: [String: DiscoveryValue] = [
            "device": .map(descriptor),
            "origin": .map(["name": "HandKit", "sw_version": .text(version)]),
            "availability": .list(availability.map { .map(["topic": .text($0)]) }),
            "availability_mode": "all",
        ]
        var entries: [String: DiscoveryValue] = [:]
        for component in components { entries[component.key] = .map(options(of: component)) }
        for (key, platform) in removed {
            // A key that changes its platform is taken away in one message and comes back in the next.
            entries[key] = .map(["platform": .text(platform)])
        }
        map["components"] = .map(entries)
        return Payload.encode(DiscoveryValue.map(map))
    }

    private var descriptor: [String: DiscoveryValue] {
        var device: [String: DiscoveryValue] = [
            "identifiers": .list([.text(id)]), "name": .text(name), "manufacturer": .text(Self.manufacturer), "model": .text(model),
            "sw_version": .text(version),
        ]
        if let via { device["via_device"] = .text(via) }
        return device
    }

    private func options(of component: DiscoveryComponent) -> [String: DiscoveryValue] {
        var options = component.options
        options["platform"] = .text(component.platform.rawValue)
        // Triggers are known by type and subtype, and are no entities.
        guard component.platform != .trigger else { return options }
        options["unique_id"] = .text("\(id)_\(component.key)")
        options["name"] = component.name.map(DiscoveryValue.text) ?? DiscoveryValue.none
        let entity = component.name == nil ? slug(name) : "\(slug(name))_\(component.key)"
        options["default_entity_id"] = .text("\(component.platform.rawValue).\(entity)")
        return options
    }
}

extension DiscoveryDevice {
    /// The id of a device: what it is and what it is called, and below which base unless it is the usual one.
    ///
    /// A base may hold what an id may not; those of different bases are kept apart by a hash then.
    static func id(_ kind: String, _ id: Identifier, base: String) -> String { "\(prefix(base))_\(kind)_\(id)" }

    private static func prefix(_ base: String) -> String {
        let plain = String(base.map { isPlain($0) ? $0 : "_" })
        return plain == base ? base : "\(plain)_\(String(fingerprint(base), radix: 16))"
    }

    private static func isPlain(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "_" || character == "-")
    }

    /// FNV-1a, 32 bits.
    private static func fingerprint(_ text: String) -> UInt32 {
        text.utf8.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }

    /// `desk_lamp` as `Desk lamp`.
    static func title(_ id: Identifier) -> String {
        let words = id.rawValue.split { $0 == "_" || $0 == "-" }.joined(separator: " ")
        return words.isEmpty ? id.rawValue : words.prefix(1).uppercased() + words.dropFirst()
    }
}

/// As Home Assistant makes entity ids of names.
private func slug(_ name: String) -> String {
    String(name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
}
