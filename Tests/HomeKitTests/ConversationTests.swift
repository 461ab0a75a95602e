import Cryptography
import Testing

@testable import HomeKit

/// Actions in a form that can be compared.
private enum Seen: Equatable {
    case write([UInt8])
    case startDeadline(UInt64)
    case stopDeadline(UInt64)
    case answered(UInt64, Int)
    case failed(UInt64, HAPError)
    case event([UInt8])
    case close(HAPError)

    init(_ action: Conversation.Action) {
        switch action {
        case .write(let bytes): self = .write(bytes)
        case .startDeadline(let id, _): self = .startDeadline(id)
        case .stopDeadline(let id): self = .stopDeadline(id)
        case .finish(let id, .success(let message)): self = .answered(id, message.status)
        case .finish(let id, .failure(let error)): self = .failed(id, error)
        case .event(let message): self = .event(message.body)
        case .close(let error): self = .close(error)
        }
    }
}

private func http(_ status: Int, _ body: [UInt8] = [], kind: String = "HTTP/1.1") -> [UInt8] {
    Array("\(kind) \(status) Text\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
}

@Suite struct `A conversation` {
    private var conversation = Conversation(host: "10.0.0.2")
    private let question = HTTPRequest.get("/accessories")
    private var request: [UInt8] { question.encoded(host: "10.0.0.2") }

    private mutating func submit(_ id: UInt64) -> [Seen] { conversation.submit(.request(question, .accessories), id: id).map(Seen.init) }

    private mutating func received(_ bytes: [UInt8]) -> [Seen] { conversation.received(bytes).map(Seen.init) }

    @Test mutating func `has one request on the wire at a time, in the order asked`() {
        #expect(submit(1) == [.startDeadline(1), .write(request)])
        #expect(submit(2) == [])
        #expect(submit(3) == [])
        #expect(received(http(200)) == [.stopDeadline(1), .answered(1, 200), .startDeadline(2), .write(request)])
        #expect(received(http(204)) == [.stopDeadline(2), .answered(2, 204), .startDeadline(3), .write(request)])
        #expect(received(http(207)) == [.stopDeadline(3), .answered(3, 207)])
        #expect(submit(4) == [.startDeadline(4), .write(request)])
    }

    @Test mutating func `tells events from answers, before, after and between them`() {
        let event = http(200, [1], kind: "EVENT/1.0")
        #expect(received(event) == [.event([1])])
        _ = submit(1)
        #expect(received(event + http(200) + event) == [.event([1]), .stopDeadline(1), .answered(1, 200), .event([1])])
    }

    @Test mutating func `is over with a passed deadline, so that a late answer meets nobody`() {
        _ = submit(1)
        _ = submit(2)
        let error = HAPError.timedOut(.accessories)
        #expect(conversation.deadlinePassed(1).map(Seen.init) == [.stopDeadline(1), .failed(1, error), .failed(2, error), .close(error)])
        #expect(received(http(200)) == [])
        #expect(submit(3) == [.failed(3, error)])
        #expect(conversation.end == error)
    }

    @Test mutating func `ignores a deadline of work already done`() {
        _ = submit(1)
        _ = received(http(200))
        #expect(conversation.deadlinePassed(1).isEmpty)
        _ = submit(2)
        #expect(conversation.deadlinePassed(1).isEmpty)
    }

    @Test mutating func `forgets cancelled work that has not been sent, and ends with work that has`() {
        _ = submit(1)
        _ = submit(2)
        #expect(conversation.cancelled(2).map(Seen.init) == [.failed(2, .cancelled)])
        #expect(conversation.end == nil)
        #expect(
            conversation.cancelled(1).map(Seen.init) == [.stopDeadline(1), .failed(1, .cancelled), .close(.closed(errno: nil))])
    }

    @Test mutating func `ends when an answer comes that nobody asked for`() {
        #expect(received(http(200)) == [.close(.malformed(.event, reason: "an answer to no request"))])
    }

    @Test mutating func `ends with what is not HTTP, and says so once`() {
        _ = submit(1)
        let error = HAPError.malformed(.accessories, reason: "HTTP: badStartLine")
        #expect(received(Array("SSH-2.0-x\r\n".utf8)) == [.stopDeadline(1), .failed(1, error), .close(error)])
        #expect(conversation.connectionEnded(errno: 0).isEmpty)
        #expect(conversation.close().isEmpty)
    }

    @Test mutating func `tells those who wait why the connection ended`() {
        _ = submit(1)
        _ = submit(2)
        let error = HAPError.closed(errno: 104)
        #expect(
            conversation.connectionEnded(errno: 104).map(Seen.init)
                == [.stopDeadline(1), .failed(1, error), .failed(2, error), .close(error)])
    }
}

