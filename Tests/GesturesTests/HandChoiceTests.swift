import Testing

@testable import Gestures

@Suite struct HandChoiceTests {
    private func stage(_ change: (inout GestureSettings) -> Void) -> Stage {
        var settings = GestureSettings()
        change(&settings)
        return Stage(settings: settings)
    }

    @Test func `only the chosen hand toggles`() {
        var stage = stage { $0.hands.choice = .left }
        stage.pinch(open: .open.with(track: 1, side: .right))
        #expect(stage.toggles.isEmpty)
        stage.pinch(open: .open.with(track: 2, side: .left))
        #expect(stage.toggles.map(\.hand) == [.left])
    }

    @Test func `a hand outside the zone does nothing`() {
        var stage = stage { $0.hands.zone.right = 0.3 }
        stage.pinch()
        #expect(stage.toggles.isEmpty)
        #expect(!stage.recognizer.seesHand)
        stage.pinch(open: .open.moved(-220).with(track: 2))
        #expect(stage.toggles.count == 1)
    }

    @Test func `a hand that the model doubts does nothing`() {
        var stage = stage { $0.hands.presence = 0.98 }
        stage.pinch()
        #expect(stage.toggles.isEmpty)
    }

    @Test func `a hand with fingers that no body has does nothing`() {
        var stage = Stage()
        let pose = SyntheticHand.open
        for frame in 0..<60 {
            var hand = pose.turning(into: .pinched, frame > 20 ? 1 : 0).hand
            for joint in [Joint.indexPIP, .indexDIP, .indexTip] { hand.world[joint.rawValue].y *= 6 }
            #expect(stage.recognizer.saw([hand], width: 640, height: 480, at: Double(frame) / 30) == [])
        }
        #expect(!stage.recognizer.seesHand)
    }

    @Test func `two hands that pinch at once toggle once`() {
        var stage = Stage()
        let (left, right) = (SyntheticHand.open.moved(-150), SyntheticHand.open.moved(150).with(track: 2, side: .left))
        let (leftPinched, rightPinched) = (left.turning(into: .pinched, 1), right.turning(into: .pinched, 1))
        stage.show(0.6, left, right)
        stage.show(0.2) { [left.turning(into: leftPinched, ease($0 / 0.2)), right.turning(into: rightPinched, ease($0 / 0.2))] }
        stage.show(0.6, leftPinched, rightPinched)
        stage.show(0.6, left, right)
        #expect(stage.toggles.count == 1)
    }
}

@Suite struct ArmingTests {
    private func stage(_ mode: ArmingSettings.Mode, duration: Double = 5) -> Stage {
        var settings = GestureSettings()
        (settings.arming.mode, settings.arming.duration) = (mode, duration)
        return Stage(settings: settings)
    }

    @Test func `unless asked for, gestures always act`() {
        var stage = Stage()
        stage.pinch()
        #expect(stage.recognizer.isArmed)
        #expect(stage.toggles.count == 1)
    }

    @Test func `a palm held still arms, and its progress is told meanwhile`() {
        var stage = stage(.gesture)
        stage.pinch(open: .pointing)
        #expect(stage.toggles.isEmpty)
        stage.show(0.5, .spread)
        let progress = stage.recognizer.armingProgress
        #expect(progress > 0.3 && progress < 0.9)
        stage.show(0.6, .spread)
        #expect(stage.recognizer.isArmed)
        stage.pinch()
        #expect(stage.toggles.count == 1)
    }

    @Test func `armed gestures stop acting when their time is over, and each gesture begins it anew`() {
        var stage = stage(.gesture, duration: 3)
        stage.show(1.2, .spread)
        for _ in 0..<3 { stage.pinch() }
        #expect(stage.toggles.count == 3)
        stage.show(3.5, .pointing)
        #expect(!stage.recognizer.isArmed)
        stage.pinch(open: .pointing)
        #expect(stage.toggles.count == 3)
    }

    @Test func `a waving palm does not arm`() {
        var stage = stage(.gesture)
        stage.show(3) { [SyntheticHand.spread.moved(($0 * 4).truncatingRemainder(dividingBy: 2) < 1 ? 0 : 90)] }
        #expect(!stage.recognizer.isArmed)
    }

    @Test(arguments: [(ArmingSettings.Mode.command, true), (.both, true), (.gesture, false)])
    func `the switch arms where commands are allowed`(mode: ArmingSettings.Mode, arms: Bool) {
        var stage = stage(mode)
        stage.show(0.1, .open)
        stage.recognizer.arm(true)
        #expect(stage.recognizer.isArmed == arms)
        stage.pinch()
        #expect(stage.toggles.count == (arms ? 1 : 0))
        stage.recognizer.arm(false)
        #expect(!stage.recognizer.isArmed)
    }
}

@Suite struct FingerTests {
    @Test(arguments: [
        (SyntheticHand.spread, 5), (.pointing, 1), (.pinched, 3), (.fist, 0),
    ])
    func `stretched fingers are counted`(hand: SyntheticHand, count: Int) {
        var stage = Stage()
        stage.show(1, hand)
        #expect(stage.recognizer.fingers == count)
    }

    @Test func `the fingers of both hands count together`() {
        var stage = Stage()
        stage.show(1, .spread.moved(-150), .pointing.moved(150).with(track: 2, side: .left))
        #expect(stage.recognizer.fingers == 6)
    }

    @Test func `a count that only flashes up is not told`() {
        var stage = Stage()
        stage.show(1, .spread)
        stage.show(0.2, .fist)
        #expect(stage.recognizer.fingers == 5)
        stage.show(0.5, .fist)
        #expect(stage.recognizer.fingers == 0)
    }
}

extension SyntheticHand {
    /// All five fingers stretched, the thumb well away.
    static let spread = SyntheticHand(gap: 1.25, reach: 0.88, indexAngle: 0.1)
}
