import Bridge
import Contract
import TestSupport
import Testing

@Suite struct LampQueueTests {
    @Test func `a lamp is read as soon as it is connected`() {
        var lamp = Script()
        #expect(lamp.send(.connected) == [.send(.read)])
        #expect(lamp.send(.answered(.read(.init(on: true, brightness: 40)))) == [.state(.init(on: true, brightness: 40))])
        #expect(lamp.queue.deadline == lamp.now + .seconds(30))
    }

    @Test func `a toggle reads the lamp and writes the inverse of what it says, not of what was known`() {
        var lamp = Script(on: false)
        #expect(lamp.toggle() == [.send(.read)])
        #expect(
            lamp.send(.answered(.read(.init(on: true, brightness: 40)))) == [
                .state(.init(on: true, brightness: 40)), .send(.write(on: false, brightness: nil)),
            ])
        #expect(
            lamp.send(.answered(.written)) == [
                .state(.init(on: false, brightness: 40)), .done(.toggle, origin: desk, .init(on: false, brightness: 40)),
            ])
    }

    @Test func `two toggles in a row are two inversions, one after the other`() {
        var lamp = Script(on: false)
        #expect(lamp.toggle() == [.send(.read)])
        #expect(lamp.toggle() == [])
        #expect(lamp.read(on: false).last == .send(.write(on: true, brightness: nil)))
        #expect(lamp.send(.answered(.written)).last == .send(.read))
        #expect(lamp.read(on: true).last == .send(.write(on: false, brightness: nil)))
    }

    @Test func `brightness above 0 turns a lamp that is off on in the same write`() {
        var lamp = Script(on: false)
        #expect(lamp.level(30) == [.send(.write(on: true, brightness: 30))])
    }

    @Test func `a lamp that forgets one of two values is switched on first and dimmed then`() {
        var lamp = Script(on: false, splits: true)
        #expect(lamp.level(30) == [.send(.write(on: true, brightness: nil))])
        #expect(
            lamp.send(.answered(.written)) == [.state(.init(on: true, brightness: 40)), .send(.write(on: nil, brightness: 30))])
        #expect(
            lamp.send(.answered(.written)) == [
                .state(.init(on: true, brightness: 30)), .done(.level(30), origin: desk, .init(on: true, brightness: 30)),
            ])
        lamp.pass(.seconds(1))
        #expect(lamp.level(50) == [.send(.write(on: nil, brightness: 50))])
    }

    @Test func `a lamp that refuses brightness while it is off is switched on first from then on`() {
        var lamp = Script(on: false)
        #expect(lamp.level(30) == [.send(.write(on: true, brightness: 30))])
        #expect(lamp.send(.answered(.failed(.refused(status: -70412)))) == [.send(.write(on: true, brightness: nil))])
        #expect(
            lamp.send(.answered(.written)) == [.state(.init(on: true, brightness: 40)), .send(.write(on: nil, brightness: 30))])
        #expect(lamp.send(.answered(.written)).last == .done(.level(30), origin: desk, .init(on: true, brightness: 30)))
    }

    @Test func `a lamp that refuses one value of its own is not asked again`() {
        var lamp = Script(on: false, splits: true)
        lamp.level(30)
        #expect(
            lamp.send(.answered(.failed(.refused(status: -70410)))).first
                == .dropped(.level(30), origin: desk, .refused(status: -70410)))
    }

    @Test func `a lamp that has not every level is said to be as it is`() {
        var lamp = Script(on: true)
        lamp.level(57)
        #expect(
            lamp.send(.answered(.writtenNear(level: 55))) == [
                .state(.init(on: true, brightness: 55)), .done(.level(57), origin: desk, .init(on: true, brightness: 55)),
            ])
    }

    @Test func `a slide goes on while a lamp is switched on for it, and its newest value is the one that is written`() {
        var lamp = Script(on: false, splits: true)
        lamp.level(30)
        #expect(lamp.level(45).isEmpty)
        #expect(lamp.send(.answered(.written)).last == .send(.write(on: nil, brightness: 45)))
    }

    @Test func `what a lamp refused because the session was not verified is done in the next session, a toggle too`() {
        var lamp = Script(on: false)
        lamp.toggle()
        lamp.read(on: false)
        #expect(lamp.send(.answered(.failed(.unverified))).isEmpty)
        #expect(lamp.send(.connected) == [.send(.read)])
        #expect(lamp.read(on: false).last == .send(.read))
        #expect(lamp.read(on: false).last == .send(.write(on: true, brightness: nil)))
    }

    @Test func `brightness alone is written to a lamp that is on`() {
        var lamp = Script(on: true)
        #expect(lamp.level(30) == [.send(.write(on: nil, brightness: 30))])
    }

    @Test func `brightness 0 is off, never a brightness of 0`() {
        var lamp = Script(on: true)
        #expect(lamp.level(0) == [.send(.write(on: false, brightness: nil))])
        #expect(lamp.send(.answered(.written)).first == .state(.init(on: false, brightness: 40)))
    }

    @Test func `a lamp that cannot be dimmed is switched`() {
        var lamp = Script(values: .init(on: false, brightness: nil))
        #expect(lamp.level(30) == [.send(.write(on: true, brightness: nil))])
        lamp.send(.answered(.written))
        lamp.pass(.milliseconds(100))
        #expect(lamp.level(0) == [.send(.write(on: false, brightness: nil))])
    }

    @Test func `the latest brightness wins while a write is in flight and is written when the interval is over`() {
        var lamp = Script(on: true)
        #expect(lamp.level(50) == [.send(.write(on: nil, brightness: 50))])
        #expect(lamp.level(51) == [])
        #expect(lamp.level(57) == [])
        lamp.pass(.milliseconds(20))
        #expect(!lamp.send(.answered(.written)).contains(.send(.write(on: nil, brightness: 57))))
        #expect(lamp.queue.deadline == lamp.now + .milliseconds(80))
        lamp.pass(.milliseconds(79))
        #expect(lamp.send(.wake) == [])
        lamp.pass(.milliseconds(1))
        #expect(lamp.send(.wake) == [.send(.write(on: nil, brightness: 57))])
    }

    @Test func `a toggle after a waiting brightness comes after it`() {
        var lamp = Script(on: true)
        lamp.level(50)
        lamp.level(60)
        lamp.toggle()
        lamp.level(70)
        lamp.send(.answered(.written))
        lamp.pass(.milliseconds(100))
        #expect(lamp.send(.wake) == [.send(.write(on: nil, brightness: 60))])
        #expect(lamp.send(.answered(.written)).last == .send(.read))
        #expect(lamp.read(on: true).last == .send(.write(on: false, brightness: nil)))
        #expect(lamp.send(.answered(.written)).count == 2)
        lamp.pass(.milliseconds(100))
        #expect(lamp.send(.wake) == [.send(.write(on: true, brightness: 70))])
    }

    @Test func `a value the lamp already confirmed is not written again`() {
        var lamp = Script(on: true)
        lamp.level(50)
        lamp.send(.answered(.written))
        lamp.pass(.milliseconds(200))
        #expect(lamp.level(50) == [.done(.level(50), origin: desk, .init(on: true, brightness: 50))])
    }

    @Test func `a value somebody else changed in between is written again`() {
        var lamp = Script(on: true)
        lamp.level(50)
        lamp.send(.answered(.written))
        lamp.pass(.milliseconds(200))
        lamp.send(.report(on: nil, brightness: 90))
        #expect(lamp.level(50) == [.send(.write(on: nil, brightness: 50))])
    }

    @Test func `a toggle that waits longer than it lives is dropped and says so`() {
        var lamp = Script(on: true)
        lamp.send(.disconnected)
        lamp.toggle()
        lamp.pass(.seconds(3))
        #expect(lamp.queue.deadline == lamp.now)
        #expect(lamp.send(.wake) == [.dropped(.toggle, origin: desk, .stale)])
        #expect(lamp.send(.connected) == [.send(.read)])
        #expect(lamp.read(on: true) == [.state(.init(on: true, brightness: 40))])
    }

    @Test func `a toggle is dropped when the lamp takes too long to say what it is`() {
        var lamp = Script(on: true)
        lamp.toggle()
        lamp.pass(.seconds(4))
        #expect(lamp.read(on: true).last == .dropped(.toggle, origin: desk, .stale))
    }

    @Test func `a toggle is done after a short interruption if nothing had been written`() {
        var lamp = Script(on: true)
        lamp.toggle()
        lamp.send(.answered(.failed(.lost)))
        lamp.pass(.seconds(1))
        #expect(lamp.send(.connected) == [.send(.read)])
        #expect(lamp.read(on: true).last == .send(.read))
        #expect(lamp.read(on: true).last == .send(.write(on: false, brightness: nil)))
    }

    @Test func `a toggle whose answer was lost is not done twice`() {
        var lamp = Script(on: true)
        lamp.toggle()
        lamp.read(on: true)
        #expect(lamp.send(.answered(.failed(.lost))) == [.dropped(.toggle, origin: desk, .unconfirmed)])
    }

    @Test func `the last brightness is written once the lamp is back`() {
        var lamp = Script(on: true)
        lamp.level(50)
        lamp.level(60)
        lamp.send(.answered(.failed(.lost)))
        lamp.pass(.seconds(20))
        lamp.send(.connected)
        #expect(lamp.read(on: false) == [.state(.init(on: false, brightness: 40)), .send(.write(on: true, brightness: 60))])
    }

    @Test func `a brightness is not written half a minute late`() {
        var lamp = Script(on: true)
        lamp.send(.disconnected)
        lamp.level(50)
        lamp.pass(.seconds(30))
        #expect(lamp.send(.wake) == [.dropped(.level(50), origin: desk, .stale)])
    }

    @Test func `a busy lamp is asked again`() {
        var lamp = Script(on: true)
        lamp.level(50)
        #expect(lamp.send(.answered(.failed(.busy))) == [])
        #expect(lamp.queue.deadline == lamp.now + .milliseconds(250))
        lamp.pass(.milliseconds(250))
        #expect(lamp.send(.wake) == [.send(.write(on: nil, brightness: 50))])
    }

    @Test func `a newer brightness replaces one the lamp was too busy for`() {
        var lamp = Script(on: true)
        lamp.level(50)
        lamp.level(60)
        lamp.send(.answered(.failed(.busy)))
        lamp.pass(.milliseconds(250))
        #expect(lamp.send(.wake) == [.send(.write(on: nil, brightness: 60))])
    }

    @Test func `a refusal is final and the queue goes on`() {
        var lamp = Script(on: true)
        lamp.level(50)
        lamp.toggle()
        #expect(
            lamp.send(.answered(.failed(.refused(status: -70410)))) == [
                .dropped(.level(50), origin: desk, .refused(status: -70410)), .send(.read),
            ])
    }

    @Test func `toggles beyond the capacity are counted, not kept`() {
        var lamp = Script(on: true)
        lamp.send(.disconnected)
        for _ in 0..<16 { #expect(lamp.toggle() == []) }
        #expect(lamp.toggle() == [.dropped(.toggle, origin: desk, .overflow)])
        #expect(lamp.level(10) == [])
    }

    @Test func `the echo of a slide does not pull the lamp's state back`() {
        var lamp = Script(on: true)
        lamp.level(50)
        #expect(lamp.send(.report(on: nil, brightness: 45)) == [])
        lamp.send(.answered(.written))
        #expect(lamp.send(.report(on: nil, brightness: 47)) == [])
        lamp.pass(.milliseconds(100))
        lamp.level(60)
        lamp.send(.answered(.written))
        #expect(lamp.send(.report(on: nil, brightness: 50)) == [])
        #expect(lamp.send(.report(on: nil, brightness: 60)) == [])
        lamp.pass(.milliseconds(500))
        #expect(lamp.send(.wake) == [])
    }

    @Test func `what the lamp still says otherwise after the hold is settled by reading it`() {
        var lamp = Script(on: true)
        lamp.level(50)
        lamp.send(.answered(.written))
        #expect(lamp.send(.report(on: nil, brightness: 80)) == [])
        lamp.pass(.milliseconds(500))
        #expect(lamp.send(.wake) == [.send(.read)])
        #expect(lamp.read(on: true, brightness: 80) == [.state(.init(on: true, brightness: 80))])
    }

    @Test func `somebody switching the lamp off during a slide is noticed at once`() {
        var lamp = Script(on: true)
        lamp.level(50)
        lamp.send(.answered(.written))
        #expect(lamp.send(.report(on: false, brightness: nil)) == [.state(.init(on: false, brightness: 50))])
        lamp.pass(.milliseconds(100))
        #expect(lamp.level(60) == [.send(.write(on: true, brightness: 60))])
    }

    @Test func `a lamp not heard from is read, one that reports is not`() {
        var lamp = Script(on: true)
        lamp.pass(.seconds(20))
        lamp.send(.report(on: true, brightness: nil))
        lamp.pass(.seconds(20))
        #expect(lamp.send(.wake) == [])
        lamp.pass(.seconds(10))
        #expect(lamp.send(.wake) == [.send(.read)])
    }

    @Test func `a lamp whose events were lost is read`() {
        var lamp = Script(on: true)
        #expect(lamp.send(.missedReports) == [.send(.read)])
    }

    @Test func `a lamp that refuses to be read is not hammered`() {
        var lamp = Script()
        lamp.send(.connected)
        #expect(lamp.send(.answered(.failed(.refused(status: -70402)))) == [])
        #expect(lamp.queue.deadline == lamp.now + .seconds(5))
    }

    @Test func `answers that come after the disconnection change nothing`() {
        var lamp = Script(on: true)
        lamp.level(50)
        lamp.send(.disconnected)
        #expect(lamp.send(.answered(.written)) == [])
        #expect(lamp.send(.report(on: false, brightness: nil)) == [])
    }
}

