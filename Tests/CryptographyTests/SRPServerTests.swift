import Testing

@testable import Cryptography

@Suite struct `The accessory's side of SRP-6a` {
    private static let password = SecretBytes(copying: Array("031-45-154".utf8))
    private static let salt = [UInt8](repeating: 0x5A, count: 16)

    private func server(_ reading: SRPServer.LeadingZeros, secret: SecretBytes = .random(count: 32)) -> SRPServer {
        SRPServer(
            username: "Pair-Setup", password: Self.password, salt: Self.salt, leadingZeros: reading, makeSecret: { secret })
    }

    /// b of the example that Apple published, whose B is in the vectors.
    @Test func `Apple's published example comes out`() throws {
        let vector = try SRPVector.named("published")
        let b = Array("e487cb59d31ac550471e81f00f6928e01dda08e974a004f49e61f5d105284d20")
        let secret = try stride(from: 0, to: b.count, by: 2).map { try #require(UInt8(String(b[$0...$0 + 1]), radix: 16)) }
        let server = SRPServer(
            username: vector.username, password: SecretBytes(copying: Array(vector.password.utf8)), salt: vector.salt.bytes,
            makeSecret: { SecretBytes(copying: secret) })
        #expect(server.publicKey == vector.B.bytes)
        let session = try #require(server.session(clientPublicKey: vector.A.bytes, proof: vector.M1.bytes))
        #expect(session.key.copied() == vector.K.bytes)
        #expect(session.proof == vector.M2.bytes)
    }

    private func client(_ server: SRPServer) throws -> SRPClient {
        try SRPClient(username: "Pair-Setup", password: Self.password, salt: server.salt, serverPublicKey: server.publicKey)
    }

    @Test(arguments: [SRPServer.LeadingZeros.stripped, .asSent, .either])
    func `both sides agree, and a wrong password does not pass`(reading: SRPServer.LeadingZeros) throws {
        let server = server(reading)
        var answer = try client(server).answer(secret: .random(count: 32))
        while answer.hasLeadingZero { answer = try client(server).answer(secret: .random(count: 32)) }
        let session = try #require(server.session(clientPublicKey: answer.publicKey, proof: answer.proof))
        #expect(session.key == answer.sessionKey)
        #expect(answer.isValid(serverProof: session.proof))

        var proof = answer.proof
        proof[0] ^= 1
        #expect(server.session(clientPublicKey: answer.publicKey, proof: proof) == nil)
        let wrong = try SRPClient(
            username: "Pair-Setup", password: SecretBytes(copying: Array("031-45-155".utf8)), salt: server.salt,
            serverPublicKey: server.publicKey
        ).answer(secret: .random(count: 32))
        #expect(server.session(clientPublicKey: wrong.publicKey, proof: wrong.proof) == nil)
    }

    @Test func `its own key never begins with a zero`() throws {
        for _ in 0..<40 { #expect(server(.either, secret: .random(count: 32)).publicKey[0] != 0) }
    }

    @Test func `a key that is a multiple of the prime is refused`() {
        let server = server(.either)
        let prime = SRPGroup.prime.bytes()
        for key in [[], [0], prime, [UInt8](repeating: 0, count: 384), [UInt8](repeating: 1, count: 385)] {
            #expect(server.session(clientPublicKey: key, proof: [UInt8](repeating: 0, count: 64)) == nil)
        }
    }

    @Test func `an A that begins with a zero is read as each kind of accessory does`() throws {
        // Of the vectors, since one in 256 does.
        let secret = SecretBytes(copying: try SRPVector.named("A").a.bytes)
        let own = SecretBytes.random(count: 32)
        let answer = try client(server(.either, secret: own)).answer(secret: secret)
        #expect(answer.publicKey[0] == 0)
        let stripped = Array(answer.publicKey.drop { $0 == 0 })
        let proofOfStripped = SRPGroup.proof(
            username: Array("Pair-Setup".utf8), salt: Self.salt, clientKey: stripped, serverKey: server(.either, secret: own).publicKey,
            sessionKey: answer.sessionKey)
        func accepts(_ reading: SRPServer.LeadingZeros, _ proof: [UInt8]) -> Bool {
            server(reading, secret: own).session(clientPublicKey: answer.publicKey, proof: proof) != nil
        }
        #expect(accepts(.asSent, answer.proof) && !accepts(.asSent, proofOfStripped))
        #expect(!accepts(.stripped, answer.proof) && accepts(.stripped, proofOfStripped))
        #expect(accepts(.either, answer.proof) && accepts(.either, proofOfStripped))
    }
}
