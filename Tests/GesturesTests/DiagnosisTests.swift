import Testing

@testable import Gestures

struct DiagnosisTests {
    @Test func `a pinch is told step by step, with what it waits for`() throws {
        var stage = Stage()
        #expect(stage.recognizer.diagnosis == nil)
        var seen: [Diagnosis.Pinch] = []
        var dwells: [Double] = []
        func look() {
            guard let diagnosis = stage.recognizer.diagnosis else { return }
            if seen.last != diagnosis.pinch { seen.append(diagnosis.pinch) }
            dwells.append(diagnosis.dwell)
        }
        for step in 0..<60 {
            let isPinched = (20..<45).contains(step)
            stage.show([isPinched ? .pinched : .open], at: Double(step) / 30)
            look()
        }
        #expect(seen == [.unarmed, .open, .closing, .pinched, .opening, .open])
        #expect(dwells.allSatisfy { (0...1).contains($0) } && dwells.contains { $0 > 0 && $0 < 1 })
    }

    @Test func `gap and reach are those that the limits are compared with`() throws {
        var stage = Stage()
        stage.show(0.6, .open)
        let open = try #require(stage.recognizer.diagnosis)
        #expect(open.gap > stage.recognizer.settings.pinch.open && open.reach > stage.recognizer.settings.pinch.certainReach)
        stage.show(0.6, .pinched)
        let pinched = try #require(stage.recognizer.diagnosis)
        #expect(pinched.gap < stage.recognizer.settings.pinch.close && pinched.pinch == .pinched && pinched.track == open.track)
    }

    @Test func `a slide shows, and without a hand there is nothing to tell`() throws {
        var stage = Stage()
        stage.show(0.8, .pointing)
        #expect(stage.recognizer.diagnosis?.slide == .resting)
        stage.show(0.6) { [SyntheticHand.pointing.moved(-200 * $0)] }
        #expect(stage.recognizer.diagnosis?.slide == .sliding)
        stage.show([], at: stage.time)
        #expect(stage.recognizer.diagnosis == nil)
    }
}
