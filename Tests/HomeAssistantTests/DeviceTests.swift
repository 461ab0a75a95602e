import Contract
import Foundation
import HomeAssistant
import Testing

@Suite struct DeviceTests {
    @Test func `every component has a platform and every entity a unique id that begins with its device`() throws {
        for device in try all() {
            let components = try components(device)
            #expect(components.count == device.components.count)
            for (key, component) in components {
                let platform = try #require(component["platform"] as? String)
                guard platform != "device_automation" else { continue }
                #expect(component["unique_id"] as? String == "\(device.id)_\(key)")
                let entity = try #require(component["default_entity_id"] as? String)
                #expect(entity.hasPrefix("\(platform)."))
                #expect(entity.split(separator: ".")[1].allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "_") })
            }
        }
    }

    @Test func `no two devices or entities share an id`() throws {
        let devices = try all()
        #expect(Set(devices.map(\.id)).count == devices.count)
        let ids = try devices.flatMap { try components($0).values.compactMap { $0["unique_id"] as? String } }
        #expect(Set(ids).count == ids.count)
    }

    @Test func `ids hold only what Home Assistant takes, whatever the base, and differ with it`() throws {
        let bases = ["handkit", "home/handkit", "home_handkit", "Küche", "K_che", "K*che", "a b", "a~b"]
        let ids = try bases.map { DiscoveryDevice.camera(try Identifier("desk"), topics: try Topics(base: $0), version: "1").id }
        for id in ids { #expect(id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }) }
        #expect(Set(ids).count == bases.count)
        #expect(ids[0] == "handkit_camera_desk")
    }

    @Test func `a device names its origin, its process and its part, and that all of them count`() throws {
        let payload = try object(try lamp())
        #expect((payload["origin"] as? [String: Any])?["name"] as? String == "HandKit")
        let topics = (payload["availability"] as? [[String: String]])?.compactMap { $0["topic"] }
        #expect(topics == ["handkit/bridge/house/availability", "handkit/lamp/desk_lamp/availability"])
        #expect(payload["availability_mode"] as? String == "all")
        #expect(payload["~"] == nil)
    }

    @Test func `a lamp goes by its own name, is dimmed in percent and stands behind its bridge`() throws {
        let light = try #require(try components(try lamp())["light"])
        #expect(light["name"] is NSNull)
        #expect(light["schema"] as? String == "json")
        #expect(light["brightness_scale"] as? Int == 100)
        #expect(light["supported_color_modes"] as? [String] == ["brightness"])
        #expect(light["command_topic"] as? String == "handkit/lamp/desk_lamp/set")
        #expect(light["default_entity_id"] as? String == "light.desk_lamp")
        let device = try #require(try object(try lamp())["device"] as? [String: Any])
        #expect(device["via_device"] as? String == DiscoveryDevice.bridge(try Identifier("house"), topics: try Topics(), version: "1").id)
    }

    @Test func `a lamp that cannot be dimmed is only switched`() throws {
        let light = try #require(try components(try lamp(isDimmable: false))["light"])
        #expect(light["supported_color_modes"] as? [String] == ["onoff"])
        #expect(light["brightness_scale"] == nil)
    }

    @Test func `the arming switch is there only where it arms`() throws {
        let (off, gesture) = (try camera(.init()), try camera(.init(showsArming: true)))
        let command = try camera(.init(showsArming: true, armsByCommand: true))
        #expect(try components(off)["armed"] == nil)
        #expect(try components(gesture)["armed"]?["platform"] as? String == "binary_sensor")
        #expect(try components(command)["armed"]?["command_topic"] as? String == "handkit/camera/desk/armed/set")
    }

    @Test func `diagnostics of a camera are off unless asked for`() throws {
        for key in ["frame_rate", "frame_age"] {
            let component = try #require(try components(try camera(.init()))[key])
            #expect(component["enabled_by_default"] as? Bool == false)
            #expect(component["entity_category"] as? String == "diagnostic")
        }
    }

    @Test func `what other parts of the program add is announced too`() throws {
        let profile = DiscoveryComponent.select("profile", "Profile", choices: ["day", "night"], state: "a", command: "b")
        let device = DiscoveryDevice.camera(try Identifier("desk"), topics: try Topics(), version: "1", more: [profile])
        #expect(try components(device)["profile"]?["options"] as? [String] == ["day", "night"])
    }

    @Test func `the same device is always the same bytes`() throws {
        #expect(try lamp().payload() == (try lamp().payload()))
    }
}

func camera(_ features: DiscoveryDevice.CameraFeatures) throws -> DiscoveryDevice {
    .camera(try Identifier("desk"), topics: try Topics(), version: "1", features: features)
}

func lamp(isDimmable: Bool = true) throws -> DiscoveryDevice {
    .lamp(
        try Identifier("desk_lamp"), of: try Identifier("house"), topics: try Topics(), version: "1", isDimmable: isDimmable,
        statuses: ["ok", "unreachable"])
}

private func all() throws -> [DiscoveryDevice] {
    [
        try camera(.init(showsArming: true, armsByCommand: true)), try lamp(),
        .camera(try Identifier("camera"), topics: try Topics(), version: "1"),
        .camera(try Identifier("desk"), topics: try Topics(base: "home/handkit"), version: "1"),
        .bridge(try Identifier("house"), topics: try Topics(), version: "1"),
        .bridge(try Identifier("bridge"), topics: try Topics(), version: "1"),
    ]
}

func object(_ device: DiscoveryDevice) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(device.payload())) as? [String: Any])
}

func components(_ device: DiscoveryDevice) throws -> [String: [String: Any]] {
    try #require(try object(device)["components"] as? [String: [String: Any]])
}
