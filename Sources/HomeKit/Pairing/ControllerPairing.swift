/// A controller as an accessory keeps it.
public struct ControllerPairing: Hashable, Sendable {
    /// The controller's pairing identifier.
    public var id: String
    /// Its long-term Ed25519 public key, 32 bytes.
    public var publicKey: [UInt8]
    /// Whether it may add and remove controllers.
    public var isAdministrator: Bool

    public init(id: String, publicKey: [UInt8], isAdministrator: Bool) {
        (self.id, self.publicKey, self.isAdministrator) = (id, publicKey, isAdministrator)
    }

    /// The entries of a list, in the accessory's order; one without identifier is left out.
    ///
    /// An entry begins with its identifier, so that accessories which forget the separators are understood too.
    package static func all(in message: TLV8) throws(HAPError) -> [ControllerPairing] {
        var pairings: [ControllerPairing] = []
        for item in message.items {
            switch TLV8.Kind(rawValue: item.type) {
            case .identifier:
                guard let id = String(validating: item.value, as: UTF8.self) else {
                    throw .malformed(.listPairings, reason: "identifier is not UTF-8")
                }
                pairings.append(ControllerPairing(id: id, publicKey: [], isAdministrator: false))
            case .publicKey where !pairings.isEmpty: pairings[pairings.count - 1].publicKey = item.value
            case .permissions where !pairings.isEmpty:
                pairings[pairings.count - 1].isAdministrator = item.value.first.map { $0 & 1 == 1 } ?? false
            default: break
            }
        }
        return pairings
    }
}
