import Cryptography
import Testing

@Suite struct `Published vectors` {
    struct AEADVector: Decodable {
        var key, nonce, aad, plaintext, sealed: HexBytes
    }

    @Test func `ChaCha20-Poly1305 seals and opens RFC 8439's examples`() throws {
        for vector in try vectors("chacha20poly1305", as: Sourced<AEADVector>.self).vectors {
            let key = SecretBytes(copying: vector.key.bytes)
            let sealed = ChaChaPoly.seal(
                vector.plaintext.bytes.span, key: key, nonce: vector.nonce.bytes, authenticating: vector.aad.bytes.span)
            #expect(sealed == vector.sealed.bytes)
            let opened = try ChaChaPoly.open(
                vector.sealed.bytes.span, key: key, nonce: vector.nonce.bytes, authenticating: vector.aad.bytes.span)
            #expect(opened == vector.plaintext.bytes)
        }
    }

    struct HKDFVector: Decodable {
        var secret, salt, info, output: HexBytes
    }

    @Test func `HKDF-SHA512 derives the published keys`() throws {
        for vector in try vectors("hkdf-sha512", as: Sourced<HKDFVector>.self).vectors {
            let output = HKDF.sha512(
                secret: SecretBytes(copying: vector.secret.bytes), salt: vector.salt.bytes, info: vector.info.bytes,
                count: vector.output.bytes.count)
            #expect(output.copied() == vector.output.bytes)
        }
    }

    struct HashVector: Decodable {
        var message, hash: HexBytes
    }

    @Test func `SHA-512 hashes the standard's examples, in one piece or many`() throws {
        for vector in try vectors("sha512", as: Sourced<HashVector>.self).vectors {
            #expect(SHA512.hash(vector.message.bytes) == vector.hash.bytes)
            var hash = SHA512()
            for byte in vector.message.bytes { hash.update([byte]) }
            #expect(hash.finish() == vector.hash.bytes)
        }
    }

    struct X25519Vectors: Decodable {
        struct Vector: Decodable {
            var scalar, point, output: HexBytes
        }

        var vectors: [Vector]
        var iterated: [String: HexBytes]
    }

    @Test func `X25519 agrees with RFC 7748, also after a thousand rounds`() throws {
        let published = try vectors("x25519", as: X25519Vectors.self)
        for vector in published.vectors {
            let key = try X25519PrivateKey(SecretBytes(copying: vector.scalar.bytes))
            #expect(try key.sharedSecret(with: vector.point.bytes).copied() == vector.output.bytes)
        }
        var (scalar, point): ([UInt8], [UInt8]) = ([9] + [UInt8](repeating: 0, count: 31), [9] + [UInt8](repeating: 0, count: 31))
        for round in 1...1000 {
            (scalar, point) = (try X25519PrivateKey(SecretBytes(copying: scalar)).sharedSecret(with: point).copied(), scalar)
            if let expected = published.iterated["\(round)"] { #expect(scalar == expected.bytes) }
        }
    }

    struct SignatureVector: Decodable {
        var seed, publicKey, message, signature: HexBytes
    }

    @Test func `Ed25519 signs and checks RFC 8032's examples`() throws {
        for vector in try vectors("ed25519", as: Sourced<SignatureVector>.self).vectors {
            let key = try Ed25519PrivateKey(seed: SecretBytes(copying: vector.seed.bytes))
            #expect(key.publicKey == vector.publicKey.bytes)
            #expect(key.signature(for: vector.message.bytes) == vector.signature.bytes)
            #expect(
                Ed25519.isValid(signature: vector.signature.bytes, for: vector.message.bytes, publicKey: vector.publicKey.bytes))
            #expect(
                !Ed25519.isValid(
                    signature: vector.signature.bytes, for: vector.message.bytes + [0], publicKey: vector.publicKey.bytes))
        }
    }
}

