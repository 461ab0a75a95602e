import Glibc
import MQTT
import TestSupport
import Testing

struct `MQTT client before a real broker` {
    @Test func `it connects with MQTT 5 and says where`() async throws {
        let broker = try await Mosquitto()
        try await withClient(.test(broker.port)) { _, log in
            let connection = try await log.connection()
            #expect(connection == MQTTConnection(version: .v5, brokerAddress: "127.0.0.1:\(broker.port)"))
        }
        #expect(broker.log.contains { $0.contains("as test (p5, c1, k15)") })
    }

    @Test func `when its node of a cluster is lost it goes to the next one, and back to the first when that is lost too`() async throws {
        let (first, second) = (try await Mosquitto(), try await Mosquitto())
        let configuration = MQTTConfiguration.test(first.port) { $0.alternatives = [MQTTAddress(host: "127.0.0.1", port: second.port)] }
        try await withClient(configuration) { client, log in
            client.subscribe([MQTTSubscription(try TopicFilter("in"))])
            #expect(try await log.connection(1).brokerAddress == "127.0.0.1:\(first.port)")
            try await first.kill()
            #expect(try await log.connection(2).brokerAddress == "127.0.0.1:\(second.port)")
            try await log.subscription(2)
            try await client.publish(.test("in", "second"))
            try await log.message("in")
            try await first.start()
            try await second.kill()
            #expect(try await log.connection(3).brokerAddress == "127.0.0.1:\(first.port)")
            try await client.publish(.test("in", "first"))
        }
    }

    @Test func `a node that swallows packets is left for the next one in time`() async throws {
        let broker = try await Mosquitto()
        // A listener whose queue is full answers no SYN.
        let deaf = try DeafListener()
        let configuration = MQTTConfiguration.test(deaf.port) {
            $0.alternatives = [MQTTAddress(host: "127.0.0.1", port: broker.port)]
            $0.reachDeadline = .milliseconds(200)
        }
        try await withClient(configuration) { _, log in
            let connection = try await log.connection()
            #expect(connection.brokerAddress == "127.0.0.1:\(broker.port)")
            #expect(log.disconnections.map(\.reason) == [.unreachable(host: "127.0.0.1", port: deaf.port, code: ETIMEDOUT)])
        }
    }

    @Test func `it works in a process with more than a thousand open descriptors`() async throws {
        let broker = try await Mosquitto()
        var limit = rlimit()
        try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        limit.rlim_cur = min(limit.rlim_max, 4096)
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        // The system gives the lowest number that is free.
        var held: [Int32] = []
        while (held.last ?? 0) < 1100 {
            let descriptor = dup(STDIN_FILENO)
            try #require(descriptor >= 0)
            held.append(descriptor)
        }
        defer { held.forEach { close($0) } }
        try await withClient(.test(broker.port)) { client, log in
            try await log.connection()
            client.subscribe([MQTTSubscription(try TopicFilter("in"))])
            try await log.subscription()
            for number in 1...3 {
                try await client.publish(.test("in", "\(number)"))
                try await eventually("message \(number) came back") { log.messages.count == number }
            }
        }
    }

    @Test func `forced to 3.1.1 it speaks that, and drops what that cannot carry`() async throws {
        let broker = try await Mosquitto()
        let reader = try await broker.subscribe("out", format: "[%p][%C][%E]")
        try await withClient(.test(broker.port) { $0.version = .only(.v311) }) { client, log in
            #expect(try await log.connection().version == .v311)
            let properties = MQTTProperties(expiryInterval: 3, contentType: "text/plain")
            try await client.publish(.test("out", "hello", properties: properties))
            try await reader.line("the message") { $0 == "[hello][][]" }
        }
        #expect(broker.log.contains { $0.contains("as test (p2, c1, k15)") })
    }

    @Test(arguments: VersionGate.Refusal.allCases)
    func `a broker without MQTT 5 is spoken to in 3.1.1`(refusal: VersionGate.Refusal) async throws {
        let broker = try await Mosquitto()
        let gate = try VersionGate(refusal, upstream: broker.port)
        try await withClient(.test(gate.port)) { client, log in
            #expect(try await log.connection().version == .v311)
            #expect(log.disconnections == [])
            try await client.publish(.test("out", "hello"))
        }
    }

