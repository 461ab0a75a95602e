/// The accessory's side of SRP-6a for one exchange.
///
/// The numbers A and S begin with a zero byte once in 256 exchanges each, and implementations disagree on how they are hashed then. So the
/// reading is the caller's choice. B never begins with one here: its secret is rolled again until it does not.
public struct SRPServer: Sendable {
    /// How numbers with leading zeros go into the proofs.
    public enum LeadingZeros: Sendable, Equatable {
        /// A and S without them, as Apple's reference accessory has it.
        case stripped
        /// A as it was sent, S without them, as HAP-python has it.
        case asSent
        /// Whichever the controller has used, so that no pairing fails by chance.
        case either
    }

    /// What both sides know once the controller's proof was right.
    public struct Session: Sendable {
        /// K, 64 bytes.
        public let key: SecretBytes
        /// M2.
        public let proof: [UInt8]
    }

    public let salt: [UInt8]
    /// B, 384 bytes.
    public let publicKey: [UInt8]

    private let username: [UInt8]
    private let verifier: BigNumber
    private let secret: BigNumber
    private let leadingZeros: LeadingZeros

    /// - Parameter makeSecret: Yields 32 random bytes at each call; asked again while B would begin with a zero.
    public init(
        username: String, password: SecretBytes, salt: [UInt8], leadingZeros: LeadingZeros = .either,
        makeSecret: () -> SecretBytes = { .random(count: 32) }
    ) {
        let prime = SRPGroup.prime
        self.username = Array(username.utf8)
        self.salt = salt
        self.leadingZeros = leadingZeros
        let exponent = SRPGroup.exponent(username: self.username, password: password, salt: salt)
        verifier = SRPGroup.generator.power(exponent, modulo: prime)
        let masked = SRPGroup.multiplier.times(verifier, modulo: prime)
        while true {
            let secret = BigNumber(makeSecret())
            let key = masked.plus(SRPGroup.generator.power(secret, modulo: prime)).remainder(modulo: prime)
                .bytes(paddedTo: SRPGroup.byteCount)
            guard key[0] != 0 else { continue }
            self.secret = secret
            publicKey = key
            return
        }
    }

    /// Checks M1 of a controller with public key A.
    ///
    /// - Returns: nil where the controller did not know the password, or its key is a multiple of the prime or too long.
    public func session(clientPublicKey: [UInt8], proof: [UInt8]) -> Session? {
        let prime = SRPGroup.prime
        let client = BigNumber(clientPublicKey)
        guard clientPublicKey.count <= SRPGroup.byteCount, !client.remainder(modulo: prime).isZero else { return nil }
        let padded = client.bytes(paddedTo: SRPGroup.byteCount)
        let scrambler = BigNumber(SHA512.hash(padded, publicKey))
        let shared = client.times(verifier.power(scrambler, modulo: prime), modulo: prime).power(secret, modulo: prime)

        var keys = [hash(shared.secretBytes())]
        var clientKeys = [clientPublicKey]
        switch leadingZeros {
        case .stripped: clientKeys = [client.bytes()]
        case .asSent: break
        case .either:
            for form in [client.bytes(), padded] where !clientKeys.contains(form) { clientKeys.append(form) }
            let stripped = shared.secretBytes()
            if stripped.count < SRPGroup.byteCount {
                let zeros = SRPGroup.byteCount - stripped.count
                let long = SecretBytes(count: SRPGroup.byteCount) { buffer in
                    stripped.withBytes { bytes in
                        for index in bytes.indices { buffer[zeros + index] = bytes[index] }
                    }
                }
                keys.append(hash(long))
            }
        }
        for key in keys {
            for clientKey in clientKeys {
                let expected = SRPGroup.proof(
                    username: username, salt: salt, clientKey: clientKey, serverKey: publicKey, sessionKey: key)
                guard constantTimeEqual(expected.span, proof.span) else { continue }
                var answer = SHA512()
                answer.update(clientKey)
                answer.update(proof)
                answer.update(key)
                return Session(key: key, proof: answer.finish())
            }
        }
        return nil
    }

    private func hash(_ secret: SecretBytes) -> SecretBytes {
        var hash = SHA512()
        hash.update(secret)
        return hash.finishSecret()
    }
}
