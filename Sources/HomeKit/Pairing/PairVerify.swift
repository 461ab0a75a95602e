internal import Cryptography

/// The two keys of a verified session, one for each direction.
struct SessionKeys: Sendable {
    /// Seals what this side sends.
    let outgoing: SecretBytes
    /// Opens what the other side sends.
    let incoming: SecretBytes
}

/// The controller's side of pair-verify: the accessory's answers in, ordered actions out.
struct PairVerify: Sendable {
    enum Action: Sendable {
        case send([UInt8])
        /// Everything after the last byte of the message just taken is encrypted, in both directions.
        case encrypt(SessionKeys)
        case verified
    }

    private enum State {
        case idle
        case awaitingM2
        case awaitingM4(shared: SecretBytes)
        case finished
    }

    private let pairing: PairingRecord
    private let ephemeral: X25519PrivateKey
    private var state = State.idle

    init(pairing: PairingRecord, ephemeral: X25519PrivateKey) {
        self.pairing = pairing
        self.ephemeral = ephemeral
    }

    /// With a fresh ephemeral key.
    init(pairing: PairingRecord) {
        guard let key = try? X25519PrivateKey() else { preconditionFailure("any 32 bytes are an X25519 key") }
        self.init(pairing: pairing, ephemeral: key)
    }

    var step: HAPStep {
        switch state {
        case .idle, .awaitingM2: .pairVerifyStart
        case .awaitingM4, .finished: .pairVerifyFinish
        }
    }

    /// The first message: state and key and nothing else, since Apple's reference accessory refuses any method here.
    mutating func start() -> [UInt8] {
        state = .awaitingM2
        return TLV8((.state, [1]), (.publicKey, ephemeral.publicKey)).encoded
    }

    /// Takes the accessory's answer to the message last sent.
    mutating func received(_ body: [UInt8]) throws(HAPError) -> [Action] {
        switch state {
        case .awaitingM2: return [.send(try receivedM2(body))]
        case .awaitingM4(let shared):
            _ = try TLV8(message: body, state: 4, step: step, authentication: .pairingLost)
            state = .finished
            let keys = SessionKeys(
                outgoing: HKDF.key(from: shared, salt: "Control-Salt", info: "Control-Write-Encryption-Key"),
                incoming: HKDF.key(from: shared, salt: "Control-Salt", info: "Control-Read-Encryption-Key"))
            return [.encrypt(keys), .verified]
        case .idle, .finished: preconditionFailure("no message is awaited")
        }
    }

    private mutating func receivedM2(_ body: [UInt8]) throws(HAPError) -> [UInt8] {
        let message = try TLV8(message: body, state: 2, step: step, authentication: .pairingLost)
        let accessoryKey = try message.required(.publicKey, step)
        let sealed = try message.required(.encryptedData, step)
        let shared: SecretBytes
        let key: SecretBytes
        let inner: TLV8
        do {
            shared = try ephemeral.sharedSecret(with: accessoryKey)
            key = HKDF.key(from: shared, salt: "Pair-Verify-Encrypt-Salt", info: "Pair-Verify-Encrypt-Info")
            inner = try TLV8(
                decoding: try ChaChaPoly.open(sealed, key: key, nonce: Nonce.text("PV-Msg02")))
        } catch {
            throw .notAuthentic(step)
        }
        let identifier = try inner.required(.identifier, step)
        let found = String(identifier: identifier)
        guard found.lowercased() == pairing.accessoryID.lowercased() else {
            throw .wrongAccessory(expected: pairing.accessoryID, found: found)
        }
        let signed = accessoryKey + identifier + ephemeral.publicKey
        guard Ed25519.isValid(signature: try inner.required(.signature, step), for: signed, publicKey: pairing.accessoryKey) else {
            throw .notAuthentic(step)
        }

        let controllerID = Array(pairing.controllerID.utf8)
        let signature = pairing.controller.key.signature(for: ephemeral.publicKey + controllerID + accessoryKey)
        let answer = TLV8((.identifier, controllerID), (.signature, signature)).encoded
        state = .awaitingM4(shared: shared)
        return TLV8(
            (.state, [3]),
            (
                .encryptedData,
                ChaChaPoly.seal(answer, key: key, nonce: Nonce.text("PV-Msg03"))
            )
        ).encoded
    }
}
