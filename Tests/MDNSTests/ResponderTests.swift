import TestSupport
import Testing

@testable import MDNS

@Suite struct `Answers about a service` {
    private let type: DNSName
    private let host: DNSName
    private let records: ServiceRecords
    private let addresses: [[UInt8]] = [[192, 0, 2, 7], [0xFD] + [UInt8](repeating: 0, count: 14) + [7]]

    init() throws {
        type = try #require(DNSName("_hap._tcp.local"))
        host = try #require(DNSName("handkit-1.local"))
        records = ServiceRecords(
            service: AnnouncedService(instance: "A lamp", type: type, host: host, port: 51826, text: TXTRecord(["c#": "1", "sf": "1"])))
    }

    private var name: DNSName { records.service.name }

    private func ask(
        _ name: DNSName, _ kind: DNSType, knowing known: [DNSRecord] = [], isLegacy: Bool = false, id: UInt16 = 0
    ) -> DNSMessage? {
        records.answer(
            to: .query([DNSQuestion(name, kind)], id: id, knownAnswers: known), isLegacy: isLegacy, addresses)
    }

    @Test func `who asks for the type gets all that is needed at once`() throws {
        let answer = try #require(ask(type, .ptr))
        #expect(answer.isResponse && answer.id == 0 && answer.questions.isEmpty)
        #expect(answer.answers == [DNSRecord(type, .ptr(name), timeToLive: 4500)])
        #expect(answer.additionals.map(\.type) == [.srv, .txt, .a, .aaaa])
        #expect(answer.additionals.allSatisfy { $0.flushesCache })
        #expect(answer.additionals[0].value == .srv(priority: 0, weight: 0, port: 51826, target: host))
        #expect(answer.additionals[2].value == .a([192, 0, 2, 7]))
    }

    @Test func `other questions get what they ask for`() throws {
        #expect(ask(name, .srv)?.answers.map(\.type) == [.srv])
        #expect(ask(name, .txt)?.answers.map(\.value) == [.txt([Array("c#=1".utf8), Array("sf=1".utf8)])])
        #expect(ask(name, .any)?.answers.map(\.type) == [.srv, .txt])
        #expect(ask(host, .a)?.answers.map(\.type) == [.a])
        #expect(ask(host, .any)?.answers.map(\.type) == [.a, .aaaa])
        let enumeration = try #require(DNSName("_services._dns-sd._udp.local"))
        #expect(ask(enumeration, .ptr)?.answers.map(\.value) == [.ptr(type)])
        let shouted = try #require(DNSName("_HAP._TCP.LOCAL"))
        #expect(ask(shouted, .ptr) != nil)
    }

    @Test func `what does not exist is said not to, and of others nothing is said`() throws {
        let onlyV4 = records.answer(to: .query([DNSQuestion(host, .aaaa)]), isLegacy: false, [[192, 0, 2, 7]])
        #expect(onlyV4?.answers.map(\.value) == [.nsec(next: host, types: [.a])])
        #expect(ask(name, .a)?.answers.map(\.value) == [.nsec(next: name, types: [.srv, .txt])])
        let printers = try #require(DNSName("_ipp._tcp.local"))
        #expect(ask(printers, .ptr) == nil)
        #expect(ask(type, .srv) == nil)
        #expect(records.answer(to: records.announcement(addresses), isLegacy: false, addresses) == nil)
    }

    @Test func `what the asker knows for long enough is not said again`() {
        let known = DNSRecord(type, .ptr(name), timeToLive: 2250)
        #expect(ask(type, .ptr, knowing: [known]) == nil)
        var old = known
        old.timeToLive = 2249
        #expect(ask(type, .ptr, knowing: [old]) != nil)
    }

