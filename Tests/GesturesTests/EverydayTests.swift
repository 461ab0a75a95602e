import Testing

@testable import Gestures

@Suite struct EverydayTests {
    /// The noise of a still fingertip measured 0.001 of the frame's width in the median, 0.64 pixels here.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `an hour of everyday movement does nothing`(seed: UInt64) {
        var stage = Stage(rate: [30, 15, 30, 24][Int(seed) - 1], seed: seed)
        stage.noise = 0.64
        var everyday = Everyday(seed: seed)
        everyday.play(15 * 60, on: &stage)
        let causes = stage.seen.filter { if case .brightness(_, .changed, _) = $0.event { false } else { true } }.map { time, event in
            "\(event) at \(time) in \(everyday.played.last { $0.since <= time }?.what ?? "")"
        }
        #expect(causes == [])
    }

    @Test func `in the midst of it a pinch and a slide still work`() {
        var stage = Stage()
        var everyday = Everyday(seed: 9)
        everyday.play(60, on: &stage)
        stage.show(0.5)
        stage.pinch()
        stage.show(0.5)
        stage.slide(-128)
        #expect(stage.toggles.count == 1)
        #expect(stage.recognizer.brightness > 65)
    }
}
