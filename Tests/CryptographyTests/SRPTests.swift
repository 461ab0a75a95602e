import Cryptography
import Testing

/// An exchange as an independent server computed it; see `Tests/Peers/srp_vectors.py`.
struct SRPVector: Decodable, CustomTestStringConvertible {
    var name, username, password: String
    var salt, a, A, B, S, K, M1, M2: HexBytes

    var testDescription: String { name }

    static let all: [SRPVector] = (try? vectors("srp")) ?? []

    static func named(_ name: String) throws -> SRPVector { try #require(all.first { $0.name == name }) }

    func client() throws -> SRPClient {
        try SRPClient(
            username: username, password: SecretBytes(copying: Array(password.utf8)), salt: salt.bytes, serverPublicKey: B.bytes)
    }

    func answer() throws -> SRPAnswer { try client().answer(secret: SecretBytes(copying: a.bytes)) }
}

@Suite struct `SRP-6a against an independent server` {
    @Test func `every kind of exchange is among the vectors`() {
        #expect(Set(SRPVector.all.map(\.name)) == ["published", "plain", "A", "B", "S", "K", "salt of zeros"])
    }

    @Test(arguments: SRPVector.all)
    func `public key, session key and proofs agree`(vector: SRPVector) throws {
        let answer = try vector.answer()
        #expect(answer.publicKey == vector.A.bytes)
        #expect(answer.sessionKey.copied() == vector.K.bytes)
        // That server drops K's leading zeros when it hashes, one of the disagreements the leading-zero rule is there for.
        if vector.name != "K" {
            #expect(answer.proof == vector.M1.bytes)
            #expect(answer.isValid(serverProof: vector.M2.bytes))
        }
    }

    @Test func `the session key of Apple's published example comes out`() throws {
        let key = try SRPVector.named("published").answer().sessionKey.copied()
        #expect(key.prefix(8) == [0x5C, 0xBC, 0x21, 0x9D, 0xB0, 0x52, 0x13, 0x8E])
        #expect(key.suffix(8) == [0x26, 0x14, 0x2F, 0x73, 0xDF, 0x95, 0xAC, 0x50])
    }

    @Test(arguments: ["A", "S", "K"])
    func `a leading zero is seen`(name: String) throws {
        #expect(try SRPVector.named(name).answer().hasLeadingZero)
    }

    @Test func `no leading zero is seen where there is none`() throws {
        #expect(try !SRPVector.named("plain").answer().hasLeadingZero)
        #expect(try !SRPVector.named("published").answer().hasLeadingZero)
    }

    @Test func `another password yields another proof`() throws {
        let vector = try SRPVector.named("plain")
        var wrong = vector
        wrong.password = "031-45-155"
        let answer = try wrong.answer()
        #expect(answer.proof != vector.M1.bytes)
        #expect(!answer.isValid(serverProof: vector.M2.bytes))
    }

    @Test func `a server proof with one wrong bit is refused`() throws {
        let vector = try SRPVector.named("plain")
        let answer = try vector.answer()
        for index in vector.M2.bytes.indices {
            var proof = vector.M2.bytes
            proof[index] ^= 1
            #expect(!answer.isValid(serverProof: proof))
        }
        #expect(!answer.isValid(serverProof: Array(vector.M2.bytes.dropLast())))
        #expect(!answer.isValid(serverProof: []))
    }

    @Test func `a server key that would make the secret known is refused`() throws {
        var vector = try SRPVector.named("plain")
        for key in [[], [0], [UInt8](repeating: 0, count: 384), [UInt8](repeating: 1, count: 385)] as [[UInt8]] {
            vector.B.bytes = key
            #expect(throws: SRPClient.InvalidServerKey.self) { try vector.client() }
        }
    }

    @Test func `the prime itself as server key is refused`() throws {
        var vector = try SRPVector.named("plain")
        vector.B.bytes = try SRPVector.prime
        #expect(throws: SRPClient.InvalidServerKey.self) { try vector.client() }
    }
}

extension SRPVector {
    /// RFC 5054's 3072-bit prime.
    static var prime: [UInt8] { get throws { try vectors("srp-prime", as: HexBytes.self).bytes } }
}
