/// A light bulb of an accessory database with what it takes to switch and dim it.
///
/// Instance numbers may change with an accessory's firmware, so it is found by type each time the database is read.
public struct Lightbulb: Hashable, Sendable {
    public struct Brightness: Hashable, Sendable {
        public var id: CharacteristicID
        public var scale: BrightnessScale
        public var canNotify: Bool
        /// Percent, at the time the database was read; nil where it did not say.
        public var level: Int?
    }

    public var accessory: UInt64
    /// The name of the bulb's service, else of its accessory.
    public var name: String?
    public var manufacturer: String?
    public var model: String?
    public var on: CharacteristicID
    public var onCanNotify: Bool
    /// Nil for a bulb that cannot be dimmed.
    public var brightness: Brightness?
    /// What makes the accessory show itself; nil where it has none.
    public var identify: CharacteristicID?
    /// Whether its values take timed writes alone (`tw`).
    public var needsTimedWrites: Bool

    /// All bulbs in the order of the database; a service without On is none.
    public static func all(in accessories: [Accessory]) -> [Lightbulb] {
        accessories.flatMap { accessory in
            accessory.services.filter { $0.type == .lightbulb }.compactMap { Lightbulb(service: $0, of: accessory) }
        }
    }

    private init?(service: Accessory.Service, of accessory: Accessory) {
        guard let on = service.characteristic(.on) else { return nil }
        self.accessory = accessory.id
        name = service.characteristic(.name)?.value?.string ?? accessory.information(.name)
        manufacturer = accessory.information(.manufacturer)
        model = accessory.information(.model)
        self.on = on.id
        onCanNotify = on.canNotify
        brightness = service.characteristic(.brightness).map { characteristic in
            let scale = BrightnessScale(characteristic)
            return Brightness(
                id: characteristic.id, scale: scale, canNotify: characteristic.canNotify,
                level: characteristic.value?.number.flatMap(scale.percent))
        }
        identify = accessory.service(.accessoryInformation)?.characteristic(.identify)?.id
        needsTimedWrites = [on, service.characteristic(.brightness)].contains { $0?.permissions.contains("tw") == true }
    }
}

extension Accessory.Characteristic {
    /// Where an accessory gives no permissions at all, asking tells.
    fileprivate var canNotify: Bool { permissions.isEmpty || permissions.contains("ev") }
}
