internal import Cryptography

/// How an accessory authenticates itself during pair-setup, as its `ff` flag says over mDNS.
public enum PairSetupMethod: UInt8, Sendable {
    /// By the setup code alone.
    case plain = 0
    /// With Apple's authentication chip or software token as well; its certificate is not checked.
    case withAuthentication = 1
}

/// The controller's side of pair-setup: the accessory's answers in, messages to send and at last a pairing out.
///
/// Accessories disagree on numbers that begin with a zero byte, about one pairing in eighty. So the secret is rolled again until A, S and
/// K have none, and where the accessory's own B has one the exchange starts over before a proof is sent, which counts as no failed try.
/// An accessory that insists gets one more try with the other reading of B.
struct PairSetup: Sendable {
    enum Action: Sendable {
        case send([UInt8])
        case paired(accessoryID: String, accessoryKey: [UInt8])
    }

    /// Far above what chance needs: a restart helps with probability 255/256.
    static let maximumRestarts = 6
    static let maximumRolls = 64

    private enum State {
        case idle
        case awaitingM2(Attempt)
        case awaitingM4(Attempt, SRPAnswer)
        case awaitingM6(SRPAnswer, encryptionKey: SecretBytes)
        case finished
    }

    private struct Attempt {
        var restarts = 0
        /// Whether B with a leading zero is hashed in the other form than the one it came in.
        var usesOtherForm = false
        /// Whether a refused proof may be the leading zero's fault.
        var sawLeadingZero = false
    }

    private let code: SetupCode
    private let method: PairSetupMethod
    private let controller: ControllerIdentity
    private let makeSecret: @Sendable () -> SecretBytes
    private var state = State.idle

    init(
        code: SetupCode, method: PairSetupMethod, controller: ControllerIdentity,
        makeSecret: @escaping @Sendable () -> SecretBytes = { .random(count: 32) }
    ) {
        self.code = code
        self.method = method
        self.controller = controller
        self.makeSecret = makeSecret
    }

    /// What the accessory is asked next.
    var step: HAPStep {
        switch state {
        case .idle, .awaitingM2: .pairSetupStart
        case .awaitingM4: .pairSetupProof
        case .awaitingM6, .finished: .pairSetupExchange
        }
    }

    /// The first message.
    mutating func start() -> [UInt8] { start(Attempt()) }

    /// Takes the accessory's answer to the message last sent.
    mutating func received(_ body: [UInt8]) throws(HAPError) -> Action {
        switch state {
        case .awaitingM2(let attempt): return try receivedM2(body, attempt)
        case .awaitingM4(let attempt, let answer): return try receivedM4(body, attempt, answer)
        case .awaitingM6(_, let key): return try receivedM6(body, key)
        case .idle, .finished: preconditionFailure("no message is awaited")
        }
    }

    private mutating func start(_ attempt: Attempt) -> [UInt8] {
        state = .awaitingM2(attempt)
        return TLV8((.state, [1]), (.method, [method.rawValue])).encoded
    }

    private mutating func receivedM2(_ body: [UInt8], _ attempt: Attempt) throws(HAPError) -> Action {
        let message = try TLV8(message: body, state: 2, step: step, authentication: .refused(step, code: 2))
        let salt = try message.required(.salt, step)
        let serverKey = try message.required(.publicKey, step)
        guard salt.count == 16 else { throw .malformed(step, reason: "salt of \(salt.count) bytes") }

        var attempt = attempt
        let hasLeadingZero = serverKey.count < SRPGroup.byteCount || serverKey.first == 0
        if hasLeadingZero, attempt.restarts < Self.maximumRestarts {
            attempt.restarts += 1
            return .send(start(attempt))
        }
        attempt.sawLeadingZero = hasLeadingZero
        let hashedKey = attempt.usesOtherForm ? Self.otherForm(serverKey) : serverKey
        let client: SRPClient
        do {
            client = try SRPClient(username: "Pair-Setup", password: code.text, salt: salt, serverPublicKey: hashedKey)
        } catch {
            throw .notAuthentic(step)
        }
        var answer = client.answer(secret: makeSecret())
        for _ in 0..<Self.maximumRolls where answer.hasLeadingZero { answer = client.answer(secret: makeSecret()) }
        if answer.hasLeadingZero { attempt.sawLeadingZero = true }
        state = .awaitingM4(attempt, answer)
        return .send(TLV8((.state, [3]), (.publicKey, answer.publicKey), (.proof, answer.proof)).encoded)
    }

