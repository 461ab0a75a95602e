import Glibc
import TestSupport
import Testing

/// The built service with lamps that move, forget and share a pairing, as people met them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FollowingTests {
    private func on(_ house: House, _ heard: ChildProcess, _ id: String, state: String) async throws {
        let count = heard.lines.count
        try await house.toggle(id)
        try await heard.message(#"handkit/lamp/desk/state {"brightness":40,"state":"\#(state)"}"#, after: count)
    }

    @Test func `a lamp that rebooted with another port comes back by itself`() async throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let house = try await House()
        let first = try await HandKitLamp.start(folder: folder, isAnnounced: true)
        let bridge = try await house.run(with: first)
        let heard = try await house.listen()
        try await on(house, heard, "a-1", state: "ON")
        _ = try await first.stop()
        try await bridge.line("that the lamp is gone") { $0.contains("lamp is gone") }
        let second = try await HandKitLamp.start(quirks: ["new-port"], folder: folder, isAnnounced: true)
        try #require(second.port != first.port)
        try await eventually("it is connected again") { bridge.errorLines.count { $0.contains("lamp connected") } == 2 }
        try await house.toggle("a-2")
        try await eventually("it was switched") { second.events.contains { $0.event == "set" } }
        #expect(try await house.command("lamps").output.contains("127.0.0.1:\(second.port)"), "the new place is kept")
    }

    @Test func `a lamp that announces other lamps' addresses, 0.0.0.0 and one of its own idea is found at the right one`() async throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let (house, stranger) = (try await House(), try await HandKitLamp.start())
        let first = try await HandKitLamp.start(folder: folder, isAnnounced: true)
        let bridge = try await house.run(with: first)
        _ = try await first.stop()
        try await bridge.line("that the lamp is gone") { $0.contains("lamp is gone") }
        let second = try await HandKitLamp.start(quirks: ["new-port", "announces=0.0.0.0"], folder: folder, isAnnounced: true)
        try await eventually("it is connected again") { bridge.errorLines.count { $0.contains("lamp connected") } == 2 }
        #expect(second.events.first?.paired == true)
        _ = stranger
    }

    @Test func `a lamp that answers 470 is verified anew at once, and no toggle is lost or done twice`() async throws {
        let house = try await House()
        // Verification, database, subscription and the first read are requests too.
        let lamp = try await HandKitLamp.start(quirks: ["bare-470=6"])
        let bridge = try await house.run(with: lamp)
        for number in 1...6 {
            try await house.toggle("a-\(number)")
            try await eventually("toggle \(number) was done: \(bridge.errorLines.suffix(4))") {
                lamp.events.count { $0.event == "set" } == number
            }
        }
        #expect(lamp.events.filter { $0.event == "set" }.map(\.on) == [true, false, true, false, true, false])
    }

    @Test func `a lamp that says it is unpaired while it is paired keeps its pairing`() async throws {
        let (house, lamp) = (try await House(), try await HandKitLamp.start(quirks: ["unpaired-flag"], isAnnounced: true))
        let bridge = try await house.run(with: lamp)
        try await house.toggle("a-1")
        try await eventually("it was switched") { lamp.events.contains { $0.event == "set" && $0.on == true } }
        #expect(!bridge.errorLines.contains { $0.contains("pair") })
        #expect(try await house.command("get", "desk").output == "on 40%\n")
    }

    @Test func `a lamp with other instance numbers after an update is switched and dimmed as before`() async throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let house = try await House()
        let first = try await HandKitLamp.start(quirks: ["new-instances"], folder: folder, isAnnounced: true)
        let bridge = try await house.run(with: first)
        _ = try await first.stop()
        let second = try await HandKitLamp.start(quirks: ["new-instances", "new-port"], folder: folder, isAnnounced: true)
        try await eventually("it is connected again: \(bridge.errorLines)") {
            bridge.errorLines.count { $0.contains("lamp connected") } == 2
        }
        try await house.toggle("a-1")
        try await eventually("it was switched") { second.events.contains { $0.event == "set" && $0.on == true } }
    }

    @Test func `two lamps of a gateway share one session, and each is told of its own`() async throws {
        let configuration = """
            lamps: { first: { pairing: desk, bulb: 2 }, second: { pairing: desk, bulb: "3" }, lost: { pairing: desk, bulb: attic } }
            routes: [{ camera: desk-cam, lamps: [second] }]
            """
        let house = try await House(configuration: configuration)
        // A session more would be refused.
        let lamp = try await HandKitLamp.start(quirks: ["sessions=1"], options: ["--lamps", "3"])
        try await house.pair(lamp)
        let bridge = try house.start(["run", "--log-format", "text"])
        for name in ["first", "second"] { try await bridge.line(name) { $0.contains("lamp connected") && $0.contains("lamp=\(name)") } }
        try await bridge.line("the one that is not there") { $0.contains("lamp=lost") && $0.contains("no light bulb") }
        let heard = try await house.listen()
        try await house.toggle("a-1")
        try await heard.message(#"handkit/lamp/second/state {"brightness":40,"state":"ON"}"#)
        #expect(!heard.lines.contains(#"handkit/lamp/first/state {"brightness":40,"state":"ON"}"#))
        try await house.broker.publish("handkit/lamp/first/set", Array(#"{"state":"ON","brightness":9}"#.utf8))
        try await heard.message(#"handkit/lamp/first/state {"brightness":9,"state":"ON"}"#)
    }

    @Test func `the lamps of a group switch together, whatever each was before`() async throws {
        let configuration = """
            lamps: { first: { pairing: desk, bulb: 2 }, second: { pairing: desk, bulb: 3 } }
            groups: { room: { lamps: [first, second] } }
            routes: [{ camera: desk-cam, lamps: [room] }]
            """
        let house = try await House(configuration: configuration)
        let lamp = try await HandKitLamp.start(options: ["--lamps", "2"])
        try await house.pair(lamp)
        #expect(try await house.command("set", "second", "on").output == "on 40%\n")
        let bridge = try house.start(["run", "--log-format", "text"])
        for name in ["first", "second"] { try await bridge.line(name) { $0.contains("lamp connected") && $0.contains("lamp=\(name)") } }
        let heard = try await house.listen()
        try await house.toggle("a-1")
        var next = try await heard.message(#"handkit/lamp/first/state {"brightness":40,"state":"ON"}"#)
        try await house.toggle("a-2")
        next = try await heard.message(#"handkit/lamp/first/state {"brightness":40,"state":"OFF"}"#, after: next)
        try await heard.message(#"handkit/lamp/second/state {"brightness":40,"state":"OFF"}"#, after: next - 1)
    }

    @Test func `a lamp that forgets brightness while off is dimmed where writes are split`() async throws {
        let configuration = "lamps: { desk: { split: true } }"
        let house = try await House(configuration: configuration)
        let lamp = try await HandKitLamp.start(quirks: ["brightness-needs-on", "jump-back=50"])
        _ = try await house.run(with: lamp)
        #expect(try await house.command("set", "desk", "30").output == "on 30%\n")
        #expect(try await house.command("get", "desk").output == "on 30%\n")
    }

    @Test func `a lamp that takes no brightness while it is off is switched on and then dimmed, without a setting`() async throws {
        let house = try await House()
        let lamp = try await HandKitLamp.start(quirks: ["brightness-needs-on=alone"])
        _ = try await house.run(with: lamp)
        #expect(try await house.command("set", "desk", "30").output == "on 30%\n")
        #expect(try await house.command("get", "desk").output == "on 30%\n")
    }

    @Test func `a lamp that says nothing of its brightness while it is off is used all the same`() async throws {
        let house = try await House()
        let lamp = try await HandKitLamp.start(quirks: ["silent-while-off"])
        _ = try await house.run(with: lamp)
        #expect(try await house.command("get", "desk").output == "off\n")
        #expect(try await house.command("set", "desk", "30").output == "on 30%\n")
        #expect(try await house.command("get", "desk").output == "on 30%\n")
        #expect(try await house.command("set", "desk", "toggle").output == "off\n")
    }

    @Test func `a lamp that hangs up after a few requests loses no toggle`() async throws {
        let house = try await House()
        // Two for the verification, one each for the database, events and the first look, and two for a toggle.
        let lamp = try await HandKitLamp.start(quirks: ["close-after=7"])
        let bridge = try await house.run(with: lamp)
        let heard = try await house.listen()
        var next = 0
        for number in 1...6 {
            try await house.toggle("a-\(number)")
            let state = number.isMultiple(of: 2) ? "OFF" : "ON"
            next = try await heard.message(#"handkit/lamp/desk/state {"brightness":40,"state":"\#(state)"}"#, after: next)
        }
        #expect(lamp.events.filter { $0.event == "set" }.map(\.on) == [true, false, true, false, true, false])
        #expect(bridge.ending == nil)
    }

    @Test func `a lamp with few steps is set to the nearest, and said to be there`() async throws {
        let house = try await House()
        let lamp = try await HandKitLamp.start(quirks: ["dimmer-step=20", "no-events"])
        let bridge = try await house.run(with: lamp)
        #expect(try await house.command("set", "desk", "57").output == "on 60%\n")
        #expect(try await house.command("set", "desk", "3").output == "on 20%\n")
        let heard = try await house.listen()
        try await heard.message(#"handkit/lamp/desk/state {"brightness":40,"state":"OFF"}"#)
        try await house.slide(through: [51, 52, 53], boot: "a")
        try await heard.message(#"handkit/lamp/desk/state {"brightness":60,"state":"ON"}"#)
        #expect(bridge.ending == nil)
    }

    @Test func `a lamp that is unpaired while the bridge runs is left alone from then on`() async throws {
        let (house, lamp) = (try await House(), try await HAPLamp.start())
        let bridge = try await house.run(with: lamp)
        #expect(try await house.command("unpair", "desk").ending == .exited(0))
        try await bridge.line("that it is not paired any more") { $0.contains("it is not paired") }
        try await house.toggle("a-1")
        try await bridge.line("that the toggle came too late") { $0.contains("command dropped") }
        #expect(lamp.writes.isEmpty)
    }

    @Test func `a lamp that takes no more sessions is not hammered, and comes back when one is free`() async throws {
        let house = try await House()
        let lamp = try await HandKitLamp.start(quirks: ["sessions=1"], isAnnounced: true)
        try await house.pair(lamp)
        let watch = try house.start(["watch", "desk"])
        try await watch.line("how it is") { $0.contains("off") }
        let bridge = try house.start(["run", "--log-format", "text"])
        try await bridge.line("that it is full") { $0.contains("connections are taken") }
        watch.signal(SIGKILL)
        try await bridge.line("that it is connected", within: .seconds(60)) { $0.contains("lamp connected") }
    }
}
