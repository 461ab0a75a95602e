import Glibc
import TestSupport
import Testing

/// From the pixels of a clip through the real models, a real broker and both services to a real HomeKit lamp.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WholePathTests {
    @Test func `two pinches in a clip switch the lamp on and off`() async throws {
        let stage = try await Stage()
        let heard = try await stage.listen()
        let recognizer = try stage.play("pinch_hold_release_pinch.avi")
        #expect(try await recognizer.wait(within: .seconds(120)) == .exited(0))
        try await eventually("the lamp was written twice") { stage.lamp.writes.count >= 2 }
        #expect(stage.lamp.writes.map(\.on) == [true, false])
        #expect(heard.toggles == 2)
        try await eventually("the recognizer said goodbye") { heard.lines.contains("handkit/camera/desk/availability offline") }
    }

    @Test func `a finger that slides away and back dims the lamp and brings its brightness back`() async throws {
        let stage = try await Stage()
        // The lamp is off, which is level 0: a slide to darker would do nothing.
        try await stage.broker.publish("handkit/lamp/bulb/set", Array(#"{"state":"ON","brightness":60}"#.utf8))
        try await eventually("the lamp is on") { stage.lamp.writes.last?.brightness == 60 }
        let heard = try await stage.listen()
        let recognizer = try stage.play("slide_return.avi")
        #expect(try await recognizer.wait(within: .seconds(120)) == .exited(0))

        let ends = heard.lines.filter { $0.hasPrefix("handkit/camera/desk/brightness ") && $0.contains(#""phase":"ended""#) }
        #expect(ends.count == 2)
        try await eventually("the last brightness was written") {
            guard let last = stage.lamp.writes.last?.brightness else { return false }
            return abs(last - 60) <= 2
        }
        // The clip's first slide goes to the right in the picture, which an unmirrored camera's person sees as the left: 24 points darker.
        let lowest = stage.lamp.writes.compactMap(\.brightness).min() ?? 100
        #expect((30...42).contains(lowest))
        #expect(stage.lamp.writes.allSatisfy { $0.on != false })
    }

    @Test func `a hand that leaves pinched and comes back open toggles once, and a fist or an empty room never`() async throws {
        let stage = try await Stage()
        for clip in ["lost_while_pinched.avi", "fist_negative.avi", "empty_room.avi"] {
            #expect(try await stage.play(clip).wait(within: .seconds(120)) == .exited(0))
        }
        try await eventually("the lamp was written") { !stage.lamp.writes.isEmpty }
        #expect(stage.lamp.writes.map(\.on) == [true])
    }

    @Test func `when the broker dies in the middle both services come back by themselves and nothing is done twice`() async throws {
        let stage = try await Stage()
        let recognizer = try stage.play("pinch_hold_release_pinch.avi", "--loop")
        try await eventually("the first pinch switched the lamp") { stage.lamp.writes.count == 1 }
        try await stage.broker.kill()
        try await recognizer.line("that the broker is gone") { $0.contains("no connection to the broker") }
        try await recognizer.line("a pinch that nobody heard", within: .seconds(60)) {
            $0.contains("toggle ") && $0.contains("published=false")
        }
        let before = stage.lamp.writes.count
        try await stage.broker.start()
        let heard = try await stage.listen()
        try await eventually("both are online again", within: .seconds(60)) {
            [
                "handkit/camera/desk/availability online", "handkit/bridge/bridge/availability online",
                "handkit/lamp/bulb/availability online",
            ]
            .allSatisfy(heard.lines.contains)
        }
        // What was pinched while one of them was still away is lost on purpose: a late toggle is worse than none.
        let (toggles, writes) = (heard.toggles, stage.lamp.writes.count)
        try await eventually("pinches switch the lamp again") { heard.toggles >= toggles + 2 && stage.lamp.writes.count >= writes + 2 }
        recognizer.signal(SIGTERM)
        #expect(try await recognizer.wait() == .exited(0))
        // One toggle may have been on its way when the counting began.
        try await eventually("every toggle was done") { (0...1).contains(stage.lamp.writes.count - writes - (heard.toggles - toggles)) }
        #expect(stage.lamp.writes.count >= before + 2)
        let states = stage.lamp.writes.compactMap(\.on)
        #expect(zip(states, states.dropFirst()).allSatisfy { $0 != $1 })
    }
}