    @Test func `forced to MQTT 5 it says that the broker refuses the version`() async throws {
        let broker = try await Mosquitto()
        let gate = try VersionGate(.reasonCode, upstream: broker.port)
        try await withClient(.test(gate.port) { $0.version = .only(.v5) }) { _, log in
            _ = try await log.disconnection { $0 == .versionRefused }
        }
    }

    @Test func `a client lost is declared offline by its will, one that leaves by its farewell`() async throws {
        let broker = try await Mosquitto()
        let reader = try await broker.subscribe("#")
        let offline = { (why: String) in try MQTTMessage.test("availability", why, retain: true) }
        let configuration = try MQTTConfiguration.test(broker.port) {
            $0.will = try offline("offline (will)")
            $0.farewell = try offline("offline (farewell)")
        }
        try await withClient(configuration) { client, log in
            try await log.connection()
            try await client.publish(.test("availability", "online", retain: true))
            try await reader.line("that it is online") { $0 == "availability online" }
            // A second client of the same name makes the broker throw the first one out.
            let rival = try ChildProcess("mosquitto_pub", ["-p", "\(broker.port)", "-i", "test", "-t", "rival", "-m", "x"])
            try await rival.wait()
            try await reader.line("the will") { $0 == "availability offline (will)" }
            try await log.connection(2)
        }
        try await reader.line("the farewell") { $0 == "availability offline (farewell)" }
        try await broker.publish("end", [])
        try await reader.line("the end") { $0 == "end " }
        #expect(reader.lines.filter { $0.contains("will") }.count == 1)
        let late = try await broker.subscribe("availability", format: "%r %p")
        try await late.line("the retained farewell") { $0 == "1 offline (farewell)" }
    }

