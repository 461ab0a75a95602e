internal import Cryptography

extension AccessoryIdentity {
    /// Makes a controller known, with the pairing that it would keep, as a pair-setup leaves both: for a house of many lamps that is made up
    /// for a measurement, in which each pair-setup would take a tenth of a second.
    package mutating func acquaint(at address: HAPAddress) -> PairingRecord {
        let controller = ControllerIdentity.random()
        _ = controllers.add(PairedController(id: controller.id, key: controller.key.publicKey, isAdmin: true))
        return PairingRecord(accessoryID: id, accessoryKey: key.publicKey, controller: controller, address: address)
    }
}
