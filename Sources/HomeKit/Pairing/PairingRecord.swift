internal import Cryptography
internal import FoundationEssentials

/// Everything a controller keeps about one accessory it is paired with; holds a private key and never prints it.
///
/// Encoding yields the private key in hex: wipe the encoded bytes after use and keep them nowhere but in a ``PairingStore``.
public struct PairingRecord: Sendable, Equatable {
    /// The accessory's pairing identifier, usually like `AA:BB:CC:DD:EE:FF`.
    public let accessoryID: String
    /// The accessory's long-term Ed25519 public key.
    let accessoryKey: [UInt8]
    let controller: ControllerIdentity
    /// Where the accessory was last seen.
    public var address: HAPAddress

    /// This controller's pairing identifier, an upper-case UUID that stays the same for ever.
    public var controllerID: String { controller.id }

    /// Whether it is the same pairing, wherever the accessory was last seen.
    public func isSamePairing(as other: PairingRecord) -> Bool {
        var moved = other
        moved.address = address
        return moved == self
    }

    init(accessoryID: String, accessoryKey: [UInt8], controller: ControllerIdentity, address: HAPAddress) {
        self.accessoryID = accessoryID
        self.accessoryKey = accessoryKey
        self.controller = controller
        self.address = address
    }
}

extension PairingRecord: CustomStringConvertible, CustomReflectable {
    public var description: String { "PairingRecord(\(accessoryID) at \(address))" }
    public var customMirror: Mirror { Mirror(self, children: ["accessoryID": accessoryID, "address": address]) }
}

extension PairingRecord: Codable {
    private enum CodingKeys: String, CodingKey {
        case accessoryID, accessoryLTPK, controllerID, controllerLTSK, host, port
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func key(_ name: CodingKeys) throws -> [UInt8] {
            guard let bytes = Hex.decode(try container.decode(String.self, forKey: name)), bytes.count == 32 else {
                throw DecodingError.dataCorruptedError(forKey: name, in: container, debugDescription: "not 32 bytes in hex")
            }
            return bytes
        }
        var seed = try key(.controllerLTSK)
        defer { wipe(&seed) }
        let id = try container.decode(String.self, forKey: .controllerID)
        self.init(
            accessoryID: try container.decode(String.self, forKey: .accessoryID),
            accessoryKey: try key(.accessoryLTPK),
            controller: ControllerIdentity(id: id, key: try Ed25519PrivateKey(seed: SecretBytes(copying: seed))),
            address: HAPAddress(
                host: try container.decode(String.self, forKey: .host), port: try container.decode(UInt16.self, forKey: .port)))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(accessoryID, forKey: .accessoryID)
        try container.encode(Hex.encode(accessoryKey.span), forKey: .accessoryLTPK)
        try container.encode(controller.id, forKey: .controllerID)
        try container.encode(controller.key.seed.withBytes { Hex.encode($0) }, forKey: .controllerLTSK)
        try container.encode(address.host, forKey: .host)
        try container.encode(address.port, forKey: .port)
    }
}

/// A controller as accessories know it: a name and a long-term key.
struct ControllerIdentity: Sendable, Equatable {
    let id: String
    let key: Ed25519PrivateKey

    init(id: String, key: Ed25519PrivateKey) {
        self.id = id
        self.key = key
    }

    /// A new one: upper case as Apple's controllers have it, because some accessories keep exactly 36 bytes and others parse a UUID.
    static func random() -> ControllerIdentity {
        guard let key = try? Ed25519PrivateKey() else { preconditionFailure("any 32 bytes are an Ed25519 seed") }
        return ControllerIdentity(id: UUID().uuidString, key: key)
    }

    static func == (left: ControllerIdentity, right: ControllerIdentity) -> Bool {
        left.id == right.id && left.key.seed == right.key.seed
    }
}

/// Bytes as lower-case hexadecimal text.
enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    static func encode(_ bytes: Span<UInt8>) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            for index in bytes.indices {
                buffer[2 * index] = digits[Int(bytes[index] >> 4)]
                buffer[2 * index + 1] = digits[Int(bytes[index] & 15)]
            }
            return bytes.count * 2
        }
    }

    static func decode(_ text: String) -> [UInt8]? {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}
