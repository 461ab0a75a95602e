import Contract
import TestSupport
import Testing

/// Every topic of the contract, for one camera, lamp and bridge.
private func allTopics() throws -> [String] {
    let topics = try Topics()
    let (camera, lamp, bridge) = (try Identifier("desk"), try Identifier("ceiling"), try Identifier("house"))
    var all = Topics.CameraLeaf.allCases.map { topics.camera(camera, $0) }
    all += Topics.LampLeaf.allCases.map { topics.lamp(lamp, $0) }
    all += Topics.BridgeLeaf.allCases.map { topics.bridge(bridge, $0) }
    for request in Topics.Request.allCases { all += [topics.request(request), topics.response(to: request)] }
    all += Topics.CameraRequest.allCases.map { topics.cameraRequest($0) }
    return all + ["homeassistant/status", "homeassistant/device/handkit_desk/config", "homeassistant/light/other/config", "other/set"]
}

private func camera(_ leaves: String...) -> [String] { leaves.map { "handkit/camera/desk/\($0)" } }
private func lamp(_ leaves: String...) -> [String] { leaves.map { "handkit/lamp/ceiling/\($0)" } }
private func bridge(_ leaves: String...) -> [String] { leaves.map { "handkit/bridge/house/\($0)" } }
private let requests = Topics.Request.allCases.map { "handkit/bridge/request/\($0.rawValue)" }
private let refresh = "handkit/camera/request/refresh"
private let responses = Topics.Request.allCases.map { "handkit/bridge/response/\($0.rawValue)" }
private let announcement = "homeassistant/device/handkit_desk/config"
private let homeAssistant = [announcement, "homeassistant/status", "homeassistant/light/other/config"]

/// Who may do what: the rules of `deploy/broker/handkit.acl`, said once more by their outcome.
private let mayWrite: [String: [String]] = [
    "recognizer": camera("toggle", "brightness", "state", "availability", "fingers", "enabled", "armed", "profile", "crash", "instance") + [
        announcement
    ],
    "bridge": camera("target") + lamp("state", "availability") + bridge("state", "availability", "crash", "instance") + responses + [
        announcement
    ],
    "homeassistant": camera("enabled/set", "armed/set", "profile/set") + lamp("set") + requests + homeAssistant + [refresh],
    "health": [],
]
private let mayRead: [String: [String]] = [
    "recognizer": camera("target", "enabled/set", "armed/set", "profile/set", "availability", "instance") + [
        announcement, "homeassistant/status", refresh,
    ],
    "bridge": camera("toggle", "brightness", "availability") + lamp("set") + bridge("availability", "instance") + requests + [
        announcement, "homeassistant/status",
    ],
    "health": [],
]

struct `accounts of the shipped broker` {
    private let end = "end/of/test"
    private let uptime = "$SYS/broker/uptime"

    @Test(arguments: ShippedBroker.accounts) func `an account says only what is its part`(account: String) async throws {
        let broker = try await ShippedBroker()
        let observer = try await broker.subscribe(["#"], as: ShippedBroker.observer)
        for topic in try allTopics() { try await broker.publish(topic, "forged?", as: account) }
        try await broker.publish(end, "", as: ShippedBroker.observer)
        try await observer.line("the end") { $0 == end }
        #expect(Set(observer.lines.dropLast()) == Set(mayWrite[account] ?? []))
    }

    @Test(arguments: ShippedBroker.accounts) func `an account hears only what is its part`(account: String) async throws {
        let broker = try await ShippedBroker()
        let topics = try allTopics()
        let allowed = mayRead[account] ?? topics.filter { $0.hasPrefix("handkit/") || $0.hasPrefix("homeassistant/") }
        let reader = try await broker.subscribe(["#", uptime], as: account)
        for topic in topics { try await broker.publish(topic, "secret?", as: ShippedBroker.observer) }
        // What the reader does not get cannot be waited for, but what comes after it can.
        let last = allowed.first ?? uptime
        let count = reader.lines.count { $0 == last }
        if last != uptime { try await broker.publish(last, "last", as: ShippedBroker.observer) }
        try await eventually("\(account) heard of \(last) again") { reader.lines.count { $0 == last } > max(count, last == uptime ? 0 : 1) }
        #expect(Set(reader.lines).subtracting([uptime]) == Set(allowed))
    }

    @Test func `a stranger is refused with every kind of wrong credentials`() async throws {
        let broker = try await ShippedBroker()
        let observer = try await broker.subscribe(["#"], as: ShippedBroker.observer)
        for credentials in [[], ["-u", "recognizer"], ["-u", "recognizer", "-P", "guess"], ["-u", "nobody", "-P", "guess"]] {
            let connection = ["-h", "127.0.0.1", "-p", "\(broker.port)", "-V", "mqttv5", "-t", "handkit/lamp/ceiling/set"]
            let publisher = try ChildProcess("mosquitto_pub", connection + ["-q", "1", "-m", "x"] + credentials)
            let subscriber = try ChildProcess("mosquitto_sub", connection + credentials)
            for client in [publisher, subscriber] {
                #expect(try await client.wait() != .exited(0))
                #expect(client.errorLines.contains { $0.lowercased().contains("not authorized") }, "\(client.errorLines)")
            }
        }
        try await broker.publish(end, "", as: ShippedBroker.observer)
        try await observer.line("the end") { $0 == end }
        #expect(observer.lines == [end])
    }

    @Test func `with TLS an account enters through the broker's certificate, and not in the clear`() async throws {
        let broker = try await ShippedBroker(encrypted: true)
        let observer = try await broker.subscribe(["#"], as: ShippedBroker.observer)
        let topic = "handkit/camera/desk/toggle"
        func publish(_ payload: String, _ options: [String]) async throws -> ChildProcess.Ending {
            try await ChildProcess(
                "mosquitto_pub",
                ["-h", "localhost", "-p", "\(broker.securePort)", "-q", "1", "-t", topic, "-m", payload]
                    + ShippedBroker.credentials("recognizer") + options
            ).wait()
        }
        #expect(try await publish("in the clear", []) != .exited(0))
        #expect(try await publish("any authority", ["--capath", "/etc/ssl/certs"]) != .exited(0))
        #expect(try await publish("trusted", ["--cafile", "\(broker.folder)/tls/ca.pem"]) == .exited(0))
        try await observer.line("the event") { $0 == topic }
        #expect(observer.lines == [topic])
    }
}