    private mutating func receivedM4(_ body: [UInt8], _ attempt: Attempt, _ answer: SRPAnswer) throws(HAPError) -> Action {
        let message: TLV8
        do {
            message = try TLV8(message: body, state: 4, step: step, authentication: .wrongSetupCode)
        } catch .wrongSetupCode where attempt.sawLeadingZero && !attempt.usesOtherForm {
            return .send(start(Attempt(usesOtherForm: true)))
        }
        guard answer.isValid(serverProof: try message.required(.proof, step)) else { throw .notAuthentic(step) }

        let signed =
            HKDF.key(from: answer.sessionKey, salt: "Pair-Setup-Controller-Sign-Salt", info: "Pair-Setup-Controller-Sign-Info")
            .copied() + Array(controller.id.utf8) + controller.key.publicKey
        let inner = TLV8(
            (.identifier, Array(controller.id.utf8)), (.publicKey, controller.key.publicKey),
            (.signature, controller.key.signature(for: signed))
        ).encoded
        let key = HKDF.key(from: answer.sessionKey, salt: "Pair-Setup-Encrypt-Salt", info: "Pair-Setup-Encrypt-Info")
        let sealed = ChaChaPoly.seal(inner, key: key, nonce: Nonce.text("PS-Msg05"))
        state = .awaitingM6(answer, encryptionKey: key)
        return .send(TLV8((.state, [5]), (.encryptedData, sealed)).encoded)
    }

    private mutating func receivedM6(_ body: [UInt8], _ key: SecretBytes) throws(HAPError) -> Action {
        guard case .awaitingM6(let answer, _) = state else { preconditionFailure("M6 is not awaited") }
        let message = try TLV8(message: body, state: 6, step: step, authentication: .refused(step, code: 2))
        let sealed = try message.required(.encryptedData, step)
        let inner: TLV8
        do {
            let opened = try ChaChaPoly.open(sealed, key: key, nonce: Nonce.text("PS-Msg06"))
            inner = try TLV8(decoding: opened)
        } catch {
            throw .notAuthentic(step)
        }
        let identifier = try inner.required(.identifier, step)
        let accessoryKey = try inner.required(.publicKey, step)
        let signed =
            HKDF.key(from: answer.sessionKey, salt: "Pair-Setup-Accessory-Sign-Salt", info: "Pair-Setup-Accessory-Sign-Info")
            .copied() + identifier + accessoryKey
        guard Ed25519.isValid(signature: try inner.required(.signature, step), for: signed, publicKey: accessoryKey) else {
            throw .notAuthentic(step)
        }
        guard let accessoryID = String(validating: identifier, as: UTF8.self) else {
            throw .malformed(step, reason: "identifier is not UTF-8")
        }
        state = .finished
        return .paired(accessoryID: accessoryID, accessoryKey: accessoryKey)
    }

    /// B stripped where it came padded, padded where it came short.
    private static func otherForm(_ key: [UInt8]) -> [UInt8] {
        key.first == 0 ? Array(key.drop { $0 == 0 }) : [UInt8](repeating: 0, count: max(0, SRPGroup.byteCount - key.count)) + key
    }
}

/// The 12-byte nonces of HAP.
enum Nonce {
    /// Four zeros and eight ASCII characters.
    static func text(_ text: StaticString) -> [UInt8] {
        precondition(text.utf8CodeUnitCount == 8)
        return [0, 0, 0, 0] + "\(text)".utf8
    }

    /// Four zeros and a little-endian counter.
    static func counter(_ counter: UInt64) -> [UInt8] {
        [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: counter >> (8 * $0)) }
    }
}