    @Test func `a resolver that is no mDNS gets an answer in its own form`() throws {
        let answer = try #require(ask(type, .ptr, isLegacy: true, id: 77))
        #expect(answer.id == 77 && answer.questions == [DNSQuestion(type, .ptr)])
        let all = answer.answers + answer.additionals
        #expect(all.allSatisfy { $0.timeToLive <= 10 && !$0.flushesCache })
    }

    @Test func `an announcement says everything, a goodbye takes it back`() {
        #expect(records.announcement(addresses).answers.map(\.type) == [.ptr, .srv, .txt, .a, .aaaa, .ptr])
        #expect(records.goodbye.answers.map(\.type) == [.ptr, .srv, .txt])
        #expect(records.goodbye.answers.allSatisfy { $0.timeToLive == 0 })
    }

    @Test func `a name that another has is a conflict, and the next one is tried`() throws {
        var other = records
        other.service.host = try #require(DNSName("another.local"))
        #expect(records.isConflict(other.announcement(addresses)))
        #expect(!records.isConflict(records.announcement(addresses)))
        #expect(!records.isConflict(other.goodbye))
        #expect(!records.isConflict(other.probe))
        #expect(records.service.renamed.instance == "A lamp (2)")
        #expect(records.service.renamed.renamed.instance == "A lamp (3)")
        #expect(records.probe.authorities.map(\.type) == [.srv, .txt])
    }

    @Test func `of two who ask for a name at once the one with the later data gets it, and both know which`() throws {
        var other = records
        other.service.host = try #require(DNSName("zandkit-1.local"))
        #expect(records.contest(other.probe) == .lost)
        #expect(other.contest(records.probe) == .won)
        #expect(records.contest(records.probe) == .same)
        // The port stands before the host's name.
        other.service.port = 80
        #expect(records.contest(other.probe) == .won)
        #expect(other.contest(records.probe) == .lost)

        // RFC 6762, 8.2.1: 200 comes after 99 as bytes go, and more records after fewer.
        func address(_ last: UInt8) -> DNSRecord { DNSRecord(name, .a([169, 254, 200, last]), timeToLive: 120) }
        func range(_ third: UInt8) -> DNSRecord { DNSRecord(name, .a([169, 254, third, 200]), timeToLive: 120) }
        #expect(ProbeContest.outcome(ours: [range(99)], theirs: [address(50)]) == .lost)
        #expect(ProbeContest.outcome(ours: [address(50)], theirs: [range(99)]) == .won)
        #expect(ProbeContest.outcome(ours: [address(50), address(51)], theirs: [address(50)]) == .won)
        #expect(ProbeContest.outcome(ours: [address(51), address(50)], theirs: [address(50), address(51)]) == .same)
    }

    @Test func `a question for the name or an answer about it is no contest`() {
        #expect(records.contest(.query([DNSQuestion(name, .any)])) == nil)
        #expect(records.contest(records.announcement(addresses)) == nil)
    }

    @Test func `only what others may answer too is shared`() {
        #expect(ask(type, .ptr)?.isShared == true)
        #expect(ask(name, .srv)?.isShared == false)
        #expect(ask(host, .a)?.isShared == false)
    }

    @Test func `rubbish is never answered with a crash`() {
        var random = SeededGenerator(seed: 3)
        let query = DNSMessage.query([DNSQuestion(type, .ptr), DNSQuestion(name, .any)]).encoded
        var answered = 0
        for _ in 0..<3_000 {
            guard let message = try? DNSMessage(decoding: random.mutated(query)) else { continue }
            if records.answer(to: message, isLegacy: .random(using: &random), addresses) != nil { answered += 1 }
        }
        #expect(answered > 0)
    }

    @Test func `numeric addresses are read and written`() {
        #expect(IPAddress.bytes("192.0.2.7") == [192, 0, 2, 7])
        #expect(IPAddress.bytes("fe80::1%eth0")?.count == 16)
        #expect(IPAddress.bytes("lamp.local") == nil)
        #expect(IPAddress.text([127, 0, 0, 1]) == "127.0.0.1")
        #expect(IPAddress.text([1]) == nil)
    }
}

