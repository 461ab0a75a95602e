import Bridge
import Contract
import TestSupport
import Testing

@Suite struct EventFilterTests {
    @Test func `an event is acted on once, however often it is delivered`() {
        var camera = Sender()
        let toggle = camera.toggle()
        #expect(camera.deliver(toggle) == .accept(age: 0))
        #expect(camera.deliver(toggle) == .reject(.duplicate))
        #expect(camera.deliver(camera.toggle()) == .accept(age: 0))
    }

    @Test func `a retained event is never acted on, and its id is not remembered`() {
        var camera = Sender()
        let toggle = camera.toggle()
        #expect(camera.deliver(toggle, retained: true) == .reject(.retained))
        #expect(camera.deliver(toggle) == .accept(age: 0))
    }

    @Test func `the memory for ids is bounded and holds the last 256`() {
        var camera = Sender()
        let toggles = (0...EventFilter.memory).map { _ in camera.toggle() }
        for toggle in toggles { #expect(camera.deliver(toggle) == .accept(age: 0)) }
        for toggle in toggles.dropFirst() { #expect(camera.deliver(toggle) == .reject(.duplicate)) }
    }

    @Test(arguments: [0.0, 25_200.0, -25_200.0, 630_720_000.0])
    func `a sender whose clock is hours wrong loses nothing, and its late events are still known as late`(error: Double) {
        var camera = Sender(clockError: error)
        for _ in 0..<10 {
            camera.pass(0.5)
            #expect(accepted(camera.deliver(camera.brightness())))
            #expect(accepted(camera.deliver(camera.toggle())))
        }
        let queued = camera.toggle()
        camera.pass(4)
        #expect(camera.deliver(queued) == .reject(.stale))
        #expect(accepted(camera.deliver(camera.toggle())))
    }

    @Test func `a delay below the lifetime is told, so that the lamp's queue can go on counting`() throws {
        var camera = Sender(clockError: 3600)
        _ = camera.deliver(camera.brightness())
        let toggle = camera.toggle()
        camera.pass(2)
        guard case .accept(let age) = camera.deliver(toggle) else {
            Issue.record("it is not late yet")
            return
        }
        #expect(abs(age - 2) < 0.01)
    }

    @Test func `the first event heard is dropped when our clock says it waited a minute`() {
        var camera = Sender()
        let queued = camera.toggle()
        camera.pass(60)
        #expect(camera.deliver(queued) == .reject(.stale))
        #expect(camera.deliver(camera.toggle()) == .accept(age: 0))
    }

    @Test(arguments: [3600.0, 60.0, 2.0, -2.0])
    func `a clock set forwards, or a little back, while the sender runs loses nothing`(step: Double) {
        var camera = Sender(clockError: 1800)
        for _ in 0..<3 { #expect(accepted(camera.deliver(camera.toggle()))) }
        camera.pass(1)
        camera.clockError += step
        expectNothingIsLost(&camera)
        let queued = camera.toggle()
        camera.pass(6)
        _ = camera.deliver(camera.brightness())
        #expect(camera.deliver(queued) == .reject(.stale))
    }

    @Test func `a clock that is set right while the sender runs loses nothing`() {
        var camera = Sender(clockError: 1800)
        for _ in 0..<3 { #expect(accepted(camera.deliver(camera.toggle()))) }
        camera.clockError = 0
        for _ in 0..<3 { #expect(accepted(camera.deliver(camera.toggle()))) }
    }

    @Test(arguments: [true, false])
    func `a clock that is set wrong and back is believed once events come at its pace for a lifetime`(numbered: Bool) {
        var camera = Sender()
        camera.numbered = numbered
        #expect(accepted(camera.deliver(camera.toggle())))
        camera.clockError = -3600
        for _ in 0..<4 {
            #expect(camera.deliver(camera.toggle()) == .reject(.stale))
            camera.pass(0.9)
        }
        #expect(accepted(camera.deliver(camera.toggle())))
        #expect(accepted(camera.deliver(camera.toggle())))
    }

    @Test(arguments: [3600.0, -3600, 60, -60, -4])
    func `a clock that is set while the sender runs changes nothing where it says its uptime`(step: Double) {
        var camera = Sender(clockError: 1800)
        camera.saysUptime = true
        for _ in 0..<3 { #expect(accepted(camera.deliver(camera.toggle()))) }
        camera.clockError += step
        expectNothingIsLost(&camera)
        let queued = camera.toggle()
        camera.pass(4)
        camera.clockError += 4
        #expect(camera.deliver(queued) == .reject(.stale), "whatever its clock says")
    }

    @Test func `a script and a camera on the same topics are each understood by what they say`() {
        var camera = Sender()
        for saysUptime in [true, false, true, false] {
            camera.saysUptime = saysUptime
            #expect(accepted(camera.deliver(camera.toggle())))
        }
    }

    @Test func `a late toggle between live events is dropped, whatever its number`() {
        var camera = Sender()
        #expect(accepted(camera.deliver(camera.toggle())))
        camera.clockError = -60
        let late = camera.toggle()
        camera.clockError = 0
        #expect(camera.deliver(late) == .reject(.stale))
        #expect(accepted(camera.deliver(camera.toggle())))
    }

    @Test func `a host that comes back with another clock loses nothing`() {
        var camera = Sender()
        for _ in 0..<3 { #expect(accepted(camera.deliver(camera.toggle()))) }
        camera.restart()
        camera.clockError = -3600
        for _ in 0..<3 { #expect(accepted(camera.deliver(camera.toggle()))) }
    }

    @Test func `a queue that arrives in a burst after an outage is dropped to the last event`() {
        var camera = Sender(clockError: -5000)
        #expect(accepted(camera.deliver(camera.toggle())))
        var queue: [EventStamp] = []
        for _ in 0..<20 {
            camera.pass(1)
            queue.append(camera.toggle())
        }
        camera.pass(30)
        for toggle in queue { #expect(camera.deliver(toggle) == .reject(.stale)) }
        #expect(accepted(camera.deliver(camera.toggle())))
    }

    @Test func `an unacknowledged toggle sent again after newer events is dropped`() {
        var camera = Sender(clockError: 5000)
        _ = camera.deliver(camera.brightness())
        let lost = camera.toggle()
        camera.pass(20)
        #expect(accepted(camera.deliver(camera.toggle())))
        #expect(camera.deliver(lost) == .reject(.stale))
    }

    @Test func `one event from the far future does not silence the sender`() {
        var camera = Sender()
        _ = camera.deliver(camera.toggle())
        camera.clockError = 1e8
        _ = camera.deliver(camera.toggle())
        camera.clockError = 0
        camera.pass(1)
        #expect(accepted(camera.deliver(camera.toggle())))
    }

    @Test func `brightness that was overtaken does not replace the newer value`() {
        var camera = Sender()
        let (began, changed) = (camera.brightness(), camera.brightness())
        #expect(accepted(camera.deliver(changed)))
        #expect(camera.deliver(began) == .reject(.stale))
    }

    @Test func `a clock that drifts 50 ppm loses nothing in a year`() {
        var camera = Sender(clockError: 12)
        for _ in 0..<8760 {
            camera.pass(3600)
            camera.clockError -= 3600 * 50e-6
            #expect(accepted(camera.deliver(camera.toggle())))
        }
    }

    /// Of three seconds with a toggle and a step of brightness each.
    private func expectNothingIsLost(_ camera: inout Sender) {
        for _ in 0..<3 {
            #expect(accepted(camera.deliver(camera.toggle())))
            #expect(accepted(camera.deliver(camera.brightness())))
            camera.pass(1)
        }
    }

    private func accepted(_ verdict: EventFilter.Verdict) -> Bool {
        if case .accept = verdict { true } else { false }
    }
}

@Suite struct PayloadTests {
    @Test func `the contract's payloads are read, whatever other keys they hold`() throws {
        let toggle =
            #"{"event_type":"toggle","id":"b1-7","ts":"2026-11-30T15:39:47.123Z","hand":"right","confidence":0.97,"v":1,"new":[1]}"#
        guard case .toggle(let event) = try CameraEvent(.toggle, payload: Array(toggle.utf8)) else { return }
        #expect(event.id == "b1-7")
        let slide = #"{"value":57.3,"phase":"changed","displacement":0.12,"id":"b1-8","ts":"2026-11-30T15:39:47Z","v":1}"#
        guard case .brightness(let event) = try CameraEvent(.brightness, payload: Array(slide.utf8)) else { return }
        #expect(event.value == 57.3)
    }

    @Test(arguments: [
        ("", "the payload is no JSON object"), ("[]", "the payload is no JSON object"), ("{}", "'value' is missing"),
        (#"{"value":101,"phase":"ended","displacement":0,"id":"a","ts":"2026-11-30T15:39:47Z","v":1}"#, "'value' must be 0 to 100"),
        (#"{"value":"7","phase":"ended","displacement":0,"id":"a","ts":"2026-11-30T15:39:47Z","v":1}"#, "'value' must be of another type"),
        (
            #"{"value":7,"phase":"gone","displacement":0,"id":"a","ts":"2026-11-30T15:39:47Z","v":1}"#,
            "'phase' must be one of the contract's values"
        ),
        (#"{"value":7,"phase":"ended","displacement":0,"id":"a","ts":"yesterday","v":1}"#, "'ts' must be one of the contract's values"),
        (#"{"value":7,"phase":"ended","displacement":0,"id":"","ts":"2026-11-30T15:39:47Z","v":1}"#, "'id' must be 1 to 128 bytes"),
        (#"{"value":7,"phase":"ended","displacement":0,"id":"a","ts":"2026-11-30T15:39:47Z","v":2}"#, "'v' must be 1"),
    ])
    func `a bad brightness is refused with the reason`(payload: String, reason: String) {
        let fault = #expect(throws: PayloadFault.self) { try CameraEvent(.brightness, payload: Array(payload.utf8)) }
        #expect(fault?.description == reason)
    }

    @Test(arguments: [
        (#"{"state":"ON"}"#, LampCommand.power(true)), (#"{"state":"OFF","brightness":30}"#, .power(false)),
        (#"{"state":"ON","brightness":30,"transition":2}"#, .level(30)), (#"{"brightness":0}"#, .level(0)),
        (#"{"state":"ON","brightness":0}"#, .level(0)),
    ])
    func `Home Assistant's JSON light commands are understood`(payload: String, command: LampCommand) throws {
        #expect(try LampCommand(set: Array(payload.utf8)) == command)
    }

    @Test(arguments: ["{}", "ON", #"{"state":"on"}"#, #"{"brightness":101}"#, #"{"brightness":-1}"#, #"{"brightness":"30"}"#, "null"])
    func `a bad lamp command is refused`(payload: String) {
        #expect(throws: PayloadFault.self) { try LampCommand(set: Array(payload.utf8)) }
    }

    @Test func `the darkest step of a slide is 1, only 0 is off`() {
        #expect(LampCommand.level(percent: 0.2) == .level(1))
        #expect(LampCommand.level(percent: 0) == .level(0))
        #expect(LampCommand.level(percent: 57.5) == .level(58))
        #expect(LampCommand.level(percent: 100) == .level(100))
    }

    @Test func `rubbish never becomes a command`() {
        var random = SeededGenerator(seed: 4711)
        let good = Array(
            #"{"event_type":"toggle","id":"b1-7","ts":"2026-11-30T15:39:47.123Z","hand":"right","confidence":0.97,"v":1}"#.utf8)
        var understood = 0
        for _ in 0..<20_000 {
            var bytes: [UInt8]
            if random.below(2) == 0 {
                bytes = (0..<random.below(64)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            } else {
                bytes = good
                for _ in 0...random.below(4) { bytes[Int(random.below(UInt64(bytes.count)))] = UInt8(truncatingIfNeeded: random.next()) }
            }
            if let event = try? CameraEvent(.toggle, payload: bytes) {
                #expect((1...CameraEvent.maximumIdLength).contains(event.stamp.id.utf8.count))
                understood += 1
            }
            #expect((try? CameraEvent(.brightness, payload: bytes)) == nil)
            #expect((try? LampCommand(set: bytes)) == nil)
        }
        #expect(understood > 0, "some changes hit only a value")
    }
}

/// A camera's host with a clock of its own, and the bridge's filter for it.
struct Sender {
    var clockError: Double
    var numbered = true
    var saysUptime = false
    private var filter: EventFilter
    private let start = ContinuousClock.now
    private var elapsed = 0.0
    private var boot = 1
    private var count = 0

    init(clockError: Double = 0) {
        self.clockError = clockError
        filter = EventFilter(origin: start)
    }

    mutating func pass(_ seconds: Double) { elapsed += seconds }

    mutating func restart() { (boot, count) = (boot + 1, 0) }

    mutating func toggle() -> EventStamp { stamp(.toggle) }
    mutating func brightness() -> EventStamp { stamp(.brightness) }

    mutating func deliver(_ event: EventStamp, retained: Bool = false) -> EventFilter.Verdict {
        let utc = Timestamp(millisecondsSinceEpoch: 1_796_000_000_000 + Int64(elapsed * 1000))
        return filter.judge(event, retained: retained, arrived: Moment(instant: start + .seconds(elapsed), utc: utc))
    }

    private mutating func stamp(_ kind: EventKind) -> EventStamp {
        count += 1
        let ts = Timestamp(millisecondsSinceEpoch: 1_796_000_000_000 + Int64((elapsed + clockError) * 1000))
        let id = numbered ? "b\(boot)-\(count)" : "event\(count)"
        return EventStamp(kind: kind, id: id, ts: ts, uptime: saysUptime ? 5000 + elapsed : nil)
    }
}
