import TestSupport
import Testing

@testable import MDNS

/// What a lamp says of itself, and a table that listens, in virtual time.
private struct Network {
    static let type = DNSName("_hap._tcp.local")!
    static let host = DNSName("lamp.local")!

    var table = ServiceTable(type: type)
    var now = ContinuousClock.now

    static func name(_ instance: String) -> DNSName { type.prefixed(by: instance)! }

    static func announcement(
        _ instance: String = "Desk", host: DNSName = host, port: UInt16 = 51826, addresses: [[UInt8]] = [[192, 0, 2, 7]],
        text: KeyValuePairs<String, String> = ["id": "AA:BB:CC:DD:EE:FF"], lifetime: UInt32 = 120
    ) -> DNSMessage {
        DNSMessage(
            isResponse: true, answers: [DNSRecord(type, .ptr(name(instance)), timeToLive: lifetime)],
            additionals: [
                DNSRecord(name(instance), .srv(priority: 0, weight: 0, port: port, target: host), timeToLive: lifetime),
                DNSRecord(name(instance), .txt(TXTRecord(text).strings), timeToLive: lifetime),
            ] + addresses.map { DNSRecord(host, $0.count == 4 ? .a($0) : .aaaa($0), timeToLive: lifetime) })
    }

    mutating func hear(_ message: DNSMessage, interface: UInt32 = 2, isToAll: Bool = false) -> [ServiceSighting] {
        table.received(message, interface: interface, isToAll: isToAll, at: now)
    }

    mutating func pass(_ seconds: Int) -> [ServiceSighting] {
        now += .seconds(seconds)
        return table.expire(at: now)
    }

    var addresses: [[UInt8]] {
        (table.services.first?.addresses.map(\.bytes) ?? []).sorted { $0.lexicographicallyPrecedes($1) }
    }
}

@Suite struct `A table of services` {
    private var network = Network()

    @Test mutating func `knows a service when name, place, text and address are known, in whatever order they come`() throws {
        let whole = Network.announcement()
        let records = whole.answers + whole.additionals
        for record in records.dropLast() { #expect(network.hear(DNSMessage(isResponse: true, answers: [record])).isEmpty) }
        let sightings = network.hear(DNSMessage(isResponse: true, answers: [records[3]]))
        guard case .changed(let service) = sightings.first else {
            Issue.record("\(sightings)")
            return
        }
        #expect(service.instance == "Desk" && service.port == 51826)
        #expect(service.addresses == [.init(bytes: [192, 0, 2, 7], interface: 2)])
        #expect(service.text["ID"] == Array("AA:BB:CC:DD:EE:FF".utf8))
    }

    @Test mutating func `asks for what is missing and for nothing else`() {
        let whole = Network.announcement()
        _ = network.hear(DNSMessage(isResponse: true, answers: whole.answers))
        #expect(Set(network.table.openQuestions.map(\.type)) == [.srv, .txt])
        _ = network.hear(DNSMessage(isResponse: true, answers: Array(whole.additionals.prefix(2))))
        #expect(Set(network.table.openQuestions.map(\.type)) == [.a, .aaaa])
        _ = network.hear(whole)
        #expect(network.table.openQuestions.isEmpty)
    }

    @Test mutating func `says nothing of an answer that changes nothing, but of one to everybody that the service is alive`() {
        _ = network.hear(Network.announcement())
        #expect(network.hear(Network.announcement()).isEmpty)
        guard case .alive = network.hear(Network.announcement(), isToAll: true).first else {
            Issue.record("not alive")
            return
        }
    }

    @Test mutating func `a lamp that the router gave another address is seen to have changed, though its IPv6 address stayed`() {
        let v6: [UInt8] = [0xFD] + [UInt8](repeating: 0, count: 14) + [9]
        _ = network.hear(Network.announcement(addresses: [[192, 0, 2, 7], v6]))
        #expect(network.hear(Network.announcement(addresses: [[192, 0, 2, 8], v6])).count == 1)
        #expect(network.addresses == [[192, 0, 2, 8], v6])
    }

    @Test mutating func `a lamp at another port is seen to have changed`() {
        _ = network.hear(Network.announcement())
        #expect(network.hear(Network.announcement(port: 40000)).count == 1)
        #expect(network.table.services.first?.port == 40000)
    }

    @Test mutating func `addresses of one interface do not replace those of another`() {
        _ = network.hear(Network.announcement(addresses: [[192, 0, 2, 7]]), interface: 2)
        _ = network.hear(Network.announcement(addresses: [[10, 0, 0, 7]]), interface: 3)
        #expect(network.addresses == [[10, 0, 0, 7], [192, 0, 2, 7]])
    }

    @Test mutating func `a service that says goodbye is gone a second later, and not if it comes back within that`() {
        _ = network.hear(Network.announcement())
        var goodbye = DNSMessage(isResponse: true, answers: Network.announcement().answers)
        goodbye.answers[0].timeToLive = 0
        _ = network.hear(goodbye)
        _ = network.hear(Network.announcement())
        #expect(network.pass(2).isEmpty)
        _ = network.hear(goodbye)
        #expect(network.pass(2) == [.gone(instance: "Desk")])
        #expect(network.table.services.isEmpty)
    }

    @Test mutating func `the ten seconds of an answer to an ephemeral port do not make a service come and go`() {
        _ = network.hear(Network.announcement(lifetime: 10))
        #expect(network.pass(60).isEmpty)
        #expect(network.pass(100) == [.gone(instance: "Desk")])
    }

    @Test mutating func `questions and records of other services are nothing to it`() {
        var question = Network.announcement()
        question.isResponse = false
        #expect(network.hear(question).isEmpty)
        let other = DNSName("_ipp._tcp.local")!
        let record = DNSRecord(other, .ptr(other.prefixed(by: "Printer")!), timeToLive: 120)
        #expect(network.hear(DNSMessage(isResponse: true, answers: [record])).isEmpty)
        #expect(network.table.openQuestions.isEmpty)
    }

    @Test mutating func `a flood of names and addresses is bounded`() {
        for number in 0..<2000 {
            let host = DNSName("h\(number).local")!
            let addresses = (0..<40).map { [10, UInt8(number & 255), UInt8(number >> 8), UInt8($0)] }
            _ = network.hear(Network.announcement("Lamp \(number)", host: host, addresses: addresses))
        }
        #expect(network.table.services.count == ServiceTable.maximumInstances)
        #expect(network.table.services.allSatisfy { $0.addresses.count <= ServiceTable.maximumAddresses })
    }

    @Test(arguments: 0..<20) mutating func `whatever is heard in whatever order, it stays in step`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            var message = Network.announcement(
                "Lamp \(Int.random(in: 0..<6, using: &random))", host: DNSName("h\(Int.random(in: 0..<3, using: &random)).local")!,
                port: UInt16.random(in: 1...3, using: &random), lifetime: [0, 10, 120].randomElement(using: &random) ?? 0)
            message.answers.shuffle(using: &random)
            message.additionals = message.additionals.filter { _ in Bool.random(using: &random) }
            _ = network.hear(message, isToAll: Bool.random(using: &random))
            _ = network.pass(Int.random(in: 0..<40, using: &random))
        }
        _ = network.pass(5000)
        #expect(network.table.services.isEmpty && network.table.deadline == nil)
    }
}
