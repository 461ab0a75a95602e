internal import Cryptography
internal import FoundationEssentials

/// The pairing file of aiohomekit and homekit_python, whose entries Home Assistant keeps as well; for moving without pairing anew.
///
/// What is encoded holds private keys: keep it from other eyes, and wipe it.
public enum AIOHomeKitFile {
    /// Why an entry was left out.
    public enum Fault: Error, Equatable, Sendable {
        /// The text is no JSON of this form at all.
        case notAPairingFile
        /// An entry lacks a key, or what is there is not as long as it must be.
        case badField(alias: String, key: String)
        /// A pairing over Bluetooth or Thread.
        case notIP(alias: String)
    }

    private struct Entry: Codable {
        var AccessoryPairingID: String?
        var AccessoryLTPK: String?
        var iOSPairingId: String?
        var iOSDeviceLTSK: String?
        var iOSDeviceLTPK: String?
        var AccessoryIP: String?
        var AccessoryIPs: [String]?
        var AccessoryPort: Port?
        var Connection: String?
    }

    /// homekit_python wrote it as text.
    private enum Port: Codable {
        case number(UInt16)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(UInt16.self) {
                self = .number(number)
            } else if let number = UInt16(try container.decode(String.self)) {
                self = .number(number)
            } else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no port")
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number): try container.encode(number)
            }
        }
    }

    /// Reads the pairings by alias: `{"alias": {…}}`, or a single entry of which the accessory's identifier is the alias.
    public static func decode(_ bytes: [UInt8]) throws(Fault) -> [String: PairingRecord] {
        var data = Data(bytes)
        defer { data.resetBytes(in: data.startIndex..<data.endIndex) }
        let decoder = JSONDecoder()
        var entries: [String: Entry]
        if let single = try? decoder.decode(Entry.self, from: data), let id = single.AccessoryPairingID {
            entries = [id: single]
        } else if let several = try? decoder.decode([String: Entry].self, from: data) {
            entries = several
        } else {
            throw .notAPairingFile
        }
        var records: [String: PairingRecord] = [:]
        for (alias, entry) in entries.sorted(by: { $0.key < $1.key }) { records[alias] = try record(alias, entry) }
        return records
    }

    private static func record(_ alias: String, _ entry: Entry) throws(Fault) -> PairingRecord {
        if let connection = entry.Connection, connection != "IP" { throw .notIP(alias: alias) }
        func field<Value>(_ value: Value?, _ key: String) throws(Fault) -> Value {
            guard let value else { throw .badField(alias: alias, key: key) }
            return value
        }
        func key(_ text: String?, _ key: String) throws(Fault) -> [UInt8] {
            let bytes = Hex.decode(try field(text, key)) ?? []
            guard bytes.count == 32 else { throw .badField(alias: alias, key: key) }
            return bytes
        }
        var seed = try key(entry.iOSDeviceLTSK, "iOSDeviceLTSK")
        defer { wipe(&seed) }
        guard let secret = try? Ed25519PrivateKey(seed: SecretBytes(copying: seed)) else {
            throw .badField(alias: alias, key: "iOSDeviceLTSK")
        }
        if let known = entry.iOSDeviceLTPK, Hex.decode(known) != secret.publicKey { throw .badField(alias: alias, key: "iOSDeviceLTPK") }
        guard case .number(let port) = try field(entry.AccessoryPort, "AccessoryPort") else {
            throw .badField(alias: alias, key: "AccessoryPort")
        }
        return PairingRecord(
            accessoryID: try field(entry.AccessoryPairingID, "AccessoryPairingID"),
            accessoryKey: try key(entry.AccessoryLTPK, "AccessoryLTPK"),
            controller: ControllerIdentity(id: try field(entry.iOSPairingId, "iOSPairingId"), key: secret),
            address: HAPAddress(host: try field(entry.AccessoryIP ?? entry.AccessoryIPs?.first, "AccessoryIP"), port: port))
    }

    /// The file's bytes.
    public static func encode(_ records: [String: PairingRecord]) -> [UInt8] {
        let entries = records.mapValues { record in
            Entry(
                AccessoryPairingID: record.accessoryID, AccessoryLTPK: Hex.encode(record.accessoryKey.span),
                iOSPairingId: record.controllerID, iOSDeviceLTSK: record.controller.key.seed.withBytes { Hex.encode($0) },
                iOSDeviceLTPK: Hex.encode(record.controller.key.publicKey.span), AccessoryIP: record.address.host,
                AccessoryIPs: [record.address.host], AccessoryPort: .number(record.address.port), Connection: "IP")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        guard var data = try? encoder.encode(entries) else { preconditionFailure("texts and numbers can be encoded") }
        defer { data.resetBytes(in: data.startIndex..<data.endIndex) }
        return [UInt8](data) + [0x0A]
    }
}
