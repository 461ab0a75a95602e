internal import Cryptography

/// The accessory's side of pair-setup: one controller at a time, whichever connection it comes on.
struct PairSetupResponder: Sendable {
    typealias Connection = AccessoryServer.Connection

    /// What comes of one message.
    enum Outcome: Sendable {
        case answer(TLV8)
        /// The message is none; HTTP's 400.
        case malformed
        /// A proof of a wrong code, to be counted before it is answered.
        case wrongCode(TLV8)
        /// To be kept before it is answered.
        case paired(TLV8, PairedController)
    }

    /// Wrong codes an accessory takes in its life (HAP: no more than 100).
    static let maximumTries = 100

    private enum State {
        case idle
        case awaitingM3(Connection, SRPServer)
        case awaitingM5(Connection, sessionKey: SecretBytes, encryptionKey: SecretBytes)
    }

    private var state = State.idle

    /// Takes a controller's message.
    ///
    /// - Parameters:
    ///   - salt: Another one than 16 random bytes.
    mutating func received(
        _ body: [UInt8], on connection: Connection, of identity: AccessoryIdentity, leadingZeros: SRPServer.LeadingZeros = .either,
        salt: [UInt8]? = nil
    ) -> Outcome {
        guard let message = try? TLV8(decoding: body) else { return .malformed }
        switch (message[.state], state) {
        case ([1], _): return receivedM1(message, connection, identity, leadingZeros, salt)
        case ([3], .awaitingM3(connection, let server)): return receivedM3(message, connection, server)
        case ([5], .awaitingM5(connection, let sessionKey, let encryptionKey)):
            return receivedM5(message, identity, sessionKey, encryptionKey)
        case ([3], .awaitingM3), ([5], .awaitingM5): return .answer(Self.error(state: message, .busy))
        case ([3], _), ([5], _): return .answer(Self.error(state: message, .unknown))
        default: return .malformed
        }
    }

    /// A connection has ended; whatever was under way on it is over.
    mutating func closed(_ connection: Connection) {
        if owner == connection { state = .idle }
    }

    private var owner: Connection? {
        switch state {
        case .idle: nil
        case .awaitingM3(let connection, _), .awaitingM5(let connection, _, _): connection
        }
    }

    private static func error(state message: TLV8, _ code: PairingErrorCode) -> TLV8 {
        TLV8((.state, [(message[.state]?.first ?? 0) + 1]), (.error, [code.rawValue]))
    }

    private mutating func receivedM1(
        _ message: TLV8, _ connection: Connection, _ identity: AccessoryIdentity, _ leadingZeros: SRPServer.LeadingZeros, _ salt: [UInt8]?
    ) -> Outcome {
        // With and without Apple's authentication chip; this accessory has none and leaves the certificate out.
        guard let method = message.integer(.method), method <= 1 else { return .malformed }
        guard identity.controllers.isEmpty else { return .answer(Self.error(state: message, .unavailable)) }
        guard identity.failedTries < Self.maximumTries else { return .answer(Self.error(state: message, .maximumTries)) }
        guard owner == nil || owner == connection else { return .answer(Self.error(state: message, .busy)) }
        let server = SRPServer(
            username: "Pair-Setup", password: identity.setupCode.text, salt: salt ?? SecretBytes.random(count: 16).copied(),
            leadingZeros: leadingZeros)
        state = .awaitingM3(connection, server)
        return .answer(TLV8((.state, [2]), (.publicKey, server.publicKey), (.salt, server.salt)))
    }

    private mutating func receivedM3(_ message: TLV8, _ connection: Connection, _ server: SRPServer) -> Outcome {
        guard let clientKey = message[.publicKey], let proof = message[.proof] else { return .malformed }
        guard let session = server.session(clientPublicKey: clientKey, proof: proof) else {
            state = .idle
            return .wrongCode(Self.error(state: message, .authentication))
        }
        let key = HKDF.key(from: session.key, salt: "Pair-Setup-Encrypt-Salt", info: "Pair-Setup-Encrypt-Info")
        state = .awaitingM5(connection, sessionKey: session.key, encryptionKey: key)
        return .answer(TLV8((.state, [4]), (.proof, session.proof)))
    }

    private mutating func receivedM5(
        _ message: TLV8, _ identity: AccessoryIdentity, _ sessionKey: SecretBytes, _ encryptionKey: SecretBytes
    ) -> Outcome {
        state = .idle
        guard let sealed = message[.encryptedData] else { return .malformed }
        guard let opened = try? ChaChaPoly.open(sealed, key: encryptionKey, nonce: Nonce.text("PS-Msg05")),
            let inner = try? TLV8(decoding: opened)
        else { return .answer(Self.error(state: message, .authentication)) }
        guard let identifier = inner[.identifier], identifier.count <= PairedController.maximumID, !identifier.isEmpty,
            let id = String(validating: identifier, as: UTF8.self), let key = inner[.publicKey], key.count == 32,
            let signature = inner[.signature]
        else { return .malformed }
        let signed =
            HKDF.key(from: sessionKey, salt: "Pair-Setup-Controller-Sign-Salt", info: "Pair-Setup-Controller-Sign-Info").copied()
            + identifier + key
        guard Ed25519.isValid(signature: signature, for: signed, publicKey: key) else {
            return .answer(Self.error(state: message, .authentication))
        }

        let ownID = Array(identity.id.utf8)
        let own =
            HKDF.key(from: sessionKey, salt: "Pair-Setup-Accessory-Sign-Salt", info: "Pair-Setup-Accessory-Sign-Info").copied()
            + ownID + identity.key.publicKey
        let answer = TLV8(
            (.identifier, ownID), (.publicKey, identity.key.publicKey), (.signature, identity.key.signature(for: own)))
        let data = ChaChaPoly.seal(answer.encoded, key: encryptionKey, nonce: Nonce.text("PS-Msg06"))
        return .paired(
            TLV8((.state, [6]), (.encryptedData, data)), PairedController(id: id, key: key, isAdmin: true))
    }
}
