import MDNS
import TestSupport
import Testing

private func name(_ text: String) throws -> DNSName { try #require(DNSName(text)) }

@Suite struct DNSMessageTests {
    /// An answer as Apple's responder sends it, put together by hand from RFC 1035 and RFC 6762.
    private static let answer: [UInt8] = {
        var bytes: [UInt8] = [0, 0, 0x84, 0, 0, 0, 0, 2, 0, 0, 0, 1]
        bytes += [4] + Array("_hap".utf8) + [4] + Array("_tcp".utf8) + [5]
        bytes += Array("local".utf8) + [0, 0, 12, 0, 1, 0, 0, 0x11, 0x94, 0, 9]
        // The data of the PTR begins at 39.
        bytes += [6] + Array("A lamp".utf8) + [0xC0, 12]
        bytes += [0xC0, 39, 0, 33, 0x80, 1, 0, 0, 0, 120, 0, 13, 0, 0, 0, 0, 0xC8, 0x2A, 4]
        bytes += Array("lamp".utf8) + [0xC0, 22]
        bytes += [0xC0, 39, 0, 16, 0x80, 1, 0, 0, 0x11, 0x94, 0, 9, 4]
        bytes += Array("c#=1".utf8) + [3] + Array("pv=".utf8)
        return bytes
    }()

    @Test func `an answer is read with its compressed names`() throws {
        let message = try DNSMessage(decoding: Self.answer)
        let instance = try #require(try name("_hap._tcp.local").prefixed(by: "A lamp"))
        #expect(message.isResponse && message.id == 0 && message.questions.isEmpty)
        #expect(
            message.answers == [
                DNSRecord(try name("_hap._tcp.local"), .ptr(instance), timeToLive: 4500),
                DNSRecord(
                    instance, .srv(priority: 0, weight: 0, port: 51242, target: try name("lamp.local")), timeToLive: 120,
                    flushesCache: true),
            ])
        #expect(
            message.additionals == [
                DNSRecord(instance, .txt([Array("c#=1".utf8), Array("pv=".utf8)]), timeToLive: 4500, flushesCache: true)
            ])
    }

    @Test func `what is encoded is compressed and reads as what it was`() throws {
        let instance = try #require(try name("_hap._tcp.local").prefixed(by: "Käthes Lampe. (2)"))
        let host = try name("lamp.local")
        let message = DNSMessage(
            id: 7, isResponse: true, isTruncated: true,
            questions: [DNSQuestion(try name("_HAP._tcp.local"), .ptr, wantsUnicast: true)],
            answers: [DNSRecord(try name("_hap._tcp.local"), .ptr(instance), timeToLive: 4500)],
            authorities: [DNSRecord(host, .nsec(next: host, types: [.a, .aaaa]), timeToLive: 120, flushesCache: true)],
            additionals: [
                DNSRecord(instance, .srv(priority: 1, weight: 2, port: 3, target: host), timeToLive: 120),
                DNSRecord(instance, .txt([[]]), timeToLive: 1), DNSRecord(host, .a([192, 0, 2, 1]), timeToLive: 120),
                DNSRecord(host, .aaaa(Array(1...16)), timeToLive: .max),
                DNSRecord(host, .other(DNSType(rawValue: 99), [1, 2]), timeToLive: 0),
            ])
        let bytes = message.encoded
        #expect(try DNSMessage(decoding: bytes) == message)
        #expect(bytes.count < 220)
    }

    @Test func `names compare without case and are shown with their dots escaped`() throws {
        let instance = try #require(try name("_hap._tcp.local").prefixed(by: "a.b c"))
        #expect(instance.description == "a\\.b\\032c._hap._tcp.local")
        #expect(instance.first == "a.b c")
        #expect(instance.hasSuffix(try name("_HAP._TCP.local.")))
        #expect(DNSName("") == DNSName(labels: []))
        #expect(DNSName(String(repeating: "a", count: 64)) == nil)
        #expect(DNSName("a..b") == nil)
        let long = try #require(try name("local").prefixed(by: String(repeating: "ä", count: 40)))
        #expect(long.labels[0].count == 62)
    }

    @Test func `the keys of a TXT record compare without case and the first counts`() {
        let record = TXTRecord(strings: ["ID=AA:BB", "id=no", "flag", "=x", "empty="].map { Array($0.utf8) })
        #expect(record["id"] == Array("AA:BB".utf8))
        #expect(record["flag"] == nil && record["empty"] == [])
        #expect(record.pairs.map(\.key) == ["ID", "flag", "empty"])
        #expect(TXTRecord().strings == [[]])
        #expect(TXTRecord(["c#": "1", "sf": "0"]).strings == [Array("c#=1".utf8), Array("sf=0".utf8)])
    }

    @Test func `a pointer that does not go back is refused`() {
        let head: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        #expect(throws: DNSFault.badPointer) { try DNSMessage(decoding: head + [0xC0, 12, 0, 12, 0, 1]) }
        #expect(throws: DNSFault.badPointer) { try DNSMessage(decoding: head + [1, 0x61, 0xC0, 12, 0, 12, 0, 1]) }
        #expect(throws: DNSFault.badPointer) { try DNSMessage(decoding: head + [0xC0, 60, 0, 12, 0, 1]) }
        #expect(throws: DNSFault.badPointer) { try DNSMessage(decoding: head + [0x80, 0, 0, 12, 0, 1]) }
    }

    @Test func `a record whose data is not of its type's form is refused`() throws {
        let head: [UInt8] = [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
        #expect(throws: DNSFault.badData(.a)) { try DNSMessage(decoding: head + [0, 1, 0, 1, 0, 0, 0, 1, 0, 3, 1, 2, 3]) }
        #expect(throws: DNSFault.badData(.a)) { try DNSMessage(decoding: head + [0, 1, 0, 1, 0, 0, 0, 1, 0, 5, 1, 2, 3, 4, 5]) }
        #expect(throws: DNSFault.badData(.txt)) { try DNSMessage(decoding: head + [0, 16, 0, 1, 0, 0, 0, 1, 0, 2, 9, 1]) }
        #expect(throws: DNSFault.truncated) { try DNSMessage(decoding: head + [0, 16, 0, 1, 0, 0, 0, 1, 0, 9, 1]) }
        #expect(try DNSMessage(decoding: head + [0, 1, 0, 3, 0, 0, 0, 1, 0, 4, 1, 2, 3, 4]).answers.isEmpty)
    }

    @Test func `every cut of a message is a fault and no crash`() {
        for count in 0..<Self.answer.count {
            #expect(throws: DNSFault.self) { try DNSMessage(decoding: Array(Self.answer.prefix(count))) }
        }
    }

    @Test func `rubbish never crashes, and what is read can be written and read again`() throws {
        var random = SeededGenerator(seed: 1)
        var read = 0
        for _ in 0..<6_000 {
            let bytes = random.mutated(Self.answer)
            guard let message = try? DNSMessage(decoding: bytes) else { continue }
            read += 1
            #expect(try DNSMessage(decoding: message.encoded) == message)
        }
        #expect(read > 300)
        for _ in 0..<2_000 { _ = try? DNSMessage(decoding: random.bytes(upTo: 600)) }
    }
}
