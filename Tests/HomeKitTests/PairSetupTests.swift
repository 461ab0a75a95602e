import Cryptography
import Synchronization
import TestSupport
import Testing

@testable import HomeKit

@Suite struct `Pair-setup` {
    typealias Vector = ScriptedAccessory.Vector

    let accessory: ScriptedAccessory

    init() throws { accessory = try ScriptedAccessory() }

    /// A machine that draws the secrets of these vectors, in this order.
    private func setup(drawing names: String...) throws -> PairSetup {
        let secrets = Mutex(try names.map { try Vector.named($0).secret })
        return PairSetup(code: try SetupCode("031-45-154"), method: .plain, controller: .random()) {
            secrets.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        }
    }

    private func sent(_ action: PairSetup.Action) throws -> TLV8 {
        guard case .send(let body) = action else { throw HAPError.closed(errno: nil) }
        return try TLV8(decoding: body)
    }

    private let error2: [UInt8] = TLV8((.state, [4]), (.error, [2])).encoded

    @Test func `from code to pairing in three exchanges`() throws {
        var setup = try setup(drawing: "plain")
        let plain = try Vector.named("plain")
        #expect(try TLV8(decoding: setup.start()).items == TLV8((.state, [1]), (.method, [0])).items)
        #expect(setup.step == .pairSetupStart)

        let m3 = try sent(try setup.received(accessory.m2(plain)))
        #expect(m3[.state] == [3])
        #expect(m3[.publicKey] == plain.bytes(\.A))
        #expect(m3[.proof] == plain.bytes(\.M1))
        #expect(setup.step == .pairSetupProof)

        let m5 = try sent(try setup.received(accessory.m4(plain)))
        #expect(m5[.state] == [5])
        let m6 = try #require(try accessory.m6(for: m5.encoded, plain))
        guard case .paired(let id, let key) = try setup.received(m6) else { throw HAPError.closed(errno: nil) }
        #expect(id == ScriptedAccessory.id)
        #expect(key == accessory.identity.publicKey)
    }

    @Test func `the method goes by the accessory's feature flag`() throws {
        var setup = PairSetup(code: try SetupCode("031-45-154"), method: .withAuthentication, controller: .random())
        #expect(try TLV8(decoding: setup.start())[.method] == [1])
    }

    @Test func `secrets are rolled again until A, S and K have no leading zero`() throws {
        var setup = try setup(drawing: "A", "S", "K", "A", "plain")
        let plain = try Vector.named("plain")
        _ = setup.start()
        let m3 = try sent(try setup.received(accessory.m2(plain)))
        #expect(m3[.publicKey] == plain.bytes(\.A))
        #expect(m3[.proof] == plain.bytes(\.M1))
    }

    @Test func `an accessory's key with a leading zero starts the exchange over before a proof is sent`() throws {
        var setup = try setup(drawing: "plain")
        _ = setup.start()
        let again = try sent(try setup.received(accessory.m2(try Vector.named("B"))))
        #expect(again.items == TLV8((.state, [1]), (.method, [0])).items)
        let plain = try Vector.named("plain")
        #expect(try sent(try setup.received(accessory.m2(plain)))[.proof] == plain.bytes(\.M1))
    }

    @Test func `an accessory that insists on a leading zero is believed, then read the other way once`() throws {
        let vector = try Vector.named("B")
        var setup = try setup(drawing: "B")
        _ = setup.start()
        for _ in 0..<PairSetup.maximumRestarts {
            #expect(try sent(try setup.received(accessory.m2(vector)))[.state] == [1])
        }
        #expect(try sent(try setup.received(accessory.m2(vector)))[.proof] == vector.bytes(\.M1))

        #expect(try sent(try setup.received(error2))[.state] == [1])
        var proof: [UInt8]?
        while proof == nil { proof = try sent(try setup.received(accessory.m2(vector)))[.proof] }
        #expect(proof != vector.bytes(\.M1))
        #expect(throws: HAPError.wrongSetupCode) { try setup.received(error2) }
    }

    @Test func `a refused proof without any leading zero is a wrong code at once`() throws {
        var setup = try setup(drawing: "plain")
        _ = setup.start()
        _ = try setup.received(accessory.m2(try Vector.named("plain")))
        #expect(throws: HAPError.wrongSetupCode) { try setup.received(error2) }
    }

