import Cryptography
import Foundation
import TestSupport

@testable import HomeKit

/// An accessory's side of pairing for faults a real one does not commit.
///
/// Its numbers in pair-setup are vectors of an independent server, so that a mistake shared with our controller cannot hide here.
struct ScriptedAccessory {
    struct Vector: Decodable {
        var name, username, password, salt, a, A, B, K, M1, M2: String

        static func named(_ name: String) throws -> Vector {
            let path = "\(Paths.root)/Tests/CryptographyTests/Vectors/srp.json"
            let all = try JSONDecoder().decode([Vector].self, from: Data(contentsOf: URL(filePath: path)))
            guard let vector = all.first(where: { $0.name == name }) else { throw CocoaError(.fileReadCorruptFile) }
            return vector
        }

        func bytes(_ field: KeyPath<Vector, String>) -> [UInt8] { Hex.decode(self[keyPath: field]) ?? [] }

        var secret: SecretBytes { SecretBytes(copying: bytes(\.a)) }
        var sessionKey: SecretBytes { SecretBytes(copying: bytes(\.K)) }
    }

    static let id = "AA:BB:CC:DD:EE:FF"

    let identity: Ed25519PrivateKey
    let ephemeral: X25519PrivateKey

    init() throws {
        identity = try Ed25519PrivateKey()
        ephemeral = try X25519PrivateKey()
    }

    func m2(_ vector: Vector) -> [UInt8] {
        TLV8((.state, [2]), (.salt, vector.bytes(\.salt)), (.publicKey, vector.bytes(\.B))).encoded
    }

    func m4(_ vector: Vector) -> [UInt8] { TLV8((.state, [4]), (.proof, vector.bytes(\.M2))).encoded }

    /// Takes M5 apart and answers it; nil where the controller's message is not genuine.
    func m6(for m5: [UInt8], _ vector: Vector, id: String = Self.id, signer: Ed25519PrivateKey? = nil) throws -> [UInt8]? {
        let key = HKDF.key(from: vector.sessionKey, salt: "Pair-Setup-Encrypt-Salt", info: "Pair-Setup-Encrypt-Info")
        let inner = try open(try TLV8(decoding: m5)[.encryptedData] ?? [], key, "PS-Msg05")
        let controller = (inner[.identifier] ?? [], inner[.publicKey] ?? [])
        let signedByController =
            HKDF.key(from: vector.sessionKey, salt: "Pair-Setup-Controller-Sign-Salt", info: "Pair-Setup-Controller-Sign-Info")
            .copied() + controller.0 + controller.1
        guard Ed25519.isValid(signature: inner[.signature] ?? [], for: signedByController, publicKey: controller.1) else { return nil }

        let signed =
            HKDF.key(from: vector.sessionKey, salt: "Pair-Setup-Accessory-Sign-Salt", info: "Pair-Setup-Accessory-Sign-Info").copied()
            + Array(id.utf8) + identity.publicKey
        let answer = TLV8(
            (.identifier, Array(id.utf8)), (.publicKey, identity.publicKey), (.signature, (signer ?? identity).signature(for: signed)))
        return TLV8((.state, [6]), (.encryptedData, seal(answer, key, "PS-Msg06"))).encoded
    }

    /// A pairing with this accessory as a controller keeps it.
    var pairing: PairingRecord {
        PairingRecord(
            accessoryID: Self.id, accessoryKey: identity.publicKey, controller: .random(),
            address: HAPAddress(host: "127.0.0.1", port: 1))
    }

    func shared(with m1: [UInt8]) throws -> SecretBytes {
        try ephemeral.sharedSecret(with: try TLV8(decoding: m1)[.publicKey] ?? [])
    }

    func m2(verifying m1: [UInt8], id: String = Self.id, signer: Ed25519PrivateKey? = nil) throws -> [UInt8] {
        let controllerKey = try TLV8(decoding: m1)[.publicKey] ?? []
        let signed = ephemeral.publicKey + Array(id.utf8) + controllerKey
        let answer = TLV8((.identifier, Array(id.utf8)), (.signature, (signer ?? identity).signature(for: signed)))
        return TLV8(
            (.state, [2]), (.publicKey, ephemeral.publicKey), (.encryptedData, seal(answer, try verifyKey(m1), "PV-Msg02"))
        ).encoded
    }

    /// Whether M3 proves the controller of a pairing.
    func accepts(_ m3: [UInt8], after m1: [UInt8], from pairing: PairingRecord) throws -> Bool {
        let inner = try open(try TLV8(decoding: m3)[.encryptedData] ?? [], try verifyKey(m1), "PV-Msg03")
        let controllerKey = try TLV8(decoding: m1)[.publicKey] ?? []
        let id = inner[.identifier] ?? []
        return id == Array(pairing.controllerID.utf8)
            && Ed25519.isValid(
                signature: inner[.signature] ?? [], for: controllerKey + id + ephemeral.publicKey,
                publicKey: pairing.controller.key.publicKey)
    }

    /// The session's keys, from the accessory's point of view.
    func sessionKeys(after m1: [UInt8]) throws -> SessionKeys {
        let shared = try shared(with: m1)
        return SessionKeys(
            outgoing: HKDF.key(from: shared, salt: "Control-Salt", info: "Control-Read-Encryption-Key"),
            incoming: HKDF.key(from: shared, salt: "Control-Salt", info: "Control-Write-Encryption-Key"))
    }

    private func verifyKey(_ m1: [UInt8]) throws -> SecretBytes {
        HKDF.key(from: try shared(with: m1), salt: "Pair-Verify-Encrypt-Salt", info: "Pair-Verify-Encrypt-Info")
    }

    private func open(_ sealed: [UInt8], _ key: SecretBytes, _ nonce: StaticString) throws -> TLV8 {
        try TLV8(
            decoding: try ChaChaPoly.open(sealed, key: key, nonce: Nonce.text(nonce)))
    }

    private func seal(_ message: TLV8, _ key: SecretBytes, _ nonce: StaticString) -> [UInt8] {
        ChaChaPoly.seal(message.encoded, key: key, nonce: Nonce.text(nonce))
    }
}
