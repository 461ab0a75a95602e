import COpenSSL

/// The group of HAP's SRP-6a: RFC 5054's 3072-bit prime with generator 5, hashed with SHA-512.
public enum SRPGroup {
    /// Bytes of a padded group element.
    public static let byteCount = 384

    static let prime: BigNumber = {
        let handle = require(BN_get_rfc3526_prime_3072(nil), "BN_get_rfc3526_prime_3072")
        defer { BN_free(handle) }
        let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            count = Int(BN_bn2bin(handle, buffer.baseAddress))
        }
        return BigNumber(bytes)
    }()
    static let generator = BigNumber([5])

    /// k = H(N, PAD g).
    static let multiplier = BigNumber(SHA512.hash(prime.bytes(), generator.bytes(paddedTo: byteCount)))

    /// H(N) xor H(g), g as one byte.
    static let fingerprint: [UInt8] = zip(SHA512.hash(prime.bytes()), SHA512.hash(generator.bytes())).map { $0 ^ $1 }

    /// x = H(salt, H(user ":" password)).
    static func exponent(username: [UInt8], password: SecretBytes, salt: [UInt8]) -> BigNumber {
        var inner = SHA512()
        inner.update(username)
        inner.update(Array(":".utf8))
        inner.update(password)
        var outer = SHA512()
        outer.update(salt)
        outer.update(inner.finishSecret())
        return BigNumber(outer.finishSecret())
    }

    /// M1 = H(H(N) xor H(g), H(user), salt, A, B, K), with A and B as the bytes they are given in.
    static func proof(username: [UInt8], salt: [UInt8], clientKey: [UInt8], serverKey: [UInt8], sessionKey: SecretBytes) -> [UInt8] {
        var hash = SHA512()
        hash.update(fingerprint)
        hash.update(SHA512.hash(username))
        hash.update(salt)
        hash.update(clientKey)
        hash.update(serverKey)
        hash.update(sessionKey)
        return hash.finish()
    }
}

/// The controller's side of SRP-6a, from the moment the accessory's salt and public key are known.
///
/// The secret of each ``answer(secret:)`` is an argument: real accessories disagree on how numbers that begin with a zero byte are hashed,
/// so the caller asks again with another secret until ``SRPAnswer/hasLeadingZero`` is false.
public struct SRPClient: Sendable {
    /// The accessory's public key is a multiple of the prime or longer than the group.
    public struct InvalidServerKey: Error, Equatable {}

    private let username: [UInt8]
    private let salt: [UInt8]
    private let serverPublicKey: [UInt8]
    /// x = H(salt, H(user ":" password)).
    private let exponent: BigNumber
    /// B - k * g^x.
    private let base: BigNumber

    /// - Parameters:
    ///   - salt: Bytes, never a number: it may begin with zeros or be all zeros.
    ///   - serverPublicKey: B as it came; its very bytes are hashed into the proof.
    public init(username: String, password: SecretBytes, salt: [UInt8], serverPublicKey: [UInt8]) throws(InvalidServerKey) {
        let prime = SRPGroup.prime
        let server = BigNumber(serverPublicKey)
        guard serverPublicKey.count <= SRPGroup.byteCount, !server.remainder(modulo: prime).isZero else { throw InvalidServerKey() }
        self.username = Array(username.utf8)
        self.salt = salt
        self.serverPublicKey = serverPublicKey

        exponent = SRPGroup.exponent(username: self.username, password: password, salt: salt)
        let verifier = SRPGroup.generator.power(exponent, modulo: prime)
        base = server.minus(SRPGroup.multiplier.times(verifier, modulo: prime), modulo: prime)
    }

    /// Everything that follows from the private value `secret`, 32 random bytes.
    public func answer(secret: SecretBytes) -> SRPAnswer {
        let prime = SRPGroup.prime
        let a = BigNumber(secret)
        let publicKey = SRPGroup.generator.power(a, modulo: prime).bytes(paddedTo: SRPGroup.byteCount)
        let server = [UInt8](repeating: 0, count: SRPGroup.byteCount - serverPublicKey.count) + serverPublicKey
        let scrambler = BigNumber(SHA512.hash(publicKey, server))
        let shared = base.power(a.plus(scrambler.times(exponent)), modulo: prime).secretBytes()

        var keyHash = SHA512()
        keyHash.update(shared)
        let key = keyHash.finishSecret()

        let proof = SRPGroup.proof(
            username: username, salt: salt, clientKey: publicKey, serverKey: serverPublicKey, sessionKey: key)

        var expectedHash = SHA512()
        expectedHash.update(publicKey)
        expectedHash.update(proof)
        expectedHash.update(key)

        return SRPAnswer(
            publicKey: publicKey, proof: proof, sessionKey: key, expectedProof: expectedHash.finishSecret(),
            hasLeadingZero: publicKey[0] == 0 || shared.count < SRPGroup.byteCount || key.startsWithZero)
    }
}

/// What a controller sends, and what it then knows, for one private value.
public struct SRPAnswer: Sendable {
    /// A, 384 bytes.
    public let publicKey: [UInt8]
    /// M1.
    public let proof: [UInt8]
    /// K, 64 bytes.
    public let sessionKey: SecretBytes
    let expectedProof: SecretBytes
    /// Whether A, S or K begins with a zero byte, which real accessories hash in different ways.
    public let hasLeadingZero: Bool

    /// Whether `serverProof` is M2, so that the other side knew the password too.
    public func isValid(serverProof: [UInt8]) -> Bool {
        expectedProof.withBytes { constantTimeEqual($0, serverProof.span) }
    }
}
