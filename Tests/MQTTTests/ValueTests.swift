import Testing

@testable import MQTT

struct `Topics of MQTT` {
    @Test(arguments: ["a", "/", "handkit/camera/desk/toggle", "$SYS/x", "ä/ö", "a//b", " "])
    func `ordinary names are names and filters`(text: String) throws {
        #expect(try TopicName(text).string == text)
        #expect(try TopicFilter(text).string == text)
        #expect(try TopicFilter(text).matches(TopicName(text)))
    }

    @Test func `names with wildcards, control characters or no sensible length are refused`() {
        #expect(throws: TopicFault.empty) { try TopicName("") }
        #expect(throws: TopicFault.wildcard("+", topic: "a/+")) { try TopicName("a/+") }
        #expect(throws: TopicFault.wildcard("#", topic: "a#")) { try TopicName("a#") }
        #expect(throws: TopicFault.controlCharacter(0, topic: "a\0b")) { try TopicName("a\0b") }
        #expect(throws: TopicFault.controlCharacter(10, topic: "a\nb")) { try TopicFilter("a\nb") }
        #expect(throws: TopicFault.tooLong(bytes: 65536)) { try TopicName(String(repeating: "a", count: 65536)) }
        #expect(throws: TopicFault.empty) { try TopicFilter("") }
    }

    @Test(arguments: ["a+", "+a/b", "a/#/b", "#a", "a/b#", "##"])
    func `a wildcard fills its level, and a hash ends the filter`(text: String) {
        #expect(throws: TopicFault.self) { try TopicFilter(text) }
    }

    // The examples of MQTT 5.0, 4.7.1 and 4.7.2.
    @Test(arguments: [
        ("sport/tennis/player1/#", "sport/tennis/player1", true),
        ("sport/tennis/player1/#", "sport/tennis/player1/ranking", true),
        ("sport/tennis/player1/#", "sport/tennis/player1/score/wimbledon", true),
        ("sport/#", "sport", true),
        ("sport/tennis/+", "sport/tennis/player1", true),
        ("sport/tennis/+", "sport/tennis/player1/ranking", false),
        ("sport/+", "sport", false),
        ("sport/+", "sport/", true),
        ("+/+", "/finance", true),
        ("/+", "/finance", true),
        ("+", "/finance", false),
        ("#", "$SYS/monitor", false),
        ("+/monitor/Clients", "$SYS/monitor/Clients", false),
        ("$SYS/#", "$SYS/monitor", true),
        ("$SYS/monitor/+", "$SYS/monitor/Clients", true),
        ("a/b", "a/b/c", false),
        ("a/b/c", "a/b", false),
    ])
    func `filters match as the standard says`(filter: String, topic: String, expected: Bool) throws {
        #expect(try TopicFilter(filter).matches(TopicName(topic)) == expected)
    }
}

struct `Backoff of MQTT` {
    @Test func `waits double up to the maximum and stay there`() {
        var backoff = Backoff()
        let waits = (0..<9).map { _ in backoff.next(jitter: 1) }
        #expect(waits == [0.5, 1, 2, 4, 4, 4, 4, 4, 4].map { .seconds($0) })
        backoff.reset()
        #expect(backoff.next(jitter: 1) == .milliseconds(500))
    }

    @Test func `jitter moves a wait between its half and its whole`() {
        for (jitter, expected) in [(0.0, 0.25), (0.5, 0.375), (1, 0.5), (-1, 0.25), (2, 0.5)] {
            var backoff = Backoff()
            #expect(backoff.next(jitter: jitter) == .seconds(expected))
        }
    }

    @Test func `it never overflows`() {
        var backoff = Backoff()
        for _ in 0..<10_000 { #expect(backoff.next(jitter: 0) <= .seconds(4)) }
    }
}

struct `Event buffer` {
    private func message(_ number: Int, size: Int = 1) throws -> MQTTEvent {
        .message(MQTTMessage(topic: try TopicName("\(number)"), payload: [UInt8](repeating: 0, count: size)))
    }

    private let connected = MQTTEvent.connected(MQTTConnection(version: .v5, brokerAddress: ""))

    private func drain(_ buffer: inout EventBuffer) -> [MQTTEvent] {
        var events: [MQTTEvent] = []
        while let event = buffer.popFirst() { events.append(event) }
        return events
    }

    @Test func `within the limit everything comes out in order`() throws {
        var buffer = EventBuffer(limit: .init(messages: 3, bytes: 100))
        let events = [connected, try message(1), try message(2)]
        for event in events { buffer.append(event) }
        #expect(drain(&buffer) == events)
        #expect(buffer.popFirst() == nil)
    }

    @Test func `above it the oldest messages go, are counted, and connection events stay`() throws {
        var buffer = EventBuffer(limit: .init(messages: 3, bytes: 100))
        buffer.append(connected)
        for number in 1...5 { buffer.append(try message(number)) }
        #expect(drain(&buffer) == [.dropped(count: 3), connected, try message(4), try message(5)])
    }

    @Test func `bytes are bounded too, but the newest message always stays`() throws {
        var buffer = EventBuffer(limit: .init(messages: 10, bytes: 100))
        buffer.append(try message(1, size: 60))
        buffer.append(try message(2, size: 60))
        #expect(drain(&buffer) == [.dropped(count: 1), try message(2, size: 60)])
        buffer.append(try message(3, size: 1000))
        #expect(drain(&buffer) == [try message(3, size: 1000)])
        buffer.append(try message(4, size: 100))
        #expect(drain(&buffer) == [try message(4, size: 100)])
    }

    @Test func `connection events alone are bounded as well`() {
        var buffer = EventBuffer(limit: .init(messages: 2, bytes: 100))
        for _ in 0..<5 { buffer.append(connected) }
        #expect(drain(&buffer) == [.dropped(count: 3), connected, connected])
    }
}

struct `Configuration of MQTT` {
    @Test func `a password is in no description`() {
        var configuration = MQTTConfiguration(host: "h", clientID: "c")
        configuration.credentials = .init(username: "lamp", password: "sesame")
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            #expect(!text.contains("sesame"))
        }
    }
}
