import Foundation
import Glibc
import TestSupport
import Testing

/// The built service between a real Mosquitto and a real lamp.
@Suite(.serialized) struct ServiceTests {
    @Test func `a toggle inverts the lamp, and the lamp's state and the camera's target follow`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        let bridge = try await house.run(with: lamp)
        let heard = try await house.listen()
        try await house.toggle("a-1")
        let next = try await heard.message(#"handkit/lamp/desk/state {"brightness":40,"state":"ON"}"#)
        try await heard.message(#"handkit/camera/desk-cam/target {"brightness":40,"on":true}"#)
        try await house.toggle("a-2")
        try await heard.message(#"handkit/lamp/desk/state {"brightness":40,"state":"OFF"}"#, after: next)
        #expect(lamp.writes.map(\.on) == [true, false])
        try await bridge.line("the toggle") { $0.contains("toggle from=camera/desk-cam lamp=desk state=on level=40%") }
    }

    @Test func `retained, repeated, late and broken toggles switch nothing`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        try await house.toggle("a-0", options: ["-r"])
        let bridge = try await house.run(with: lamp)
        try await house.toggle("a-1")
        try await house.toggle("a-1")
        try await house.toggle("a-2", age: 60)
        try await house.broker.publish("handkit/camera/desk-cam/toggle", Array("rubbish".utf8))
        let heard = try await house.listen()
        try await eventually(
            "all were counted, but \(heard.lines) \(heard.errorLines) \(String(describing: heard.ending)) \(bridge.errorLines)"
        ) {
            heard.lines.contains {
                $0.contains(#""accepted":1"#) && $0.contains(#""rejected":{"duplicate":1,"malformed":1,"retained":1,"stale":1}"#)
            }
        }
        #expect(lamp.writes.map(\.on) == [true])
        #expect(bridge.errorLines.filter { $0.contains("bad payload ignored") }.count == 1)
    }

    @Test func `over MQTT 3.1.1 a camera with a clock five hours wrong loses nothing, and its late toggles are dropped`() async throws {
        let (house, lamp) = (try await House(version: "3.1.1"), try await HAPLamp.start())
        let bridge = try await house.run(with: lamp)
        try await bridge.line("the older version") { $0.contains("mqtt=3.1.1") }
        let wrong = 5 * 3600.0
        for (id, age) in [("a-1", wrong), ("a-2", wrong), ("a-3", wrong + 20), ("a-4", wrong)] { try await house.toggle(id, age: age) }
        try await bridge.line("the late one") { $0.contains("too late, ignored") && $0.contains("id=a-3") }
        try await eventually("the others were done") { lamp.writes.count == 3 }
        #expect(lamp.writes.map(\.on) == [true, false, true])
    }

    @Test func `a slide of a hundred steps ends at its last value with few writes`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        let bridge = try await house.run(with: lamp)
        let heard = try await house.listen()
        try await house.slide(through: (1...100).map { Double($0) * 0.61 }, boot: "b")
        try await heard.message(#"handkit/lamp/desk/state {"brightness":61,"state":"ON"}"#)
        #expect(lamp.writes.last?.brightness == 61)
        #expect(lamp.writes.count < 50)
        #expect(lamp.writes.first?.on == true)
        #expect(lamp.writes.dropFirst().allSatisfy { $0.on == nil })
        #expect(bridge.ending == nil)
    }

    @Test func `commands of Home Assistant go to the lamp`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        let bridge = try await house.run(with: lamp)
        let heard = try await house.listen()
        try await house.broker.publish("handkit/lamp/desk/set", Array(#"{"state":"ON","brightness":12}"#.utf8))
        try await heard.message(#"handkit/lamp/desk/state {"brightness":12,"state":"ON"}"#)
        try await house.broker.publish("handkit/lamp/desk/set", Array(#"{"state":"OFF"}"#.utf8))
        try await heard.message(#"handkit/lamp/desk/state {"brightness":12,"state":"OFF"}"#)
        #expect(bridge.ending == nil)
    }

    @Test func `a hand on the lamp shows in state and target`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        let bridge = try await house.run(with: lamp)
        let heard = try await house.listen()
        lamp.toggle()
        try await heard.message(#"handkit/lamp/desk/state {"brightness":40,"state":"ON"}"#)
        try await heard.message(#"handkit/camera/desk-cam/target {"brightness":40,"on":true}"#)
        #expect(bridge.ending == nil)
    }

    @Test func `a lamp that restarts is offline, and online again by itself`() async throws {
        let house = try await House()
        let lamp = try await HAPLamp.start(folder: house.folder)
        let bridge = try await house.run(with: lamp)
        let heard = try await house.listen()
        try await lamp.stop()
        let next = try await heard.message("handkit/lamp/desk/availability offline")
        let again = try await HAPLamp.start(port: lamp.port, folder: house.folder)
        let online = try await heard.message("handkit/lamp/desk/availability online", after: next)
        try await house.toggle("a-1")
        try await heard.message(#"handkit/lamp/desk/state {"brightness":40,"state":"ON"}"#, after: online)
        #expect(again.writes.map(\.on) == [true])
        #expect(bridge.ending == nil)
    }

    @Test func `a lamp that hangs is noticed, and a toggle from meanwhile is not done when it is back`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        let bridge = try await house.run(with: lamp)
        let heard = try await house.listen()
        lamp.freeze(true)
        try await house.toggle("a-1")
        try await bridge.line("the dropped toggle") { $0.contains("command dropped") && $0.contains("too late") }
        let next = try await heard.message("handkit/lamp/desk/availability offline")
        lamp.freeze(false)
        let online = try await heard.message("handkit/lamp/desk/availability online", after: next)
        try await house.toggle("a-2")
        try await heard.message(#"handkit/lamp/desk/state {"brightness":40,"state":"ON"}"#, after: online)
        #expect(lamp.writes.map(\.on) == [true])
    }

    @Test func `a lamp that forgot the pairing is reported as such, and the pairing is kept`() async throws {
        let house = try await House()
        let lamp = try await HAPLamp.start(folder: house.folder)
        let bridge = try await house.run(with: lamp)
        let heard = try await house.listen()
        try await lamp.stop()
        // The same keys, but no controllers: what a lamp is after its pairings were removed from elsewhere.
        try Self.forgetControllers(in: "\(house.folder)/lamp.json")
        let bare = try await HAPLamp.start(port: lamp.port, folder: house.folder)
        try await eventually("it was reported") {
            heard.lines.contains { $0.contains(#""status":"pairing_lost""#) }
        }
        try await bridge.line("what to do") { $0.contains("does not know this pairing any more") && $0.contains("--replace") }
        #expect(try await house.command("lamps").output.contains("does not know this pairing any more"))
        #expect(bare.writes.isEmpty)
    }

    @Test func `after a broker restart everything is published anew and works`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        let bridge = try await house.run(with: lamp)
        try await house.broker.kill()
        try await bridge.line("that the broker is gone") { $0.contains("no connection to the broker") }
        try await house.broker.start()
        let heard = try await house.listen()
        for message in [
            "handkit/bridge/house/availability online", "handkit/lamp/desk/availability online",
            #"handkit/lamp/desk/state {"brightness":40,"state":"OFF"}"#, #"handkit/camera/desk-cam/target {"brightness":40,"on":false}"#,
        ] {
            try await heard.message(message)
        }
        try await house.toggle("a-1")
        try await heard.message(#"handkit/lamp/desk/state {"brightness":40,"state":"ON"}"#)
    }

    @Test func `without a broker at the start it says so once and goes on trying`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        try await house.broker.stop()
        let bridge = try await house.run(with: lamp)
        try await bridge.line("that there is no broker") { $0.contains("no connection to the broker") }
        try await house.broker.start()
        try await bridge.line("that there is one") { $0.contains("connected to the broker") }
        #expect(bridge.errorLines.filter { $0.contains("no connection to the broker") }.count == 1)
        let heard = try await house.listen()
        try await heard.message("handkit/lamp/desk/availability online")
    }

    @Test func `a toggle that is published as retained is not done, and said once`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        let bridge = try await house.run(with: lamp)
        let heard = try await house.listen()
        for number in 1...3 { try await house.toggle("r-\(number)", options: ["-r"]) }
        try await house.toggle("a-1")
        try await heard.message(#"handkit/lamp/desk/state {"brightness":40,"state":"ON"}"#)
        try await eventually("the lamp told of it") { !lamp.writes.isEmpty }
        #expect(lamp.writes.map(\.on) == [true])
        #expect(bridge.errorLines.count { $0.contains("retained message ignored") } == 1)
    }

    @Test func `on SIGTERM lamp and bridge are said to be offline and it ends well`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        let bridge = try await house.run(with: lamp)
        let heard = try await house.listen()
        bridge.signal(SIGTERM)
        #expect(try await bridge.wait() == .exited(0))
        let lampIsOffline = try await heard.message("handkit/lamp/desk/availability offline")
        let bridgeIsOffline = try await heard.message("handkit/bridge/house/availability offline")
        #expect(lampIsOffline < bridgeIsOffline)
    }

    @Test func `a lamp paired while the bridge runs is driven without a restart`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        try Paths.write(
            """
            mqtt: { port: \(house.broker.port) }
            bridge: { state: \(house.folder)/state }
            lamps: { desk: {} }
            """, to: "\(house.folder)/handkit.yaml")
        let bridge = try house.start(["run"])
        try await bridge.line("that it is not paired") { $0.contains("it is not paired") }
        try await house.pair(lamp)
        try await bridge.line("that the lamp is connected") { $0.contains("lamp connected") }
    }

    private static func forgetControllers(in file: String) throws {
        let url = URL(filePath: file)
        var state = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
        for key in ["paired_clients", "client_properties", "client_uuid_to_bytes"] { state[key] = [String: String]() }
        try JSONSerialization.data(withJSONObject: state).write(to: url)
    }
}
