import Contract
import Recognizer
import Testing

@Suite struct StateTests {
    private let state = CameraState(brightness: 50, hand: true, pinch: .open, fps: 30, armed: false, arming: 0, frameAge: 0)

    @Test func `what somebody may act on is published a quarter of a second after the last, frames' rate and age seldom`() {
        var throttle = StateThrottle()
        #expect(throttle.update(state, at: 0) == state)
        var older = state
        (older.frameAge, older.fps) = (2.5, 0)
        #expect(throttle.update(older, at: 1) == nil)
        var armed = older
        (armed.armed, armed.arming) = (true, 1)
        #expect(throttle.update(armed, at: 1.1) == armed)
        var troubled = armed
        troubled.problem = "the camera was unplugged"
        #expect(throttle.update(troubled, at: 1.2) == nil)
        #expect(throttle.due(at: 1.35) == troubled)
        troubled.frameAge = 9
        #expect(throttle.update(troubled, at: 11) == nil)
        #expect(throttle.due(at: 11.4) == troubled)
    }

    @Test func `a frame's age is told while frames are expected`() {
        var watch = FrameWatch()
        #expect(watch.frameAge(at: 5) == nil)
        watch.sawFrame(at: 10)
        #expect(watch.frameAge(at: 12.5) == 2.5)
        watch.paused(true, at: 13)
        #expect(watch.frameAge(at: 14) == nil)
    }

    @Test func `what is not there is left out of the payload`() throws {
        let payload = String(decoding: Payload.encode(CameraState(brightness: 1, hand: false, pinch: .none, fps: 0)), as: UTF8.self)
        #expect(payload == #"{"armed":true,"arming":1,"brightness":1,"fps":0,"hand":false,"pinch":"none"}"#)
        #expect(try Payload.decode(CameraState.self, from: Array(payload.utf8)).frameAge == nil)
    }
}