    @Test(
        arguments: [
            ([7, 1, 6], HAPError.alreadyPaired), ([7, 1, 7], .busy), ([7, 1, 5], .tooManyTries), ([7, 1, 4], .tooManyControllers),
            ([7, 1, 3], .backoff(seconds: nil)), ([7, 1, 3, 8, 2, 0x2C, 0x01], .backoff(seconds: 300)),
            ([7, 1, 1], .refused(.pairSetupStart, code: 1)), ([7, 1, 2], .refused(.pairSetupStart, code: 2)),
            ([7, 1, 99], .refused(.pairSetupStart, code: 99)),
        ] as [([UInt8], HAPError)])
    func `each refusal has its own meaning, with or without a state`(items: [UInt8], error: HAPError) throws {
        for body in [items, [6, 1, 2] + items, items + [6, 1, 2]] {
            var setup = try setup(drawing: "plain")
            _ = setup.start()
            #expect(throws: error) { try setup.received(body) }
        }
    }

    @Test func `a salt of zeros stays sixteen bytes`() throws {
        let vector = try Vector.named("salt of zeros")
        var setup = try setup(drawing: "salt of zeros")
        _ = setup.start()
        #expect(try sent(try setup.received(accessory.m2(vector)))[.proof] == vector.bytes(\.M1))
    }

    @Test func `an accessory that does not know the code itself is not believed`() throws {
        let plain = try Vector.named("plain")
        var setup = try setup(drawing: "plain")
        _ = setup.start()
        _ = try setup.received(accessory.m2(plain))
        var proof = plain.bytes(\.M2)
        proof[0] ^= 1
        #expect(throws: HAPError.notAuthentic(.pairSetupProof)) {
            try setup.received(TLV8((.state, [4]), (.proof, proof)).encoded)
        }
    }

    @Test func `an identity signed with another key is not believed`() throws {
        let plain = try Vector.named("plain")
        var setup = try setup(drawing: "plain")
        _ = setup.start()
        _ = try setup.received(accessory.m2(plain))
        let m5 = try sent(try setup.received(accessory.m4(plain)))
        let m6 = try #require(try accessory.m6(for: m5.encoded, plain, signer: try Ed25519PrivateKey()))
        #expect(throws: HAPError.notAuthentic(.pairSetupExchange)) { try setup.received(m6) }
    }

    @Test func `messages that lack something are refused with what it is`() throws {
        for (body, reason) in [
            ([6, 1, 2], "no salt"), ([6, 1, 4], "state [4] instead of 2"), ([6, 1, 2, 2, 1, 0, 3, 1, 1], "salt of 1 bytes"),
            ([6], "TLV8 is cut off"),
            ([7, 0], "empty error code"),
        ] as [([UInt8], String)] {
            var setup = try setup(drawing: "plain")
            _ = setup.start()
            #expect(throws: HAPError.malformed(.pairSetupStart, reason: reason)) { try setup.received(body) }
        }
    }

    @Test(arguments: 1...4)
    func `random answers end in an error, never in a pairing or a crash`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let plain = try Vector.named("plain")
        for round in 0..<24 {
            var setup = try setup(drawing: "plain")
            _ = setup.start()
            do {
                // Every round breaks another of the three answers; the ones before it are right.
                if round % 3 == 0 { _ = try setup.received(random.mutated(accessory.m2(plain))) }
                if round % 3 > 0 { _ = try setup.received(accessory.m2(plain)) }
                if round % 3 == 1 { _ = try setup.received(random.mutated(accessory.m4(plain))) }
                guard round % 3 == 2 else { continue }
                let m5 = try sent(try setup.received(accessory.m4(plain)))
                let m6 = try #require(try accessory.m6(for: m5.encoded, plain))
                let broken = random.mutated(m6)
                if case .paired(let id, let key) = try setup.received(broken) {
                    // Only what is outside the sealed part may have changed.
                    #expect(id == ScriptedAccessory.id && key == accessory.identity.publicKey)
                }
            } catch {
                #expect(error is HAPError)
            }
        }
    }
}

@Suite struct `Setup codes` {
    @Test(arguments: ["031-45-154", "03145154", " 031-45-154\n", "03145154\r\n"])
    func `come with or without dashes`(text: String) throws {
        #expect(try SetupCode(text).text.copied() == Array("031-45-154".utf8))
    }

    @Test(arguments: [
        "", "031-45-15", "031-45-1544", "0314515", "031451544", "031 45 154", "03-145-154", "031-45-15a", "٠٣١٤٥١٥٤", "031--45154",
    ])
    func `are refused in any other form`(text: String) {
        #expect(throws: SetupCode.Fault.malformed) { try SetupCode(text) }
    }

    @Test(arguments: ["000-00-000", "111-11-111", "999-99-999", "123-45-678", "876-54-321"])
    func `are flagged where no genuine accessory has them`(text: String) throws {
        #expect(try SetupCode(text).isTrivial)
    }

    @Test func `are never printed`() throws {
        let code = try SetupCode("031-45-154")
        #expect(!code.isTrivial)
        var dumped = ""
        dump(code, to: &dumped)
        for text in ["\(code)", String(reflecting: code), dumped] { #expect(!text.contains("45")) }
    }
}
