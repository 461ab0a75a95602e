import Glibc
import MQTT
import TestSupport
import Testing

struct `MQTT client in trouble` {
    @Test func `a broker that dies and comes back is found again, and subscriptions with it`() async throws {
        let broker = try await Mosquitto()
        try await withClient(.test(broker.port)) { client, log in
            client.subscribe([MQTTSubscription(try TopicFilter("in"))])
            try await log.subscription()
            try await broker.kill()
            _ = try await log.disconnection { if case .unreachable(_, _, ECONNREFUSED) = $0 { true } else { false } }
            try await broker.start()
            try await log.connection(2)
            try await log.subscription(2)
            try await broker.publish("in", Array("after".utf8))
            #expect(try await log.message("in").payload == Array("after".utf8))
        }
    }

    @Test func `nothing from before a loss is sent after it`() async throws {
        let broker = try await Mosquitto()
        try await withClient(.test(broker.port)) { client, log in
            try await log.connection()
            broker.suspend()
            // Retained, so that the restarted broker would keep the witness.
            try client.send(.test("stale/sent", "1", retain: true))
            await #expect(throws: MQTTPublishError.timedOut) {
                try await client.publish(.test("stale/timed-out", "1", retain: true), within: .milliseconds(50))
            }
            let awaited = try MQTTMessage.test("stale/awaited", "1", retain: true)
            let publisher = Task { try await client.publish(awaited, within: .seconds(600)) }
            try await Task.sleep(for: .milliseconds(50))
            try await broker.kill()
            #expect(await publisher.result.failure as? MQTTPublishError == .connectionLost)
            try await eventually("the lost message was told, but \(log.all)") {
                log.all.contains(.undelivered(try TopicName("stale/sent"), .connectionLost))
            }
            await #expect(throws: MQTTPublishError.offline) { try await client.publish(.test("stale/offline", "1", retain: true)) }
            #expect(throws: MQTTPublishError.offline) { try client.send(.test("stale/offline", "1", retain: true)) }

            try await broker.start()
            try await log.connection(2)
            try await client.publish(.test("fresh", "1", retain: true))
            let reader = try await broker.subscribe("#", format: "%t %r")
            try await client.publish(.test("end", "1"))
            try await reader.line("the end") { $0 == "end 0" }
            #expect(reader.lines.contains("fresh 1"))
            #expect(!reader.lines.contains { $0.hasPrefix("stale") })
        }
    }

    @Test func `messages that the broker does not take are bounded`() async throws {
        let broker = try await Mosquitto()
        try await withClient(
            .test(broker.port) {
                $0.outgoingLimit = 5; $0.farewellDeadline = .milliseconds(50)
            }
        ) { client, log in
            try await log.connection()
            broker.suspend()
            for _ in 0..<5 { try client.send(.test("out", "x")) }
            #expect(throws: MQTTPublishError.congested) { try client.send(.test("out", "x")) }
            broker.resume()
            let message = try MQTTMessage.test("out", "x")
            try await eventually("the broker took the backlog") { (try? client.send(message)) != nil }
        }
    }

    @Test(arguments: [MQTTConfiguration.VersionChoice.only(.v5), .only(.v311), .automatic])
    func `a wrong password is told, and tried again until it is right`(version: MQTTConfiguration.VersionChoice) async throws {
        let broker = try await Mosquitto(users: ["lamp": "right"])
        let wrong = MQTTConfiguration.Credentials(username: "lamp", password: "wrong")
        try await withClient(
            .test(broker.port) {
                $0.credentials = wrong; $0.version = version
            }
        ) { _, log in
            try await eventually("it was refused twice, but \(log.all)") {
                log.disconnections.count { [.notAuthorized, .badCredentials].contains($0.reason) } >= 2
            }
            #expect(log.connections == [])
            #expect(log.disconnections.allSatisfy { $0.retryAfter != nil })
        }
        try await withClient(.test(broker.port) { $0.credentials = .init(username: "lamp", password: "right") }) { client, log in
            try await log.connection()
            try await client.publish(.test("out", "x"))
        }
    }

    @Test func `another client of the same name is noticed though the broker only hangs up`() async throws {
        let broker = try await Mosquitto()
        try await withClient(.test(broker.port, "lamp-bridge")) { _, log in
            try await log.connection()
            // Comes back a second after it was thrown out.
            let rival = try await broker.subscribe("x", clientID: "lamp-bridge")
            _ = try await log.disconnection { $0 == .hungUpRepeatedly }
            rival.signal(SIGKILL)
        }
    }

    // Bytes of MQTT 5.0, 3.2.2 (CONNACK) and 3.14.2 (DISCONNECT).
    @Test(
        arguments: [
            ([0x20, 0x03, 0x00, 0x85, 0x00], .clientIDRejected),
            ([0x20, 0x03, 0x00, 0x86, 0x00], .badCredentials),
            ([0x20, 0x03, 0x00, 0x87, 0x00], .notAuthorized),
            ([0x20, 0x03, 0x00, 0x8a, 0x00], .refused(MQTTReasonCode(rawValue: 0x8a))),
            ([0x20, 0x03, 0x00, 0x00, 0x00, 0xe0, 0x02, 0x8e, 0x00], .clientIDTakenOver),
            ([0x20, 0x03, 0x00, 0x00, 0x00, 0xe0, 0x01, 0x8e], .clientIDTakenOver),
            ([0x20, 0x03, 0x00, 0x00, 0x00, 0xe0, 0x01, 0x8b], .ended(MQTTReasonCode(rawValue: 0x8b))),
        ] as [([UInt8], MQTTDisconnectReason)])
    func `what a broker says of MQTT 5 is understood`(answer: [UInt8], reason: MQTTDisconnectReason) async throws {
        let peer = try ScriptedPeer(answers: [answer], stays: true)
        try await withClient(.test(peer.port)) { _, log in
            let end = try await log.disconnection { _ in true }
            #expect(end.reason == reason)
        }
    }

    // Return codes of MQTT 3.1.1, 3.2.2.3.
    @Test(
        arguments: [
            (1, .versionRefused), (2, .clientIDRejected), (3, .refused(MQTTReasonCode(rawValue: 3))), (4, .badCredentials),
            (5, .notAuthorized),
        ] as [(UInt8, MQTTDisconnectReason)])
    func `what a broker says of MQTT 3_1_1 is understood`(code: UInt8, reason: MQTTDisconnectReason) async throws {
        let peer = try ScriptedPeer(answers: [[0x20, 0x02, 0x00, code]], stays: true)
        try await withClient(.test(peer.port) { $0.version = .only(.v311) }) { _, log in
            let end = try await log.disconnection { _ in true }
            #expect(end.reason == reason)
        }
    }

    @Test func `a broker that goes in good order says so`() async throws {
        let broker = try await Mosquitto()
        try await withClient(.test(broker.port)) { _, log in
            try await log.connection()
            try await broker.stop()
            try await eventually("an end was told, but \(log.all)") { !log.disconnections.isEmpty }
        }
    }

    @Test func `a host without an address is told`() async throws {
        try await withClient(.test(1) { $0.host = "no-such-host.invalid" }) { _, log in
            _ = try await log.disconnection { $0 == .hostNotFound(host: "no-such-host.invalid") }
        }
    }

    @Test func `a peer that never answers CONNECT is given up and tried again`() async throws {
        let (listener, port) = try listen(backlog: 8)
        defer { close(listener) }
        try await withClient(.test(port) { $0.connectDeadline = .milliseconds(50) }) { _, log in
            try await eventually("it gave up twice, but \(log.all)") { log.disconnections.count { $0.reason == .noAnswer } >= 2 }
        }
    }

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", "220 mail ESMTP\r\n",
        "\u{15}\u{03}\u{03}\u{00}\u{02}\u{02}\u{46}", "\0\0\0\0",
    ])
    func `a peer of another protocol is no broker, and tried again`(greeting: String) async throws {
        let peer = try ScriptedPeer(answers: [Array(greeting.utf8)], stays: false)
        try await withClient(.test(peer.port)) { _, log in
            try await eventually("it tried three times, but \(log.all)") { log.disconnections.count >= 3 }
            #expect(log.connections == [])
        }
    }

    // Only in 3.1.1: libmosquitto 2.0.11 aborts the process on an unknown property of MQTT 5 (`log__printf` asserts a handle it is not given).
    @Test func `a peer that sends rubbish does no harm`() async throws {
        var random = SplitMix(seed: 11)
        let rubbish = (0..<64).map { _ in (0..<random.next() % 64).map { _ in UInt8(truncatingIfNeeded: random.next()) } }
        let peer = try ScriptedPeer(answers: rubbish, stays: false)
        let quick = Backoff(initial: .milliseconds(1), maximum: .milliseconds(1))
        try await withClient(
            .test(peer.port) {
                $0.version = .only(.v311); $0.backoff = quick
            }
        ) { _, log in
            try await eventually("it tried again and again, but \(log.all)") { log.disconnections.count >= 64 }
            #expect(log.connections == [])
        }
    }

    @Test func `it stops while the broker is unreachable`() async throws {
        try await withClient(.test(freePort()) { $0.backoff = Backoff(initial: .seconds(600), maximum: .seconds(600)) }) { _, log in
            _ = try await log.disconnection { if case .unreachable(_, _, ECONNREFUSED) = $0 { true } else { false } }
        }
    }

    @Test func `it stops while the system still tries to connect`() async throws {
        // A full queue makes the kernel ignore further connections, as a host behind a firewall does.
        let (listener, port) = try listen(backlog: 0)
        defer { close(listener) }
        let fillers = try (0..<4).map { _ in try connectTCP(port, nonBlocking: true) }
        defer { fillers.forEach { close($0) } }
        try await withClient(.test(port)) { _, log in
            try await Task.sleep(for: .milliseconds(100))
            #expect(log.all == [])
        }
    }

    @Test func `it stops while the broker is deaf`() async throws {
        let broker = try await Mosquitto()
        try await withClient(
            .test(broker.port) {
                $0.farewell = try .test("bye", "x"); $0.farewellDeadline = .milliseconds(50)
            }
        ) { _, log in
            try await log.connection()
            broker.suspend()
        }
    }

    @Test func `cancelling its task makes it leave in good order`() async throws {
        let broker = try await Mosquitto()
        let reader = try await broker.subscribe("#")
        let client = MQTTClient(try .test(broker.port) { $0.farewell = try .test("bye", "x") })
        let run = Task { await client.run() }
        let events = client.events.makeAsyncIterator()
        while let event = await events.next() { if case .connected = event { break } }
        run.cancel()
        await run.value
        try await reader.line("the farewell") { $0 == "bye x" }
        #expect(await events.next() == .disconnected(MQTTDisconnection(reason: .requested, retryAfter: nil)))
        #expect(await events.next() == nil)
        await #expect(throws: MQTTPublishError.offline) { try await client.publish(.test("late", "x")) }
    }

    @Test func `a reader and a publisher that are cancelled are let go`() async throws {
        let broker = try await Mosquitto()
        try await withClient(.test(broker.port) { $0.farewellDeadline = .milliseconds(50) }) { client, log in
            try await log.connection()
            broker.suspend()
            let message = try MQTTMessage.test("out", "x")
            let publisher = Task { try await client.publish(message, within: .seconds(600)) }
            try await Task.sleep(for: .milliseconds(20))
            publisher.cancel()
            #expect(await publisher.result.failure as? MQTTPublishError == .cancelled)
        }
        let idle = try MQTTClient(.test(1))
        let reader = Task { for await _ in idle.events {} }
        reader.cancel()
        await reader.value
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
