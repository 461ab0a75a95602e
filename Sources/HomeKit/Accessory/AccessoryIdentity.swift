internal import Cryptography
internal import FoundationEssentials

/// Who an accessory is and whom it is paired with: everything it has to keep. Holds secrets and never prints them.
///
/// Encoding yields the private key in hex and the setup code: keep it nowhere but in a file of mode 0600.
package struct AccessoryIdentity: Sendable, Equatable {
    /// Like `AA:BB:CC:DD:EE:FF`, for ever the same.
    package let id: String
    let key: Ed25519PrivateKey
    package var setupCode: SetupCode
    /// Four characters of the QR code, by which a controller finds the accessory among others on the network.
    package let setupID: String
    package var controllers = Controllers()
    /// Proofs of a wrong setup code since the accessory was new; at 100 it takes no more.
    package var failedTries = 0
    /// `c#`: 1 to 65535, another one whenever the database has changed.
    package var configurationNumber = 1

    package static func == (left: AccessoryIdentity, right: AccessoryIdentity) -> Bool {
        left.id == right.id && left.key.seed == right.key.seed && left.setupCode == right.setupCode && left.setupID == right.setupID
            && left.controllers == right.controllers && left.failedTries == right.failedTries
            && left.configurationNumber == right.configurationNumber
    }

    init(id: String, key: Ed25519PrivateKey, setupCode: SetupCode, setupID: String) {
        (self.id, self.key, self.setupCode, self.setupID) = (id, key, setupCode, setupID)
    }

    /// A new one.
    package static func random(setupCode: SetupCode = .random()) -> AccessoryIdentity {
        guard let key = try? Ed25519PrivateKey() else { preconditionFailure("any 32 bytes are an Ed25519 seed") }
        var random = SystemRandomNumberGenerator()
        let id = (0..<6).map { _ in
            let text = String(UInt8.random(in: 0...255, using: &random), radix: 16, uppercase: true)
            return text.count == 1 ? "0" + text : text
        }.joined(separator: ":")
        let letters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        let setupID = String((0..<4).map { _ in letters[Int.random(in: letters.indices, using: &random)] })
        return AccessoryIdentity(id: id, key: key, setupCode: setupCode, setupID: setupID)
    }

    /// The next `c#`; it goes round within what HAP allows.
    package mutating func bumpConfigurationNumber() { configurationNumber = configurationNumber % 65535 + 1 }
}

extension AccessoryIdentity: CustomStringConvertible, CustomReflectable {
    package var description: String { "AccessoryIdentity(\(id))" }
    package var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

extension AccessoryIdentity: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, seed, setupCode, setupID, controllers, failedTries, configurationNumber
    }

    private struct Entry: Codable {
        var id: String
        var key: String
        var admin: Bool
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func bytes(_ text: String, _ name: CodingKeys) throws -> [UInt8] {
            guard let bytes = Hex.decode(text), bytes.count == 32 else {
                throw DecodingError.dataCorruptedError(forKey: name, in: container, debugDescription: "not 32 bytes in hex")
            }
            return bytes
        }
        var seed = try bytes(try container.decode(String.self, forKey: .seed), .seed)
        defer { wipe(&seed) }
        guard let code = try? SetupCode(try container.decode(String.self, forKey: .setupCode)) else {
            throw DecodingError.dataCorruptedError(forKey: .setupCode, in: container, debugDescription: "no setup code")
        }
        self.init(
            id: try container.decode(String.self, forKey: .id), key: try Ed25519PrivateKey(seed: SecretBytes(copying: seed)),
            setupCode: code, setupID: try container.decode(String.self, forKey: .setupID))
        controllers = Controllers(
            try container.decode([Entry].self, forKey: .controllers).map { entry in
                PairedController(id: entry.id, key: try bytes(entry.key, .controllers), isAdmin: entry.admin)
            })
        failedTries = try container.decode(Int.self, forKey: .failedTries)
        configurationNumber = try container.decode(Int.self, forKey: .configurationNumber)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(key.seed.withBytes { Hex.encode($0) }, forKey: .seed)
        try container.encode(setupCode.digitsWithDashes, forKey: .setupCode)
        try container.encode(setupID, forKey: .setupID)
        try container.encode(
            controllers.all.map { Entry(id: $0.id, key: Hex.encode($0.key.span), admin: $0.isAdmin) }, forKey: .controllers)
        try container.encode(failedTries, forKey: .failedTries)
        try container.encode(configurationNumber, forKey: .configurationNumber)
    }
}

extension SetupCode {
    /// A code that nobody guesses, and none of the trivial ones.
    package static func random() -> SetupCode {
        var random = SystemRandomNumberGenerator()
        while true {
            let digits = String(Int.random(in: 100_000_000...199_999_999, using: &random)).dropFirst()
            if let code = try? SetupCode(String(digits)), !code.isTrivial { return code }
        }
    }

    /// The code to show to whoever may pair: `ddd-dd-ddd`. Not for logs.
    package var digitsWithDashes: String { String(decoding: text.copied(), as: UTF8.self) }
}

extension AccessoryIdentity {
    /// Forgets whom it is paired with, and stays who it is.
    package mutating func forgetControllers() { controllers.removeAll() }
}