@Suite struct `A verified conversation` {
    let accessory: ScriptedAccessory
    let pairing: PairingRecord

    init() throws {
        accessory = try ScriptedAccessory()
        pairing = accessory.pairing
    }

    private func body(of actions: [Conversation.Action]) throws -> [UInt8] {
        for case .write(let bytes) in actions {
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.hasPrefix("POST /pair-verify HTTP/1.1\r\nHost: 10.0.0.2\r\nContent-Length: "))
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            return Array(bytes[end.upperBound...])
        }
        throw HAPError.closed(errno: nil)
    }

    /// A conversation just verified by bytes cut at `cut` of the accessory's last plain answer and the encrypted ones that follow it.
    private func verified(cut: Int?) throws -> [Seen] {
        var conversation = Conversation(host: "10.0.0.2")
        let m1 = try body(of: conversation.submit(.verify(PairVerify(pairing: pairing)), id: 1))
        _ = conversation.submit(.request(.get("/accessories"), .accessories), id: 2)
        let m3 = try body(of: conversation.received(http(200, try accessory.m2(verifying: m1))))
        #expect(try accessory.accepts(m3, after: m1, from: pairing))

        let keys = try accessory.sessionKeys(after: m1)
        var sealer = FrameSealer(key: keys.outgoing)
        var opener = FrameOpener(key: keys.incoming)
        let stream =
            http(200, TLV8((.state, [4])).encoded) + sealer.seal(http(200, [9], kind: "EVENT/1.0")) + sealer.seal(http(200, [1, 2]))
        let pieces = cut.map { [Array(stream.prefix($0)), Array(stream.dropFirst($0))] } ?? stream.map { [$0] }
        return try pieces.flatMap {
            try conversation.received($0).map { action in
                if case .write(let bytes) = action { return Seen.write(try opener.open(bytes)) }
                return Seen(action)
            }
        }
    }

    @Test func `is encrypted from the very byte after the last plain one, wherever the stream is cut`() throws {
        let expected: [Seen] = [
            .stopDeadline(1), .answered(1, 200), .startDeadline(2), .write(HTTPRequest.get("/accessories").encoded(host: "10.0.0.2")),
            .event([9]), .stopDeadline(2), .answered(2, 200),
        ]
        for cut in [nil] + (0...200).map(Optional.init) { #expect(try verified(cut: cut) == expected) }
    }

    @Test(arguments: [400, 404, 470, 503])
    func `does not come about where the accessory answers with an error`(status: Int) throws {
        var conversation = Conversation(host: "10.0.0.2")
        _ = conversation.submit(.verify(PairVerify(pairing: pairing)), id: 1)
        let error = HAPError.httpStatus(.pairVerifyStart, code: status, status: nil)
        #expect(conversation.received(http(status)).map(Seen.init) == [.stopDeadline(1), .failed(1, error), .close(error)])
    }

    @Test(arguments: [204, 200])
    func `needs nothing but a success for a last answer`(status: Int) throws {
        var conversation = Conversation(host: "10.0.0.2")
        let m1 = try body(of: conversation.submit(.verify(PairVerify(pairing: pairing)), id: 1))
        _ = conversation.received(http(200, try accessory.m2(verifying: m1)))
        #expect(conversation.received(http(status)).map(Seen.init) == [.stopDeadline(1), .answered(1, status)])
    }

    @Test func `is refused in the language of pairing, whatever HTTP calls it`() throws {
        var conversation = Conversation(host: "10.0.0.2")
        _ = conversation.submit(.verify(PairVerify(pairing: pairing)), id: 1)
        #expect(
            conversation.received(http(400, [6, 1, 2, 7, 1, 2])).map(Seen.init) == [
                .stopDeadline(1), .failed(1, .pairingLost), .close(.pairingLost),
            ])
    }

    @Test func `ends with the first forged frame`() throws {
        var conversation = Conversation(host: "10.0.0.2")
        let m1 = try body(of: conversation.submit(.verify(PairVerify(pairing: pairing)), id: 1))
        _ = conversation.received(http(200, try accessory.m2(verifying: m1)))
        _ = conversation.received(http(200, TLV8((.state, [4])).encoded))
        var sealer = FrameSealer(key: SecretBytes.random(count: 32))
        let actions = conversation.received(sealer.seal(http(200, [9], kind: "EVENT/1.0"))).map(Seen.init)
        #expect(actions == [.close(.notAuthentic(.event))])
    }
}
