import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// What the contract promises about messages, watched on a real broker while the real programs run.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ContractRuleTests {
    @Test func `events are not retained, expire, and say what they are; a slide's edges have quality 1, its steps 0`() async throws {
        let stage = try await Stage()
        let heard = try await stage.broker.subscribe("handkit/camera/#", format: "%t|%r|%q|%E|%C|%P|%p")
        for clip in ["slide_return.avi", "lost_while_pinched.avi"] {
            #expect(try await stage.play(clip).wait(within: .seconds(120)) == .exited(0))
        }
        let messages = heard.lines.map { $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init) }
        let toggles = messages.filter { $0[0] == "handkit/camera/desk/toggle" }
        let slides = messages.filter { $0[0] == "handkit/camera/desk/brightness" }
        #expect(toggles.count == 1)
        for message in toggles { #expect(message[2] == "1") }
        for message in slides { #expect(message[2] == (message[6].contains(#""phase":"changed""#) ? "0" : "1")) }
        #expect(slides.contains { $0[2] == "0" } && slides.contains { $0[2] == "1" })
        for message in toggles + slides {
            let leaf = message[0].split(separator: "/").last ?? ""
            #expect(message[1] == "0")
            #expect(["1", "2", "3"].contains(message[3]))
            #expect(message[4] == "application/json")
            #expect(message[5] == "schema:handkit/camera/\(leaf) version:1")
        }
    }

    @Test func `after everything has gone only states are retained, and they are true`() async throws {
        let stage = try await Stage()
        #expect(try await stage.play("pinch_hold_release_pinch.avi").wait(within: .seconds(120)) == .exited(0))
        stage.bridge.signal(SIGTERM)
        #expect(try await stage.bridge.wait() == .exited(0))
        let kept = try await stage.broker.subscribe("handkit/#", format: "%t %p")
        try await stage.broker.publish("handkit/end", Array("x".utf8))
        try await kept.line("the end") { $0 == "handkit/end x" }
        let topics = kept.lines.dropLast().map { String($0.prefix { $0 != " " }) }
        #expect(
            Set(topics) == [
                "handkit/camera/desk/state", "handkit/camera/desk/availability", "handkit/camera/desk/enabled",
                "handkit/camera/desk/fingers", "handkit/camera/desk/armed", "handkit/camera/desk/target", "handkit/lamp/bulb/state",
                "handkit/lamp/bulb/availability", "handkit/bridge/bridge/availability", "handkit/bridge/bridge/state",
                "handkit/camera/desk/instance", "handkit/bridge/bridge/instance",
            ])
        for topic in ["camera/desk", "lamp/bulb", "bridge/bridge"] {
            #expect(kept.lines.contains("handkit/\(topic)/availability offline"))
        }
        #expect(kept.lines.contains { $0.hasPrefix("handkit/camera/desk/state ") && $0.contains(#""hand":false"#) })
    }

    @Test func `commands that make no sense, or are retained, are left alone and said once for each reason`() async throws {
        let stage = try await Stage()
        let recognizer = try stage.play("empty_room.avi", "--loop")
        let heard = try await stage.listen()
        try await heard.line("that the camera is online", within: .seconds(60)) { $0 == "handkit/camera/desk/availability online" }
        for _ in 1...3 {
            try await stage.broker.publish("handkit/camera/desk/enabled/set", Array("perhaps".utf8))
            try await stage.broker.publish("handkit/camera/desk/enabled/set", Array("OFF".utf8), options: ["-r"])
        }
        try await stage.broker.publish("handkit/camera/desk/enabled/set", Array("OFF".utf8))
        try await heard.line("that the camera is switched off") { $0 == "handkit/camera/desk/enabled OFF" }
        #expect(recognizer.errorLines.count { $0.contains("neither ON nor OFF") } == 1)
        #expect(recognizer.errorLines.count { $0.contains("commands must not be retained") } == 1)
        #expect(recognizer.errorLines.count { $0.contains("recognition switched") } == 1)
    }

    @Test func `programs that are killed are declared offline by their wills`() async throws {
        let stage = try await Stage()
        let recognizer = try stage.play("empty_room.avi", "--loop")
        let heard = try await stage.listen()
        try await heard.line("that the camera is online", within: .seconds(60)) { $0 == "handkit/camera/desk/availability online" }
        recognizer.signal(SIGKILL)
        stage.bridge.signal(SIGKILL)
        try await heard.line("that the camera is offline") { $0 == "handkit/camera/desk/availability offline" }
        try await heard.line("that the bridge is offline") { $0 == "handkit/bridge/bridge/availability offline" }
    }

    @Test func `the state is published four times a second at most`() async throws {
        let stage = try await Stage()
        let heard = try await stage.broker.subscribe("handkit/camera/desk/state", format: "%U %p")
        #expect(try await stage.play("slide_return.avi").wait(within: .seconds(120)) == .exited(0))
        let times = heard.lines.compactMap { Double($0.prefix { $0 != " " }) }
        // Any five follow each other over almost a second; a loaded machine delivers some late and the next in time.
        #expect(times.count > 5)
        let duration = (times.last ?? 0) - (times.first ?? 0)
        #expect(Double(times.count) <= duration * 4 + 2)
        let last = try #require(heard.lines.last)
        #expect(last.contains(#""hand":false"#))
    }

    @Test func `bad payloads, odd topics and big messages change nothing and harm nobody`() async throws {
        let stage = try await Stage()
        let recognizer = try stage.play("empty_room.avi", "--loop")
        try await recognizer.line("that the camera is open", within: .seconds(60)) { $0.contains("camera opened") }
        for (number, message) in Self.nonsense.enumerated() {
            try await stage.broker.publish(message.topic, message.payload)
            try await prove(stage, recognizer, level: number + 5, after: message.topic)
        }
        // Whoever said something wrong can read it in the log, once.
        let complaints = stage.bridge.errorLines.filter { $0.contains("bad payload ignored") && $0.contains("lamp/bulb/set") }
        #expect(complaints.count == 1)
    }

    private static let nonsense: [(topic: String, payload: [UInt8])] =
        [
            ("handkit/lamp/bulb/set", "rubbish"), ("handkit/lamp/bulb/set", #"{"state":"ON","brightness":101}"#),
            ("handkit/lamp/bulb/set", #"{"state":true}"#), ("handkit/lamp/bulb/set", "[]"), ("handkit/lamp/bulb/set", "\u{0}"),
            ("handkit/camera/desk/toggle", #"{"event_type":"press"}"#), ("handkit/camera/desk/brightness", #"{"value":"x"}"#),
            ("handkit/camera/desk/enabled/set", "perhaps"), ("handkit/camera/desk/armed/set", "{}"),
            ("handkit/camera/desk/target", "rubbish"), ("homeassistant/status", "rubbish"),
            ("homeassistant/device/handkit_lamp_bulb/config", "rubbish"), ("handkit/bridge/request/identify", "rubbish"),
            ("handkit/lamp/Bülb/set", #"{"state":"ON"}"#), ("handkit/lamp/bulb/set/", #"{"state":"ON"}"#),
            ("handkit/lamp//set", #"{"state":"ON"}"#), ("handkit/camera/../toggle", "{}"), ("handkit/lamp/ bulb/set", #"{"state":"ON"}"#),
        ].map { ($0.0, Array($0.1.utf8)) }
        + [
            "handkit/lamp/bulb/set", "handkit/camera/desk/toggle", "handkit/camera/desk/brightness", "handkit/camera/desk/enabled/set",
            "handkit/camera/desk/target", "handkit/bridge/request/lamps", "homeassistant/status", "homeassistant/device/x/config",
        ].map { ($0, [UInt8](repeating: UInt8(ascii: "{"), count: 3 << 20)) }

    /// Both programs still do what they are asked, and the lamp was told nothing else.
    private func prove(_ stage: Stage, _ recognizer: ChildProcess, level: Int, after topic: String) async throws {
        let before = stage.lamp.writes.count
        let heard = try await stage.listen()
        try await stage.broker.publish("handkit/lamp/bulb/set", Array(#"{"state":"ON","brightness":\#(level)}"#.utf8))
        try await eventually("the lamp is at \(level) after \(topic)") { stage.lamp.writes.last?.brightness == level }
        #expect(stage.lamp.writes.count == before + 1, "\(topic)")
        for wanted in ["OFF", "ON"] {
            let count = heard.lines.count { $0 == "handkit/camera/desk/enabled \(wanted)" }
            try await stage.broker.publish("handkit/camera/desk/enabled/set", Array(wanted.utf8))
            try await eventually("the camera is switched \(wanted) after \(topic)") {
                heard.lines.count { $0 == "handkit/camera/desk/enabled \(wanted)" } > count
            }
        }
        #expect(recognizer.ending == nil, "\(topic)")
        #expect(stage.bridge.ending == nil, "\(topic)")
    }

    @Test func `a wrong password is said once, with what to do, and never in words`() async throws {
        let broker = try await Mosquitto(users: ["handkit": "right"])
        let bridge = try ChildProcess(
            Paths.program("handkit-bridge"), ["run", "--log-format", "text"],
            environment: [
                "HANDKIT_MQTT_HOST": "127.0.0.1", "HANDKIT_MQTT_PORT": "\(broker.port)", "HANDKIT_MQTT_USERNAME": "handkit",
                "HANDKIT_MQTT_PASSWORD": "wrong-secret", "HANDKIT_BRIDGE_STATE": "/nonexistent/handkit",
            ])
        try await bridge.line("that it is not let in") { $0.contains("mqtt.password_file") }
        bridge.signal(SIGTERM)
        #expect(try await bridge.wait() == .exited(0))
        #expect(bridge.errorLines.count { $0.contains("mqtt.password_file") } == 1)
        #expect(!bridge.errorLines.contains { $0.contains("wrong-secret") })
    }

    @Test func `a Home Assistant that starts is told everything again, by both programs`() async throws {
        let stage = try await Stage()
        let recognizer = try stage.play("empty_room.avi", "--loop")
        try await recognizer.line("that the camera is open", within: .seconds(60)) { $0.contains("camera opened") }
        let heard = try await stage.broker.subscribe("#", format: "%t %r")
        let expected = [
            "homeassistant/device/handkit_camera_desk/config", "homeassistant/device/handkit_bridge_bridge/config",
            "homeassistant/device/handkit_lamp_bulb/config", "handkit/camera/desk/availability", "handkit/camera/desk/state",
            "handkit/lamp/bulb/state", "handkit/lamp/bulb/availability", "handkit/bridge/bridge/state",
        ]
        try await eventually("all of it is retained") {
            expected.allSatisfy { heard.lines.contains("\($0) 1") || heard.lines.contains("\($0) 0") }
        }
        let count = heard.lines.count
        try await stage.broker.publish("homeassistant/status", Array("online".utf8))
        try await eventually("all of it came again, but \(heard.lines.dropFirst(count))") {
            expected.allSatisfy(heard.lines.dropFirst(count).map { String($0.prefix { $0 != " " }) }.contains)
        }
        #expect(!heard.lines.dropFirst(count).contains { $0.hasPrefix("handkit/camera/desk/toggle") })
    }

    @Test func `a broker with a certificate for another host is refused, and the log says so`() async throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let made = try ChildProcess(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=elsewhere",
                "-addext", "subjectAltName=DNS:elsewhere.example", "-keyout", "\(folder)/key.pem", "-out", "\(folder)/cert.pem",
            ])
        #expect(try await made.wait() == .exited(0))
        let broker = try await Mosquitto(settings: ["certfile \(folder)/cert.pem", "keyfile \(folder)/key.pem"])
        let bridge = try ChildProcess(
            Paths.program("handkit-bridge"), ["run", "--log-format", "text"],
            environment: [
                "HANDKIT_MQTT_HOST": "localhost", "HANDKIT_MQTT_PORT": "\(broker.port)", "HANDKIT_MQTT_TLS_ENABLED": "true",
                "HANDKIT_MQTT_TLS_CA_FILE": "\(folder)/cert.pem", "HANDKIT_BRIDGE_STATE": "/nonexistent/handkit",
            ])
        try await bridge.line("that TLS failed") { $0.contains("TLS failed") && $0.contains("host name") }
        #expect(!bridge.errorLines.contains { $0.contains("connected to the broker") })
        bridge.signal(SIGTERM)
        #expect(try await bridge.wait() == .exited(0))
    }

    @Test func `two programs with one client id say so`() async throws {
        let broker = try await Mosquitto()
        let rivals = try (0..<2).map { number in
            try ChildProcess(
                Paths.program("handkit-bridge"), ["run", "--log-format", "text"],
                environment: [
                    "HANDKIT_MQTT_HOST": "127.0.0.1", "HANDKIT_MQTT_PORT": "\(broker.port)", "HANDKIT_MQTT_CLIENT_ID": "same",
                    "HANDKIT_BRIDGE_ID": "rival\(number)", "HANDKIT_BRIDGE_STATE": "/nonexistent/handkit",
                ])
        }
        try await eventually("one of them suspects it", within: .seconds(60)) {
            rivals.contains { $0.errorLines.contains { $0.contains("mqtt.client_id") } }
        }
    }
}