    @Test func `every property reaches an independent reader`() async throws {
        let broker = try await Mosquitto()
        let reader = try await broker.subscribe("out", format: "%t|%q|%r|%E|%C|%P|%R|%D|%p")
        try await withClient(.test(broker.port)) { client, log in
            try await log.connection()
            let properties = MQTTProperties(
                expiryInterval: 3, contentType: "application/json", userProperties: [.init(name: "schema", value: "1")],
                responseTopic: try TopicName("answers/7"), correlationData: Array("id7".utf8))
            try await client.publish(.test("out", "{}", properties: properties))
            let line = try await reader.line("the message") { $0.hasPrefix("out|") }
            let fields = line.split(separator: "|", omittingEmptySubsequences: false)
            #expect(fields.count == 9)
            // The broker counts the expiry down in whole seconds.
            #expect(["2", "3"].contains(String(fields[3])))
            #expect(
                fields.enumerated().filter { $0.offset != 3 }.map(\.element) == [
                    "out", "1", "0", "application/json", "schema:1", "answers/7", "id7", "{}",
                ])
        }
    }

    @Test func `every property of an independent writer is read`() async throws {
        let broker = try await Mosquitto()
        try await withClient(.test(broker.port)) { client, log in
            client.subscribe([MQTTSubscription(try TopicFilter("in/#"))])
            try await log.subscription()
            try await broker.publish(
                "in/a", Array("{}".utf8),
                options: [
                    "-D", "publish", "message-expiry-interval", "60", "-D", "publish", "content-type", "application/json", "-D", "publish",
                    "user-property", "schema", "1", "-D", "publish", "user-property", "schema", "2", "-D", "publish", "response-topic",
                    "answers/7", "-D", "publish", "correlation-data", "id7",
                ])
            let message = try await log.message("in/a")
            #expect(message.payload == Array("{}".utf8))
            #expect(message.qos == .atLeastOnce && !message.retain)
            #expect(message.properties.contentType == "application/json")
            #expect(message.properties.userProperties.map(\.value) == ["1", "2"])
            #expect(message.properties["schema"] == "1")
            #expect(message.properties.responseTopic == (try TopicName("answers/7")))
            #expect(message.properties.correlationData == Array("id7".utf8))
            #expect([59, 60].contains(message.properties.expiryInterval))
        }
    }

    @Test func `retained messages are told from fresh ones, and an empty payload is one`() async throws {
        let broker = try await Mosquitto()
        try await broker.publish("kept", Array("old".utf8), options: ["-r"])
        try await withClient(.test(broker.port)) { client, log in
            client.subscribe([MQTTSubscription(try TopicFilter("kept")), MQTTSubscription(try TopicFilter("empty"), qos: .atMostOnce)])
            #expect(try await log.message("kept").retain)
            try await client.publish(.test("empty", ""))
            let empty = try await log.message("empty")
            #expect(empty.payload == [] && empty.qos == .atMostOnce && !empty.retain)
        }
    }

    @Test(arguments: [QualityOfService.atMostOnce, .atLeastOnce])
    func `big payloads and every byte value survive both ways`(qos: QualityOfService) async throws {
        let broker = try await Mosquitto()
        let payload = (0..<262_144).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) }
        let reader = try await broker.subscribe("big", format: "%x")
        try await withClient(.test(broker.port)) { client, log in
            client.subscribe([MQTTSubscription(try TopicFilter("+"))])
            try await log.subscription()
            try await client.publish(MQTTMessage(topic: TopicName("big"), payload: payload, qos: qos), within: .seconds(20))
            #expect(try await log.message("big").payload == payload)
            let line = try await reader.line("the payload in hexadecimal") { $0.utf8.count == 2 * payload.count }
            #expect(line.hasPrefix("000102030405"))
            try await broker.publish("back", payload)
            #expect(try await log.message("back").payload == payload)
        }
    }

    @Test(arguments: [true, false])
    func `a fresh message keeps its retained flag where that is wished`(keepsRetained: Bool) async throws {
        let broker = try await Mosquitto()
        try await withClient(.test(broker.port)) { client, log in
            client.subscribe([MQTTSubscription(try TopicFilter("command"), keepsRetained: keepsRetained)])
            try await log.subscription()
            try await broker.publish("command", Array("x".utf8), options: ["-r"])
            #expect(try await log.message("command").retain == keepsRetained)
        }
    }

    @Test func `messages that nobody reads in time are dropped, oldest first, and counted`() async throws {
        let broker = try await Mosquitto()
        let client = MQTTClient(.test(broker.port) { $0.incomingLimit.messages = 10 })
        client.subscribe([MQTTSubscription(try TopicFilter("flood"))])
        try await withThrowingTaskGroup { group in
            group.addTask { await client.run() }
            defer { client.shutdown() }
            let events = client.events.makeAsyncIterator()
            while let event = await events.next() { if case .subscribed = event { break } }
            for number in 0..<100 { try await client.publish(.test("flood", "\(number)")) }
            var (dropped, read) = (0, [String]())
            while read.last != "99", let event = await events.next() {
                switch event {
                case .dropped(let count): dropped += count
                case .message(let message): read.append(String(decoding: message.payload, as: UTF8.self))
                default: break
                }
            }
            #expect(dropped > 0)
            #expect(dropped + read.count == 100)
            #expect(read == (100 - read.count..<100).map(String.init))
            client.shutdown()
            try await group.waitForAll()
        }
    }

    @Test func `a filter the broker refuses is told, the others work`() async throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        try Paths.write("topic write secret\ntopic readwrite open\n", to: "\(folder)/acl")
        let broker = try await Mosquitto(settings: ["acl_file \(folder)/acl"])
        try await withClient(.test(broker.port)) { client, log in
            try await log.connection()
            await #expect(throws: MQTTPublishError.refused(MQTTReasonCode(rawValue: 0x87))) {
                try await client.publish(.test("forbidden", "x"))
            }
            try client.send(.test("forbidden", "x"))
            let refusal = MQTTEvent.undelivered(try TopicName("forbidden"), .refused(MQTTReasonCode(rawValue: 0x87)))
            try await eventually("the refusal came as an event, but \(log.all)") { log.all.contains(refusal) }
            try await client.publish(.test("open", "x"))
        }
    }

    @Test func `a message beyond what the broker takes is refused without harm`() async throws {
        let broker = try await Mosquitto(settings: ["max_packet_size 1000"])
        try await withClient(.test(broker.port)) { client, log in
            try await log.connection()
            await #expect(throws: MQTTPublishError.invalid(code: 25)) {
                try await client.publish(.test("big", String(repeating: "x", count: 2000)))
            }
            try await client.publish(.test("small", "x"))
            #expect(log.disconnections == [])
        }
    }
}
