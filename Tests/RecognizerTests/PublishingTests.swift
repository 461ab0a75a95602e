import Contract
import Gestures
import Testing

@testable import Recognizer

private let ts = Timestamp(millisecondsSinceEpoch: 1_796_053_187_123)
private let moment = ArrivalTime(ts: ts, uptime: 86_400.125)

struct EventWriterTests {
    @Test func `every event has an id of its own, counted up from the start's number`() {
        var writer = EventWriter(boot: 0xbad)
        let events: [GestureEvent] = [
            .toggle(hand: .left, confidence: 0.9), .brightness(value: 1, phase: .began, displacement: 0),
            .toggle(hand: .right, confidence: 0.9),
        ]
        let ids = events.map { event in
            switch writer.write(event, at: moment) {
            case .toggle(let toggle): toggle.id
            case .brightness(let brightness): brightness.id
            }
        }
        #expect(ids == ["00000bad-1", "00000bad-2", "00000bad-3"])
    }

    @Test(arguments: [(UInt32.min, "00000000-1"), (.max, "ffffffff-1"), (0x1234_5678, "12345678-1")])
    func `ids are as long whatever the start's number`(boot: UInt32, id: String) {
        var writer = EventWriter(boot: boot)
        #expect(
            writer.write(.toggle(hand: .left, confidence: 1), at: moment)
                == .toggle(ToggleEvent(id: id, ts: ts, uptime: 86_400.125, hand: .left, confidence: 1)))
    }

    @Test func `numbers are rounded to what a person can use`() {
        var writer = EventWriter(boot: 0)
        #expect(
            writer.write(.toggle(hand: .right, confidence: 0.96789), at: moment)
                == .toggle(ToggleEvent(id: "00000000-1", ts: ts, uptime: 86_400.125, hand: .right, confidence: 0.97)))
        #expect(
            writer.write(.brightness(value: 57.349, phase: .changed, displacement: -0.123456), at: moment)
                == .brightness(
                    BrightnessEvent(
                        value: 57.3, phase: .changed, displacement: -0.1235, id: "00000000-2", ts: ts, uptime: 86_400.125)))
    }

    @Test func `a zero is never negative`() {
        #expect((-0.00001).rounded(2).sign == .plus)
        #expect((-0.0).rounded(4).sign == .plus)
        #expect(1.25.rounded(1) == 1.3 && (-1.25).rounded(1) == -1.3 && 99.96.rounded(1) == 100)
    }
}

struct StateThrottleTests {
    private func state(_ brightness: Int, fps: Double = 30) -> CameraState {
        CameraState(brightness: brightness, hand: true, pinch: .open, fps: fps)
    }

    @Test func `a change is published at once, and then at most four a second with the last value`() {
        var throttle = StateThrottle()
        var published: [(time: Double, state: CameraState)] = []
        for frame in 0..<100 {
            let time = Double(frame) / 32
            if let due = throttle.update(state(frame), at: time) { published.append((time, due)) }
        }
        if let due = throttle.due(at: 100.0 / 32 + 0.25) { published.append((10, due)) }
        #expect(published.first?.time == 0 && published.first?.state == state(0))
        #expect(zip(published, published.dropFirst()).allSatisfy { $1.time - $0.time >= 0.25 })
        #expect(published.count == 14)
        #expect(published.last?.state == state(99))
        #expect(throttle.due(at: 1000) == nil)
    }

    @Test func `a value held back is sent when its time has come`() {
        var throttle = StateThrottle()
        #expect(throttle.update(state(1), at: 0) == state(1))
        #expect(throttle.update(state(2), at: 0.1) == nil)
        #expect(throttle.due(at: 0.2) == nil)
        #expect(throttle.due(at: 0.25) == state(2))
        #expect(throttle.due(at: 5) == nil)
    }

    @Test func `a value that went back to what is known is not sent`() {
        var throttle = StateThrottle()
        #expect(throttle.update(state(1), at: 0) == state(1))
        #expect(throttle.update(state(2), at: 0.1) == nil)
        #expect(throttle.update(state(1), at: 0.2) == nil)
        #expect(throttle.due(at: 5) == nil)
    }

    @Test func `a new frame rate alone is told rarely`() {
        var throttle = StateThrottle()
        var published = 0
        for frame in 0..<(60 * 30) {
            if throttle.update(state(1, fps: 30 + Double(frame % 7) / 10), at: Double(frame) / 30) != nil { published += 1 }
        }
        #expect((5...7).contains(published))
        #expect(throttle.update(state(2, fps: 30), at: 61) == state(2, fps: 30))
    }

    @Test func `a broker that was away is told at once`() {
        var throttle = StateThrottle()
        throttle.restart()
        #expect(throttle.due(at: 0) == nil)
        #expect(throttle.update(state(1), at: 0) == state(1))
        throttle.restart()
        #expect(throttle.due(at: 0.01) == state(1))
        #expect(throttle.due(at: 0.02) == nil)
    }
}

struct FrameWatchTests {
    @Test func `a camera is offline before its first frame and 3 seconds after its last`() {
        var watch = FrameWatch()
        #expect(watch.availability(at: 0) == .offline)
        watch.sawFrame(at: 10)
        #expect(watch.availability(at: 10) == .online && watch.availability(at: 12.99) == .online)
        #expect(watch.availability(at: 13) == .offline)
        watch.sawFrame(at: 20)
        #expect(watch.availability(at: 20) == .online)
    }

    @Test func `a paused camera stays online, and has 3 seconds to come back`() {
        var watch = FrameWatch()
        watch.sawFrame(at: 0)
        watch.paused(true, at: 1)
        #expect(watch.availability(at: 100) == .online)
        watch.paused(false, at: 100)
        #expect(watch.availability(at: 102.9) == .online && watch.availability(at: 103) == .offline)
    }

    @Test func `a lost camera is offline at once`() {
        var watch = FrameWatch()
        watch.sawFrame(at: 0)
        watch.lostCamera()
        #expect(watch.availability(at: 0.1) == .offline)
    }
}

struct FrameRateTests {
    @Test(arguments: [5.0, 10, 15, 30, 60, 120])
    func `the rate is that of the last second`(rate: Double) {
        var frameRate = FrameRate()
        #expect(frameRate.frame(at: 0) == 0)
        var last = 0.0
        for frame in 1...Int(3 * rate) { last = frameRate.frame(at: Double(frame) / rate) }
        #expect(abs(last - rate) < 1e-6)
    }

    @Test func `a change of rate shows after a second`() {
        var rate = FrameRate()
        for frame in 0..<90 { _ = rate.frame(at: Double(frame) / 30) }
        var last = 0.0
        for frame in 0..<15 { last = rate.frame(at: 3 + Double(frame) / 10) }
        #expect(abs(last - 10) < 0.5)
    }

    @Test func `a clock that starts anew starts the rate anew`() {
        var rate = FrameRate()
        for frame in 0..<90 { _ = rate.frame(at: Double(frame) / 30) }
        #expect(rate.frame(at: 0) == 0)
        #expect(abs(rate.frame(at: 0.1) - 10) < 1e-9)
        rate.reset()
        #expect(rate.frame(at: 0.2) == 0)
    }
}
