import Cryptography
import TestSupport
import Testing

@testable import HomeKit

@Suite struct `Pair-verify` {
    let accessory: ScriptedAccessory
    let pairing: PairingRecord

    init() throws {
        accessory = try ScriptedAccessory()
        pairing = accessory.pairing
    }

    @Test func `the first message holds state and key and nothing else`() throws {
        var verify = PairVerify(pairing: pairing)
        #expect(try TLV8(decoding: verify.start()).items.map(\.type) == [6, 3])
    }

    @Test func `both sides prove themselves and agree on keys, and only then encryption begins`() throws {
        var verify = PairVerify(pairing: pairing)
        let m1 = verify.start()
        let answers = try verify.received(try accessory.m2(verifying: m1))
        guard answers.count == 1, case .send(let m3) = answers[0] else { throw HAPError.closed(errno: nil) }
        #expect(try accessory.accepts(m3, after: m1, from: pairing))

        let actions = try verify.received(TLV8((.state, [4])).encoded)
        guard actions.count == 2, case .encrypt(let keys) = actions[0], case .verified = actions[1] else {
            throw HAPError.closed(errno: nil)
        }
        let theirs = try accessory.sessionKeys(after: m1)
        #expect(keys.outgoing == theirs.incoming)
        #expect(keys.incoming == theirs.outgoing)
        #expect(keys.incoming != keys.outgoing)
    }

    @Test func `another accessory at the address is named, and learns nothing`() throws {
        var verify = PairVerify(pairing: pairing)
        let m2 = try accessory.m2(verifying: verify.start(), id: "11:22:33:44:55:66")
        #expect(throws: HAPError.wrongAccessory(expected: ScriptedAccessory.id, found: "11:22:33:44:55:66")) {
            try verify.received(m2)
        }
    }

    @Test func `an identifier made to disturb a terminal is defused`() throws {
        var verify = PairVerify(pairing: pairing)
        let m2 = try accessory.m2(verifying: verify.start(), id: "\u{1B}[2J\r\n\u{9B}" + String(repeating: "x", count: 100))
        let error = #expect(throws: HAPError.self) { try verify.received(m2) }
        guard case .wrongAccessory(_, let found)? = error else { throw HAPError.closed(errno: nil) }
        #expect(found.count <= 64)
        #expect(found.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    }

    @Test func `the right identifier with another key is not believed`() throws {
        var verify = PairVerify(pairing: pairing)
        let m2 = try accessory.m2(verifying: verify.start(), signer: try Ed25519PrivateKey())
        #expect(throws: HAPError.notAuthentic(.pairVerifyStart)) { try verify.received(m2) }
    }

    @Test func `an identifier in the other case is the same accessory`() throws {
        var verify = PairVerify(pairing: pairing)
        let m1 = verify.start()
        let answers = try verify.received(try accessory.m2(verifying: m1, id: ScriptedAccessory.id.lowercased()))
        #expect(answers.count == 1)
    }

    @Test func `an accessory that has forgotten us says so, at either step`() throws {
        var first = PairVerify(pairing: pairing)
        _ = first.start()
        #expect(throws: HAPError.pairingLost) { try first.received([6, 1, 2, 7, 1, 2]) }

        var second = PairVerify(pairing: pairing)
        _ = try second.received(try accessory.m2(verifying: second.start()))
        #expect(throws: HAPError.pairingLost) { try second.received([6, 1, 4, 7, 1, 2]) }
    }

    @Test(arguments: [[UInt8](repeating: 0, count: 32), [], [UInt8](repeating: 1, count: 31)])
    func `a key that yields no secret is refused`(key: [UInt8]) throws {
        var verify = PairVerify(pairing: pairing)
        _ = verify.start()
        #expect(throws: HAPError.notAuthentic(.pairVerifyStart)) {
            try verify.received(TLV8((.state, [2]), (.publicKey, key), (.encryptedData, [1])).encoded)
        }
    }
}

@Suite struct `Secure framing` {
    let key = SecretBytes(copying: [UInt8](0..<32))

    @Test(arguments: [1, 2, 1023, 1024, 1025, 2048, 5000])
    func `long messages are cut into frames of at most 1024 bytes`(count: Int) throws {
        let message = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        var sealer = FrameSealer(key: key)
        let sealed = sealer.seal(message)
        let frames = (count + 1023) / 1024
        #expect(sealed.count == count + frames * 18)
        #expect(Int(sealed[0]) | Int(sealed[1]) << 8 == min(count, 1024))
        var opener = FrameOpener(key: key)
        #expect(try opener.open(sealed) == message)
    }

