import Bridge
import Contract
import FoundationEssentials
import TestSupport
import Testing

@Suite struct BridgeCoreTests {
    @Test func `a toggle of a routed camera goes to its lamp, with the time it has left`() throws {
        var bridge = Setup()
        let actions = bridge.receive("handkit/camera/desk/toggle", bridge.toggle())
        #expect(actions.first == .command(.toggle, lamp: lampA, origin: desk, expires: bridge.now + .seconds(3)))
    }

    @Test func `an event of a camera with two lamps goes to both`() {
        var bridge = Setup(routes: ["desk": ["a", "b"]])
        let actions = bridge.receive("handkit/camera/desk/brightness", bridge.brightness(57.3))
        #expect(
            actions.prefix(2) == [
                .command(.level(57), lamp: lampA, origin: .slide(deskCamera), expires: nil),
                .command(.level(57), lamp: lampB, origin: .slide(deskCamera), expires: nil),
            ])
    }

    @Test func `a group is toggled by its first lamp, and the others follow what became of that`() {
        var bridge = Setup(routes: ["desk": ["a", "b"]], groups: [[lampA, lampB]])
        bridge.news("a", .state(.init(on: false, brightness: 40)))
        bridge.news("b", .state(.init(on: true, brightness: 40)))
        let actions = bridge.receive("handkit/camera/desk/toggle", bridge.toggle())
        #expect(actions.filter(\.isCommand) == [.command(.toggle, lamp: lampA, origin: desk, expires: bridge.now + .seconds(3))])
        #expect(
            bridge.news("a", .toggled(on: true, camera: deskCamera))
                == [.command(.power(true), lamp: lampB, origin: desk, expires: bridge.now + .seconds(3))])
    }

    @Test func `of a group whose first lamp does not answer the next one leads`() {
        var bridge = Setup(routes: ["desk": ["a", "b"]], groups: [[lampA, lampB]])
        bridge.news("b", .state(.init(on: true, brightness: 40)))
        let actions = bridge.receive("handkit/camera/desk/toggle", bridge.toggle())
        #expect(actions.filter(\.isCommand) == [.command(.toggle, lamp: lampB, origin: desk, expires: bridge.now + .seconds(3))])
        #expect(
            bridge.news("b", .toggled(on: false, camera: deskCamera)).first
                == .command(
                    .power(false), lamp: lampA, origin: desk, expires: bridge.now + .seconds(3)))
    }

    @Test func `lamps of no group are toggled each by itself, and follow nobody`() {
        var bridge = Setup(routes: ["desk": ["a", "b"]])
        let actions = bridge.receive("handkit/camera/desk/toggle", bridge.toggle())
        #expect(actions.count(where: \.isCommand) == 2)
        #expect(bridge.news("a", .toggled(on: true, camera: deskCamera)).isEmpty)
    }

    @Test func `a command for a lamp goes to it`() {
        var bridge = Setup()
        let actions = bridge.receive("handkit/lamp/b/set", #"{"state":"ON","brightness":12}"#)
        #expect(actions == [.command(.level(12), lamp: lampB, origin: .set, expires: nil)])
    }

    @Test(arguments: [
        ("handkit/camera/hall/toggle", "{}", false, Rejection.unroutable), ("handkit/lamp/c/set", "{}", false, .unroutable),
        ("elsewhere/lamp/a/set", "{}", false, .unroutable), ("handkit/lamp/a/set", "ON", false, .malformed),
        ("handkit/lamp/a/set", #"{"state":"ON"}"#, true, .retained), ("handkit/camera/desk/toggle", "{}", false, .malformed),
    ])
    func `a message that is not for the bridge does nothing and is counted`(
        topic: String, payload: String, retained: Bool, reason: Rejection
    ) throws {
        var bridge = Setup()
        bridge.send(.connected)
        bridge.pass(2)
        let actions = bridge.receive(topic, payload, retained: retained)
        guard case .rejected(reason, topic, _, isFirst: true) = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(try bridge.state(in: actions).rejected == [reason.rawValue: 1])
        guard case .rejected(reason, topic, _, isFirst: false) = bridge.receive(topic, payload, retained: retained).first else {
            Issue.record("the second of the same kind is known")
            return
        }
    }

    @Test func `a retained or repeated or late toggle switches nothing`() {
        var bridge = Setup()
        let toggle = bridge.toggle()
        #expect(commands(bridge.receive("handkit/camera/desk/toggle", toggle, retained: true)) == 0)
        #expect(commands(bridge.receive("handkit/camera/desk/toggle", toggle)) == 1)
        #expect(commands(bridge.receive("handkit/camera/desk/toggle", toggle)) == 0)
        let late = bridge.toggle()
        bridge.pass(4)
        #expect(commands(bridge.receive("handkit/camera/desk/toggle", late)) == 0)
    }

    @Test func `everything is published anew on every connect`() {
        var bridge = Setup()
        bridge.news("a", .state(.init(on: true, brightness: 57)))
        let expected = [
            "handkit/bridge/house/availability=online", "handkit/lamp/a/availability=online", "handkit/lamp/b/availability=offline",
            #"handkit/lamp/a/state={"brightness":57,"state":"ON"}"#, #"handkit/camera/desk/target={"brightness":57,"on":true}"#,
        ]
        for _ in 0..<2 {
            let published = texts(bridge.send(.connected))
            for message in expected { #expect(published.contains(message)) }
            #expect(published.count == 6)
            bridge.send(.disconnected)
        }
    }

    @Test func `lamp state and target are published when they change, not otherwise`() {
        var bridge = Setup()
        bridge.send(.connected)
        #expect(texts(bridge.news("a", .state(.init(on: true, brightness: 57)))).count == 3)
        #expect(texts(bridge.news("a", .state(.init(on: true, brightness: 57)))).isEmpty)
        #expect(
            texts(bridge.news("a", .state(.init(on: false, brightness: 57)))) == [
                #"handkit/lamp/a/state={"brightness":57,"state":"OFF"}"#, #"handkit/camera/desk/target={"brightness":57,"on":false}"#,
            ])
    }

    @Test func `the target is that of the first lamp of the route that answers`() {
        var bridge = Setup(routes: ["desk": ["a", "b"]])
        bridge.send(.connected)
        #expect(
            texts(bridge.news("b", .state(.init(on: true, brightness: 20)))).contains(
                #"handkit/camera/desk/target={"brightness":20,"on":true}"#))
        #expect(
            texts(bridge.news("a", .state(.init(on: true, brightness: 70)))).contains(
                #"handkit/camera/desk/target={"brightness":70,"on":true}"#))
        #expect(texts(bridge.news("a", .trouble(.unreachable))).contains(#"handkit/camera/desk/target={"brightness":20,"on":true}"#))
    }

    @Test func `a camera that comes hears once more where its lamp is, and one that was there before does not`() {
        var bridge = Setup()
        bridge.send(.connected)
        let target = #"handkit/camera/desk/target={"brightness":57,"on":true}"#
        let topic = "handkit/camera/desk/availability"
        #expect(texts(bridge.receive(topic, "online")).isEmpty)
        #expect(texts(bridge.news("a", .state(.init(on: true, brightness: 57)))).contains(target))
        #expect(texts(bridge.receive(topic, "online")) == [target])
        #expect(texts(bridge.receive(topic, "online")) == [target])
        #expect(bridge.receive(topic, "online", retained: true).isEmpty)
        #expect(bridge.receive(topic, "offline").isEmpty)
        #expect(bridge.receive("handkit/camera/hall/availability", "online").isEmpty)
    }

    @Test func `a lamp that stops answering is offline, and online again when it said what it is`() {
        var bridge = Setup()
        bridge.send(.connected)
        bridge.news("a", .state(.init(on: true, brightness: 57)))
        #expect(texts(bridge.news("a", .trouble(.unreachable))).contains("handkit/lamp/a/availability=offline"))
        #expect(texts(bridge.news("a", .state(.init(on: true, brightness: 57)))).contains("handkit/lamp/a/availability=online"))
    }

    @Test func `the bridge's state goes out once a second at most and its last value always`() throws {
        var bridge = Setup()
        bridge.send(.connected)
        for _ in 0..<10 {
            bridge.pass(0.05)
            let actions = bridge.receive("handkit/camera/desk/brightness", bridge.brightness(57))
            #expect(texts(actions).isEmpty)
        }
        #expect(bridge.core.deadline == bridge.now + .milliseconds(500))
        bridge.pass(0.5)
        #expect(try bridge.state(in: bridge.send(.wake)).accepted == 10)
        #expect(bridge.core.deadline == nil)
    }

    @Test func `a message that could not be handed over is sent a little later`() {
        var bridge = Setup()
        bridge.send(.connected)
        bridge.send(.unsent(topic: "handkit/lamp/a/availability"))
        #expect(bridge.core.deadline == bridge.now + .milliseconds(20))
        bridge.pass(0.02)
        #expect(texts(bridge.send(.wake)) == ["handkit/lamp/a/availability=offline"])
        #expect(bridge.core.deadline == nil)
    }

    @Test func `what the client does not take at once goes in pieces, each topic once with its newest payload`() {
        var publications = Publications()
        var now = ContinuousClock.now
        _ = publications.connected(at: now)
        for number in 0..<100 { #expect(publications.set("t\(number)", [0], at: now).count == 1) }
        for number in 0..<100 { publications.failed("t\(number)", at: now) }
        #expect(publications.set("t99", [1], at: now).isEmpty)
        #expect(publications.set("new", [2], at: now).isEmpty)
        #expect(publications.wake(at: now).isEmpty)
        var sent: [Publications.Message] = []
        while let deadline = publications.deadline {
            now = deadline
            let piece = publications.wake(at: now)
            #expect((1...32).contains(piece.count))
            sent += piece
        }
        #expect(sent.map(\.topic) == (0..<100).map { "t\($0)" } + ["new"])
        #expect(sent.suffix(2).map(\.payload) == [[1], [2]])
        #expect(publications.set("t0", [3], at: now).count == 1)
    }

    @Test func `commands a lamp's queue gave up are counted`() throws {
        var bridge = Setup()
        bridge.send(.connected)
        bridge.pass(2)
        #expect(try bridge.state(in: bridge.news("a", .dropped(.toggle, .stale))).rejected == ["stale": 1])
    }

    @Test func `on a clean stop the lamps go offline`() {
        var bridge = Setup()
        bridge.send(.connected)
        bridge.news("a", .state(.init(on: true, brightness: 57)))
        #expect(texts(bridge.send(.stopping)) == ["handkit/lamp/a/availability=offline"])
    }

    @Test func `rubbish on every topic commands nothing`() {
        var bridge = Setup()
        var random = SeededGenerator(seed: 99)
        let topics = ["handkit/camera/desk/toggle", "handkit/camera/desk/brightness", "handkit/lamp/a/set"]
        for _ in 0..<5000 {
            let payload = (0..<random.below(200)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let message = BridgeCore.Input.message(topic: topics[Int(random.below(3))], payload: payload, retained: random.below(2) == 0)
            #expect(commands(bridge.send(message)) == 0)
        }
    }

    private func commands(_ actions: [BridgeCore.Action]) -> Int {
        actions.count { if case .command = $0 { true } else { false } }
    }

    private func texts(_ actions: [BridgeCore.Action]) -> [String] {
        actions.compactMap {
            if case .publish(let message) = $0 { "\(message.topic)=\(String(decoding: message.payload, as: UTF8.self))" } else { nil }
        }
    }
}

private let lampA = try! Identifier("a")
private let lampB = try! Identifier("b")

/// A core with a clock, two lamps and one camera.
private struct Setup {
    private(set) var core: BridgeCore
    private let start = ContinuousClock.now
    private var elapsed = 0
    private var count = 0

    var now: ContinuousClock.Instant { start + .milliseconds(elapsed) }
    private var utc: Timestamp { Timestamp(millisecondsSinceEpoch: 1_796_000_000_000 + Int64(elapsed)) }

    init(routes: [String: [String]] = ["desk": ["a"]], groups: [[Identifier]] = []) {
        var ids: [Identifier: [Identifier]] = [:]
        for (camera, lamps) in routes { ids[try! Identifier(camera)] = lamps.map { try! Identifier($0) } }
        var layout = BridgeCore.Layout(bridge: try! Identifier("house"), topics: try! Topics(), lamps: [lampA, lampB], routes: ids)
        layout.groups = groups
        core = BridgeCore(layout, at: start)
    }

    mutating func pass(_ seconds: Double) { elapsed += Int(seconds * 1000) }

    @discardableResult mutating func send(_ input: BridgeCore.Input) -> [BridgeCore.Action] {
        core.handle(input, at: Moment(instant: now, utc: utc))
    }

    mutating func receive(_ topic: String, _ payload: String, retained: Bool = false) -> [BridgeCore.Action] {
        send(.message(topic: topic, payload: Array(payload.utf8), retained: retained))
    }

    @discardableResult mutating func news(_ lamp: String, _ news: BridgeCore.LampNews) -> [BridgeCore.Action] {
        send(.lamp(try! Identifier(lamp), news))
    }

    mutating func toggle() -> String {
        count += 1
        return #"{"event_type":"toggle","id":"b-\#(count)","ts":"\#(utc)","hand":"right","confidence":0.9,"v":1}"#
    }

    mutating func brightness(_ value: Double) -> String {
        count += 1
        return #"{"value":\#(value),"phase":"changed","displacement":0,"id":"b-\#(count)","ts":"\#(utc)","v":1}"#
    }

    func state(in actions: [BridgeCore.Action]) throws -> BridgeState {
        for case .publish(let message) in actions where message.topic == "handkit/bridge/house/state" {
            return try JSONDecoder().decode(BridgeState.self, from: Data(message.payload))
        }
        throw Missing()
    }

    struct Missing: Error {}
}

extension BridgeCore.Action {
    fileprivate var isCommand: Bool { if case .command = self { true } else { false } }
}
