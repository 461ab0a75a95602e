internal import Cryptography

/// A controller that an accessory is paired with.
package struct PairedController: Hashable, Sendable {
    /// Bytes an identifier may have; Apple's reference accessory has a field of this size.
    static let maximumID = 36

    package let id: String
    /// Its long-term Ed25519 public key.
    let key: [UInt8]
    /// Whether it may add and remove controllers.
    package var isAdmin: Bool
}

/// The controllers that an accessory is paired with, and HAP's rules for them.
package struct Controllers: Equatable, Sendable {
    /// HAP wants room for at least this many.
    static let maximum = 16

    package private(set) var all: [PairedController] = []

    package init() {}

    init(_ all: [PairedController]) { self.all = all }

    package var isEmpty: Bool { all.isEmpty }

    subscript(id: String) -> PairedController? { all.first { $0.id == id } }

    /// Adds a controller, or changes what a known one may do.
    ///
    /// - Returns: Why it cannot be; nil when it was done.
    mutating func add(_ controller: PairedController) -> PairingErrorCode? {
        if let index = all.firstIndex(where: { $0.id == controller.id }) {
            // The same name with another key would be someone else.
            guard all[index].key == controller.key else { return .unknown }
            all[index].isAdmin = controller.isAdmin
            return nil
        }
        guard all.count < Self.maximum else { return .maximumPeers }
        all.append(controller)
        return nil
    }

    /// Removes a controller, and with the last admin everyone, so that the accessory can be paired again.
    ///
    /// - Returns: Who is no longer paired; empty where the controller was not known, which is no error in HAP.
    mutating func remove(_ id: String) -> [PairedController] {
        let former = all
        all.removeAll { $0.id == id }
        if !all.contains(where: \.isAdmin), all != former { all = [] }
        return former.filter { controller in !all.contains { $0.id == controller.id } }
    }

    mutating func removeAll() { all = [] }

    /// The answer to a request to list them.
    var list: TLV8 {
        var message = TLV8((.state, [2]))
        for (index, controller) in all.enumerated() {
            if index > 0 { message.items.append(.init(type: TLV8.Kind.separator.rawValue, value: [])) }
            message.items += [
                .init(type: TLV8.Kind.identifier.rawValue, value: Array(controller.id.utf8)),
                .init(type: TLV8.Kind.publicKey.rawValue, value: controller.key),
                .init(type: TLV8.Kind.permissions.rawValue, value: [controller.isAdmin ? 1 : 0]),
            ]
        }
        return message
    }
}