@Suite struct LampQueueProperties {
    /// Toggles, levels and power commands at random times against a lamp with random delays, refusals and interruptions.
    @Test(arguments: UInt64(0)..<300)
    func `whatever happens, one request is in flight, writes keep their distance and the last value arrives`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var world = World(seed: seed)
        for _ in 0..<400 { world.step(&random) }
        world.settle()
        #expect(world.overlaps == 0)
        #expect(world.closestLevelWrites >= .milliseconds(100))
        #expect(world.zeroBrightnessWrites == 0)
        #expect(world.lateToggles == 0)
        #expect(world.dones + world.drops == world.accounted, "every toggle and power command is done or dropped, once")
        if let wanted = world.lastLevel {
            #expect(world.lamp.on == (wanted > 0))
            if wanted > 0 { #expect(world.lamp.brightness == wanted) }
        }
    }

    @Test(arguments: UInt64(0)..<100)
    func `toggles among slides keep their parity`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var world = World(seed: seed, faults: false)
        var toggles = 0
        for _ in 0..<200 {
            switch random.below(3) {
            case 0 where world.waiting < 8:
                toggles += 1
                world.command(.toggle)
            case 1: world.command(.level(1 + Int(random.below(100))))
            default: break
            }
            world.pass(.milliseconds(Int(random.below(60))))
        }
        world.drain()
        #expect(world.lampToggles == toggles)
        #expect(world.drops == 0)
    }
}

let deskCamera = try! Identifier("desk")
let desk = CommandOrigin.camera(deskCamera)

/// A queue, its clock and shorthand for its inputs.
struct Script {
    var queue = LampQueue()
    var now = ContinuousClock.now

    init() {}

    init(on: Bool, splits: Bool = false) { self.init(values: .init(on: on, brightness: 40), splits: splits) }

    init(values: LampValues, splits: Bool = false) {
        var policy = LampQueue.Policy()
        policy.splitsWrites = splits
        queue = LampQueue(policy: policy)
        send(.connected)
        send(.answered(.read(values)))
    }

    @discardableResult mutating func send(_ input: LampQueue.Input) -> [LampQueue.Action] { queue.handle(input, at: now) }
    @discardableResult mutating func toggle() -> [LampQueue.Action] { send(.command(.toggle, origin: desk, expires: now + .seconds(3))) }
    @discardableResult mutating func level(_ value: Int) -> [LampQueue.Action] {
        send(.command(.level(value), origin: desk, expires: nil))
    }
    @discardableResult mutating func read(on: Bool, brightness: Int = 40) -> [LampQueue.Action] {
        send(.answered(.read(.init(on: on, brightness: brightness))))
    }
    mutating func pass(_ duration: Duration) { now += duration }
}
