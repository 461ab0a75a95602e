/// How a light bulb is.
package struct BulbState: Hashable, Sendable {
    package var on: Bool
    /// Percent, 0 to 100; kept while the bulb is off.
    package var brightness: Int

    package init(on: Bool = false, brightness: Int = 40) {
        self.on = on
        self.brightness = brightness
    }
}

/// What is to become of a bulb; nil leaves as it is.
package struct BulbChange: Hashable, Sendable {
    package var on: Bool?
    package var brightness: Int?

    package init(on: Bool? = nil, brightness: Int? = nil) {
        self.on = on
        self.brightness = brightness
    }

    package func applied(to state: BulbState) -> BulbState {
        BulbState(on: on ?? state.on, brightness: brightness ?? state.brightness)
    }
}

/// What a bulb made of a change.
package struct BulbOutcome: Sendable {
    package var state: BulbState
    package var onStatus = HAPStatus.success
    package var brightnessStatus = HAPStatus.success
    /// What the bulb does by itself some time after.
    package var later: (delay: Duration, change: BulbChange)?

    package init(_ state: BulbState) { self.state = state }
}

/// What an accessory says about itself.
package struct AccessoryInformation: Sendable, Equatable {
    package var name: String
    package var manufacturer: String
    package var model: String
    package var serialNumber: String
    package var firmwareRevision: String

    package init(name: String, manufacturer: String, model: String, serialNumber: String, firmwareRevision: String) {
        (self.name, self.manufacturer, self.model) = (name, manufacturer, model)
        (self.serialNumber, self.firmwareRevision) = (serialNumber, firmwareRevision)
    }
}

/// The accessories of one server with their characteristics: one bulb, or a bridge with many behind it.
struct BulbDatabase: Sendable {
    enum Role: Sendable {
        case identify
        case fixed(CharacteristicValue)
        case on(bulb: Int)
        case brightness(bulb: Int)
    }

    struct Characteristic: Sendable {
        var id: CharacteristicID
        var type: HAPType
        var role: Role
        var permissions: [String]
        var metadata: String
    }

    private struct Service: Sendable {
        var accessory: UInt64
        var instance: UInt64
        var type: HAPType
        var characteristics: [CharacteristicID]
    }

    private(set) var characteristics: [CharacteristicID: Characteristic] = [:]
    private var services: [Service] = []
    /// By bulb.
    private var on: [CharacteristicID] = []
    private var brightness: [CharacteristicID] = []

    /// - Parameters:
    ///   - count: Bulbs; above one the accessory is a bridge (aid 1) with a bulb behind each further aid.
    ///   - offset: Added to every instance number.
    init(_ information: AccessoryInformation, count: Int, offset: UInt64 = 0, brightnessStep: Int = 1) {
        precondition(count >= 1, "a lamp has a bulb")
        addInformation(information, accessory: 1)
        add(
            .init(accessory: 1, instance: 16 + offset, type: "A2", characteristics: []),
            [(18, "37", .fixed(.string("1.1.0")), ["pr"], Self.text)], offset)
        for bulb in 0..<count {
            let accessory = count == 1 ? 1 : UInt64(bulb) + 2
            var information = information
            if count > 1 {
                information.name += " \(bulb + 1)"
                information.serialNumber += "-\(bulb + 1)"
                addInformation(information, accessory: accessory)
            }
            add(
                .init(accessory: accessory, instance: 48 + offset, type: .lightbulb, characteristics: []),
                [
                    (50, .name, .fixed(.string(information.name)), ["pr"], Self.text),
                    (51, .on, .on(bulb: bulb), ["pr", "pw", "ev"], "\"format\":\"bool\""),
                    (
                        52, .brightness, .brightness(bulb: bulb), ["pr", "pw", "ev"],
                        "\"format\":\"int\",\"unit\":\"percentage\",\"minValue\":0,\"maxValue\":100,\"minStep\":\(brightnessStep)"
                    ),
                ], offset)
        }
    }

    private static let text = "\"format\":\"string\""

    private mutating func addInformation(_ information: AccessoryInformation, accessory: UInt64) {
        // HAP fixes the instance number of this service, so that the offset is not for it.
        add(
            .init(accessory: accessory, instance: 1, type: .accessoryInformation, characteristics: []),
            [
                (2, "14", .identify, ["pw"], "\"format\":\"bool\""),
                (3, .manufacturer, .fixed(.string(information.manufacturer)), ["pr"], Self.text),
                (4, .model, .fixed(.string(information.model)), ["pr"], Self.text),
                (5, .name, .fixed(.string(information.name)), ["pr"], Self.text),
                (6, .serialNumber, .fixed(.string(information.serialNumber)), ["pr"], Self.text),
                (7, .firmwareRevision, .fixed(.string(information.firmwareRevision)), ["pr"], Self.text),
            ], 0)
    }

    private mutating func add(
        _ service: Service, _ members: [(UInt64, HAPType, Role, [String], String)], _ offset: UInt64
    ) {
        var service = service
        for (instance, type, role, permissions, metadata) in members {
            let id = CharacteristicID(accessory: service.accessory, instance: instance + offset)
            switch role {
            case .on: on.append(id)
            case .brightness: brightness.append(id)
            case .identify, .fixed: break
            }
            characteristics[id] = Characteristic(id: id, type: type, role: role, permissions: permissions, metadata: metadata)
            service.characteristics.append(id)
        }
        services.append(service)
    }

    /// The current value as JSON; nil for what cannot be read.
    func value(of characteristic: Characteristic, _ bulbs: [BulbState]) -> String? {
        switch characteristic.role {
        case .identify: nil
        case .fixed(let value): value.json
        case .on(let bulb): bulbs[bulb].on ? "1" : "0"
        case .brightness(let bulb): String(bulbs[bulb].brightness)
        }
    }

    /// The characteristics in which two states of a bulb differ.
    func differences(of bulb: Int, _ old: BulbState, _ new: BulbState) -> [CharacteristicID] {
        (old.on == new.on ? [] : [on[bulb]]) + (old.brightness == new.brightness ? [] : [brightness[bulb]])
    }

    /// The body of `GET /accessories`.
    func json(_ bulbs: [BulbState]) -> String {
        var accessories: [String] = []
        for accessory in Set(services.map(\.accessory)).sorted() {
            let own = services.filter { $0.accessory == accessory }.map { service in
                let members = service.characteristics.compactMap { characteristics[$0] }.map { characteristic in
                    var fields = ["\"iid\":\(characteristic.id.instance)", "\"type\":\"\(characteristic.type)\""]
                    fields.append(Self.permissions(characteristic))
                    fields.append(characteristic.metadata)
                    if let value = value(of: characteristic, bulbs) { fields.append("\"value\":\(value)") }
                    return "{\(fields.joined(separator: ","))}"
                }
                return "{\"iid\":\(service.instance),\"type\":\"\(service.type)\",\"characteristics\":[\(members.joined(separator: ","))]}"
            }
            accessories.append("{\"aid\":\(accessory),\"services\":[\(own.joined(separator: ","))]}")
        }
        return "{\"accessories\":[\(accessories.joined(separator: ","))]}"
    }

    static func permissions(_ characteristic: Characteristic) -> String {
        "\"perms\":[\(characteristic.permissions.map { "\"\($0)\"" }.joined(separator: ","))]"
    }
}