@Suite struct `What must be refused` {
    @Test func `no bit of a sealed message, its nonce or its additional data can change unseen`() throws {
        let key = SecretBytes.random(count: 32)
        let nonce = [UInt8](0..<12)
        let data: [UInt8] = [7, 0]
        let sealed = ChaChaPoly.seal([1, 2, 3, 4, 5, 6, 7].span, key: key, nonce: nonce, authenticating: data.span)
        for bit in 0..<sealed.count * 8 {
            var forged = sealed
            forged[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: ChaChaPoly.AuthenticationFailure.self) {
                try ChaChaPoly.open(forged.span, key: key, nonce: nonce, authenticating: data.span)
            }
        }
        #expect(throws: ChaChaPoly.AuthenticationFailure.self) {
            try ChaChaPoly.open(sealed.span, key: key, nonce: nonce, authenticating: [7, 1].span)
        }
        #expect(throws: ChaChaPoly.AuthenticationFailure.self) {
            try ChaChaPoly.open(sealed.span, key: key, nonce: [1] + nonce.dropFirst(), authenticating: data.span)
        }
        for count in 0..<ChaChaPoly.tagByteCount {
            let short = Array(sealed[..<count])
            #expect(throws: ChaChaPoly.AuthenticationFailure.self) { try ChaChaPoly.open(short, key: key, nonce: nonce) }
        }
    }

    @Test func `an empty message still has a tag`() throws {
        let key = SecretBytes.random(count: 32)
        let nonce = [UInt8](repeating: 0, count: 12)
        let sealed = ChaChaPoly.seal([], key: key, nonce: nonce)
        #expect(sealed.count == 16)
        let opened = try ChaChaPoly.open(sealed, key: key, nonce: nonce)
        #expect(opened.isEmpty)
    }

    @Test(arguments: [
        [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31),
        // A point of order eight, from Curve25519's list of small-order points.
        [
            0xE0, 0xEB, 0x7A, 0x7C, 0x3B, 0x41, 0xB8, 0xAE, 0x16, 0x56, 0xE3, 0xFA, 0xF1, 0x9F, 0xC4, 0x6A, 0xDA, 0x09, 0x8D, 0xEB,
            0x9C, 0x32, 0xB1, 0xFD, 0x86, 0x62, 0x05, 0x16, 0x5F, 0x49, 0xB8, 0x00,
        ],
    ])
    func `a point that yields a secret everybody knows is refused`(point: [UInt8]) throws {
        let key = try X25519PrivateKey()
        #expect(throws: InvalidKey.self) { try key.sharedSecret(with: point) }
    }

    @Test(arguments: [0, 31, 33])
    func `keys of the wrong length are refused`(count: Int) throws {
        let bytes = [UInt8](repeating: 7, count: count)
        #expect(throws: InvalidKey.self) { try X25519PrivateKey(SecretBytes(copying: bytes)) }
        #expect(throws: InvalidKey.self) { try Ed25519PrivateKey(seed: SecretBytes(copying: bytes)) }
        #expect(throws: InvalidKey.self) { try X25519PrivateKey().sharedSecret(with: bytes) }
        #expect(!Ed25519.isValid(signature: [UInt8](repeating: 0, count: 64), for: [], publicKey: bytes))
    }

    @Test(arguments: [0, 63, 65])
    func `signatures of the wrong length are refused`(count: Int) throws {
        let key = try Ed25519PrivateKey()
        #expect(!Ed25519.isValid(signature: [UInt8](repeating: 0, count: count), for: [1], publicKey: key.publicKey))
    }
}

@Suite struct `Secret bytes` {
    @Test func `they are equal by content and never printed`() {
        let secret = SecretBytes(copying: [0xDE, 0xAD, 0xBE, 0xEF])
        #expect(secret == SecretBytes(copying: [0xDE, 0xAD, 0xBE, 0xEF]))
        #expect(secret != SecretBytes(copying: [0xDE, 0xAD, 0xBE, 0xEE]))
        #expect(secret != SecretBytes(copying: [0xDE, 0xAD, 0xBE]))
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] {
            #expect(!text.lowercased().contains("dead") && !text.contains("222") && !text.contains("173"))
        }
    }

    @Test func `random ones differ`() {
        #expect(SecretBytes.random(count: 32) != SecretBytes.random(count: 32))
    }

    @Test func `a wiped buffer holds only zeros`() {
        var bytes: [UInt8] = [1, 2, 3]
        wipe(&bytes)
        #expect(bytes == [0, 0, 0])
    }

    @Test func `comparing looks at every byte and at the length`() {
        func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool { constantTimeEqual(left.span, right.span) }
        #expect(equal([1, 2, 3], [1, 2, 3]))
        #expect(!equal([1, 2, 3], [1, 2, 4]))
        #expect(!equal([1, 2, 3], [0, 2, 3]))
        #expect(!equal([1, 2, 3], [1, 2]))
        #expect(equal([], []))
    }
}