/// On the loopback interface, with a resolver of the simplest kind: one question from a port of its own.
@Suite(.timeLimit(.minutes(1))) struct `A responder on the network` {
    private func ask(_ name: DNSName, _ socket: MulticastSocket, _ loopback: UInt32) async throws -> DNSMessage? {
        try socket.send(
            DNSMessage.query([DNSQuestion(name, .ptr)], id: 5).encoded, to: .group(.ipv4), interface: loopback)
        for _ in 0..<20 {
            while let datagram = socket.receive() {
                let message = try DNSMessage(decoding: datagram.bytes)
                if message.id == 5, message.isResponse, message.answers.contains(where: { $0.name == name }) { return message }
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        return nil
    }

    @Test func `an answer that others may give too waits, and one that nobody else gives does not`() async throws {
        let loopback = try #require(NetworkInterface.all().first { $0.isLoopback && $0.ipv4.contains([127, 0, 0, 1]) })
        let type = try #require(DNSName("_handkit\(UInt16.random(in: 0...UInt16.max))._tcp.local"))
        let host = try #require(DNSName("handkit-\(UInt16.random(in: 0...UInt16.max)).local"))
        let responder = try Responder(
            AnnouncedService(instance: "Polite", type: type, host: host, port: 7, text: TXTRecord()), address: "127.0.0.1")
        let run = Task { await responder.run() }
        // From port 5353, as a querier of mDNS.
        let socket = try MulticastSocket(.ipv4, port: MulticastSocket.port)
        try socket.join(interface: loopback.index)

        func answer(to question: DNSQuestion) async throws -> Duration {
            while socket.receive() != nil {}
            let start = ContinuousClock.now
            return try await eventually("the responder answered") {
                try socket.send(DNSMessage.query([question]).encoded, to: .group(.ipv4), interface: loopback.index)
                for _ in 0..<30 {
                    while let datagram = socket.receive() {
                        let message = try DNSMessage(decoding: datagram.bytes)
                        // An announcement holds more than the answer to one question.
                        if message.isResponse, message.answers.map(\.name) == [question.name] { return .now - start }
                    }
                    try await Task.sleep(for: .milliseconds(5))
                }
                return nil
            }
        }
        #expect(try await answer(to: DNSQuestion(type, .ptr)) >= .milliseconds(20))
        _ = try await answer(to: DNSQuestion(host, .a))
        run.cancel()
        await run.value
    }

    @Test func `answers from its start to its goodbye, with its newest text`() async throws {
        let loopback = try #require(NetworkInterface.all().first { $0.isLoopback && $0.ipv4.contains([127, 0, 0, 1]) })
        let type = try #require(DNSName("_handkit\(UInt16.random(in: 0...UInt16.max))._tcp.local"))
        let service = AnnouncedService(
            instance: "Loopback", type: type, host: try #require(DNSName("handkit-test.local")), port: 7, text: TXTRecord(["sf": "1"]))
        let responder = try Responder(service, address: "127.0.0.1")
        let run = Task { await responder.run() }
        let socket = try MulticastSocket(.ipv4, port: 0)

        let deadline = ContinuousClock.now + .seconds(20)
        var answer: DNSMessage?
        while answer == nil, ContinuousClock.now < deadline { answer = try await ask(type, socket, loopback.index) }
        let first = try #require(answer)
        #expect(first.additionals.contains { $0.value == .a([127, 0, 0, 1]) })
        #expect(first.additionals.contains { $0.value == .txt([Array("sf=1".utf8)]) })

        await responder.update(text: TXTRecord(["sf": "0"]))
        let second = try #require(try await ask(type, socket, loopback.index))
        #expect(second.additionals.contains { $0.value == .txt([Array("sf=0".utf8)]) })

        run.cancel()
        await run.value
        #expect(try await ask(type, socket, loopback.index) == nil)
    }
}
