import TestSupport
import Testing

@testable import Gestures

@Suite struct CalibrationTests {
    private func measured(
        open: SyntheticHand = .open, pinch: SyntheticHand = .pinched, point: SyntheticHand = .pointing, sway: Double = 0,
        missing: Calibration.Step? = nil
    ) -> Calibration {
        var calibration = Calibration()
        var random = SeededGenerator(seed: 5)
        for (step, hand) in [(Calibration.Step.open, open), (.pinch, pinch), (.point, point), (.still, point)] {
            for frame in 0..<90 {
                let swaying = step == .still ? hand.moved(frame / 5 % 2 == 0 ? 0 : sway) : hand
                calibration.saw(step == missing ? [] : [swaying.hand(noise: 0.6, from: &random)], in: step)
            }
        }
        return calibration
    }

    @Test func `settings fitted to a hand lie between its poses, and work for it`() throws {
        let (settings, findings) = try measured().settle(over: GestureSettings())
        #expect(settings.pinch.certainClose > 0.12 && settings.pinch.open < 0.85)
        #expect(settings.pinch.close <= settings.pinch.certainClose && settings.pinch.certainClose < settings.pinch.open)
        #expect(settings.pinch.open < settings.pinch.wideOpen)
        #expect(Set(findings.flatMap(\.settles)).count == 10)
        var stage = Stage(settings: settings)
        stage.noise = 0.6
        stage.pinch()
        stage.show(0.5)
        stage.slide(-128)
        #expect(stage.toggles.count == 1)
        #expect(stage.recognizer.brightness > 65)
    }

    @Test func `a hand that cannot be told open from pinched is refused`() {
        #expect(throws: Calibration.Refusal.self) { try measured(open: .pinched).settle(over: GestureSettings()) }
    }

    @Test func `a fist for a pinch is refused`() {
        do {
            _ = try measured(pinch: .fist).settle(over: GestureSettings())
            Issue.record("it was accepted")
        } catch {
            guard case .notStretched(.pinch, _) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test func `an open hand is no pointing one`() {
        do {
            _ = try measured(point: .open).settle(over: GestureSettings())
            Issue.record("it was accepted")
        } catch {
            guard case .notPointing = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test func `a finger that does not rest is refused`() {
        do {
            _ = try measured(sway: 60).settle(over: GestureSettings())
            Issue.record("it was accepted")
        } catch {
            guard case .notStill = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test(arguments: Calibration.Step.allCases)
    func `a step without a hand is refused`(step: Calibration.Step) {
        #expect(throws: Calibration.Refusal.handNotSeen(step, share: 0)) { try measured(missing: step).settle(over: GestureSettings()) }
    }
}
