internal import Cryptography

/// The accessory's side of pair-verify on one connection.
struct PairVerifyResponder: Sendable {
    enum Outcome: Sendable {
        case answer(TLV8)
        /// The message is none, or asks for what is not done over IP; HTTP's 400.
        case malformed
        /// The answer is the last message in the clear; everything after it is encrypted, in both directions.
        case verified(TLV8, SessionKeys, PairedController)
    }

    private enum State {
        case idle
        case awaitingM3(shared: SecretBytes, key: SecretBytes, own: [UInt8], controller: [UInt8])
    }

    private var state = State.idle

    /// - Parameter makeKey: Yields the ephemeral key; a fresh random one by default.
    mutating func received(
        _ body: [UInt8], of identity: AccessoryIdentity,
        makeKey: () throws(InvalidKey) -> X25519PrivateKey = { () throws(InvalidKey) in try X25519PrivateKey() }
    ) -> Outcome {
        guard let message = try? TLV8(decoding: body) else { return .malformed }
        switch (message[.state], state) {
        case ([1], _): return receivedM1(message, identity, makeKey)
        case ([3], .awaitingM3(let shared, let key, let own, let controller)):
            state = .idle
            return receivedM3(message, identity, shared, key, own: own, controller: controller)
        case ([3], .idle): return .answer(TLV8((.state, [4]), (.error, [PairingErrorCode.unknown.rawValue])))
        default: return .malformed
        }
    }

    private mutating func receivedM1(
        _ message: TLV8, _ identity: AccessoryIdentity, _ makeKey: () throws(InvalidKey) -> X25519PrivateKey
    ) -> Outcome {
        // Apple's reference accessory refuses every method here, resumption included.
        guard message[.method] == nil, let controllerKey = message[.publicKey], controllerKey.count == 32,
            let ephemeral = try? makeKey(), let shared = try? ephemeral.sharedSecret(with: controllerKey)
        else { return .malformed }
        let id = Array(identity.id.utf8)
        let signature = identity.key.signature(for: ephemeral.publicKey + id + controllerKey)
        let key = HKDF.key(from: shared, salt: "Pair-Verify-Encrypt-Salt", info: "Pair-Verify-Encrypt-Info")
        let inner = TLV8((.identifier, id), (.signature, signature)).encoded
        state = .awaitingM3(shared: shared, key: key, own: ephemeral.publicKey, controller: controllerKey)
        return .answer(
            TLV8(
                (.state, [2]), (.publicKey, ephemeral.publicKey),
                (.encryptedData, ChaChaPoly.seal(inner, key: key, nonce: Nonce.text("PV-Msg02")))))
    }

    private func receivedM3(
        _ message: TLV8, _ identity: AccessoryIdentity, _ shared: SecretBytes, _ key: SecretBytes, own: [UInt8], controller: [UInt8]
    ) -> Outcome {
        let refusal = Outcome.answer(TLV8((.state, [4]), (.error, [PairingErrorCode.authentication.rawValue])))
        guard let sealed = message[.encryptedData] else { return .malformed }
        guard let opened = try? ChaChaPoly.open(sealed, key: key, nonce: Nonce.text("PV-Msg03")),
            let inner = try? TLV8(decoding: opened), let identifier = inner[.identifier], let signature = inner[.signature],
            let id = String(validating: identifier, as: UTF8.self), let paired = identity.controllers[id],
            Ed25519.isValid(signature: signature, for: controller + identifier + own, publicKey: paired.key)
        else { return refusal }
        let keys = SessionKeys(
            outgoing: HKDF.key(from: shared, salt: "Control-Salt", info: "Control-Read-Encryption-Key"),
            incoming: HKDF.key(from: shared, salt: "Control-Salt", info: "Control-Write-Encryption-Key"))
        return .verified(TLV8((.state, [4])), keys, paired)
    }
}