    @Test func `frames open wherever the stream is cut`() throws {
        var sealer = FrameSealer(key: key)
        let sealed = sealer.seal([1, 2, 3]) + sealer.seal([4]) + sealer.seal([5, 6])
        for cut in 0...sealed.count {
            var opener = FrameOpener(key: key)
            #expect(try opener.open(Array(sealed[..<cut])) + opener.open(Array(sealed[cut...])) == [1, 2, 3, 4, 5, 6])
        }
        var opener = FrameOpener(key: key)
        #expect(try sealed.flatMap { try opener.open([$0]) } == [1, 2, 3, 4, 5, 6])
    }

    @Test func `a frame left out, doubled or out of order ends the stream for good`() throws {
        var sealer = FrameSealer(key: key)
        let (first, second) = (sealer.seal([1]), sealer.seal([2]))
        for stream in [second, first + first, second + first] {
            var opener = FrameOpener(key: key)
            #expect(throws: FrameFault.notAuthentic) { try opener.open(stream) }
            #expect(throws: FrameFault.notAuthentic) { try opener.open(first) }
            #expect(throws: FrameFault.notAuthentic) { try opener.open([]) }
        }
    }

    @Test func `a frame that announces too much ends the stream before it is awaited`() {
        var opener = FrameOpener(key: key)
        #expect(throws: FrameFault.tooLong(1025)) { try opener.open([0x01, 0x04]) }
    }

    @Test(arguments: 1...4)
    func `no change of a stream goes unseen`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let message = [UInt8](repeating: 7, count: 1500)
        for _ in 0..<300 {
            var sealer = FrameSealer(key: key)
            let sealed = sealer.seal(message)
            let broken = random.mutated(sealed)
            var opener = FrameOpener(key: key)
            // What comes out is a true beginning of what was sent, or nothing.
            var opened: [UInt8] = []
            do {
                for piece in random.pieces(broken) { opened += try opener.open(piece) }
            } catch {
                #expect(broken != sealed)
            }
            #expect(message.starts(with: opened))
        }
    }
}

@Suite struct `An answer` {
    private func answer(_ status: Int, _ body: String = "") -> HTTPMessage {
        HTTPMessage(kind: .response, status: status, body: Array(body.utf8))
    }

    @Test(arguments: [200, 204, 207])
    func `of success is used whatever its kind`(status: Int) throws {
        #expect(try answer(status, "x").usableBody(.write) == Array("x".utf8))
    }

    @Test(arguments: [#"{"characteristics":[{"aid":1,"iid":9,"status":-70410}]}"#, #"{"status":-70410}"#])
    func `of 400 or 422 that says what became of the values is used`(body: String) throws {
        for status in [400, 422] {
            for step in [HAPStep.read, .write, .subscribe] {
                #expect(try answer(status, body).usableBody(step) == Array(body.utf8))
            }
            #expect(throws: HAPError.self) { try answer(status, body).usableBody(.accessories) }
            for nothing in ["", "{}", #"{"characteristics":[]}"#] {
                #expect(throws: HAPError.httpStatus(.write, code: status, status: nil)) { try answer(status, nothing).usableBody(.write) }
            }
        }
    }

    @Test func `of failure that is a refusal in the language of pairing is used`() throws {
        let refusal: [UInt8] = [6, 1, 2, 7, 1, 2]
        let message = HTTPMessage(kind: .response, status: 400, body: refusal)
        #expect(try message.usableBody(.removePairing) == refusal)
        #expect(throws: HAPError.httpStatus(.write, code: 400, status: nil)) { try message.usableBody(.write) }
        #expect(throws: HAPError.httpStatus(.removePairing, code: 400, status: nil)) { try answer(400, "{}").usableBody(.removePairing) }
    }

    @Test func `of failure carries the accessory's own status where there is one`() {
        let error = HAPError.httpStatus(.read, code: 500, status: .cannotCommunicate)
        #expect(throws: error) { try answer(500, #"{"status":70402}"#).usableBody(.read) }
        #expect(throws: HAPError.httpStatus(.read, code: 404, status: nil)) { try answer(404, "<html>").usableBody(.read) }
    }

    @Test(arguments: [(401, true), (470, true), (503, true), (400, false), (404, false), (500, false)])
    func `that the session itself is refused ends it`(status: Int, ends: Bool) {
        #expect(HAPError.httpStatus(.read, code: status, status: nil).endsSession == ends)
    }

    @Test func `that cannot be read ends the session, one that means no does not`() {
        #expect(HAPError.malformed(.read, reason: "").endsSession)
        #expect(!HAPError.refused(.removePairing, code: 2).endsSession)
    }
}
