import Testing

@testable import Gestures

struct SlideTests {
    @Test(arguments: [10.0, 15, 30, 60])
    func `a slide begins, changes and ends once, from rest to rest`(rate: Double) throws {
        var stage = Stage(rate: rate)
        stage.slide(-160)
        #expect(stage.milestones == ["began", "ended"])
        #expect(stage.phases.first == .began && stage.phases.last == .ended && stage.phases.count > 3)
        let last = try #require(stage.steps.last)
        #expect(abs(last.displacement - 0.25) < 0.01)
        #expect(abs(last.value - 75) < 1)
        #expect(stage.recognizer.brightness == last.value)
    }

    @Test(
        arguments: [
            (false, .natural, -1), (true, .natural, 1), (false, .reversed, 1), (true, .reversed, -1),
        ] as [(Bool, SlideSettings.Direction, Double)])
    func `what brightens is the person's own right, in a mirror too, unless it is reversed`(
        mirrored: Bool, direction: SlideSettings.Direction, sign: Double
    ) throws {
        var settings = GestureSettings()
        settings.slide.direction = direction
        for way in [120.0, -120] {
            var stage = Stage(settings: settings, mirrored: mirrored)
            stage.slide(way)
            let last = try #require(stage.steps.last)
            #expect(abs(last.value - (50 + 100 * sign * way / 640)) < 1)
            #expect(abs(last.displacement - sign * way / 640) < 0.01)
        }
    }

    @Test func `every value is the start and the way, and steps are worth telling`() {
        var stage = Stage(brightness: 40)
        stage.slide(-200)
        for step in stage.steps { #expect(abs(step.value - (40 + 100 * step.displacement)) < 1e-9) }
        let values = stage.steps.filter { $0.phase != .ended }.map(\.value)
        #expect(zip(values, values.dropFirst()).allSatisfy { abs($0 - $1) >= 0.5 })
    }

    @Test func `the gain that is set is the gain`() throws {
        var settings = GestureSettings()
        settings.slide.gain = 200
        var stage = Stage(settings: settings, brightness: 20)
        stage.slide(-160)
        #expect(abs(try #require(stage.steps.last).value - 70) < 2)
    }

    @Test(arguments: [(LengthUnit.palm, 55.0, ["began", "ended"]), (.palm, 110, []), (.picture, 55, []), (.picture, 110, [])])
    func `a way to begin with is one of the palm or of the picture, as it is set`(unit: LengthUnit, palm: Double, milestones: [String]) {
        var settings = GestureSettings()
        settings.slide.unit = unit
        if unit == .picture { (settings.slide.startTravel, settings.slide.startSpeed, settings.slide.stopSpeed) = (0.05, 0.1, 0.05) }
        var hand = SyntheticHand.pointing
        hand.palm = palm
        // 0.31 and 0.15 palms, 0.027 of the picture.
        var stage = Stage(settings: settings)
        stage.slide(-17, 0.4, from: hand)
        #expect(stage.milestones == milestones)
    }

    @Test func `there and back brings back the start`() throws {
        var stage = Stage(brightness: 50)
        stage.slide(-160)
        stage.slide(160, from: .pointing.moved(-160))
        #expect(stage.milestones == ["began", "ended", "began", "ended"])
        #expect(abs(try #require(stage.steps.last).value - 50) < 2)
    }

    @Test func `there and back without a stop is one slide that brings back the start`() throws {
        var stage = Stage(brightness: 50)
        stage.show(0.8, .pointing)
        stage.show(1) { [.pointing.moved(-150 * ease($0))] }
        stage.show(1) { [.pointing.moved(-150 * (1 - ease($0)))] }
        stage.show(0.8, .pointing)
        #expect(stage.milestones == ["began", "ended"])
        #expect(abs(try #require(stage.steps.last).value - 50) < 1)
        let brightest = stage.steps.map(\.value).max() ?? 0
        #expect(abs(brightest - 73.4) < 2)
    }

    @Test(arguments: [(90.0, -200.0, 100.0), (10, 200, 0)])
    func `brightness stays between 0 and 100`(start: Double, way: Double, end: Double) {
        var stage = Stage(brightness: start)
        stage.slide(way)
        #expect(stage.steps.last?.value == end)
        #expect(stage.steps.allSatisfy { (0...100).contains($0.value) })
    }

    @Test func `a start outside 0 to 100 is brought inside`() {
        #expect(GestureRecognizer(brightness: -5).brightness == 0)
        #expect(GestureRecognizer(brightness: 500).brightness == 100)
    }

    @Test func `a slide begins only from rest`() {
        var stage = Stage()
        stage.show(0.5)
        // Comes in moving and never rests.
        stage.show(1.5) { [.pointing.moved(300 - 400 * $0)] }
        stage.show(0.5)
        #expect(stage.events.isEmpty)
    }

    @Test(arguments: [200.0, 400, 800])
    func `an arm that passes by does nothing`(speed: Double) {
        for pose in [SyntheticHand.pointing, .open] {
            var stage = Stage()
            for direction in [1.0, -1] {
                stage.show(600 / speed) { [pose.moved(direction * (speed * $0 - 300), 20 * $0)] }
                stage.show(0.5)
            }
            #expect(stage.events.isEmpty)
        }
    }

    @Test func `movement up and down does nothing`() {
        var stage = Stage()
        stage.show(0.8, .pointing)
        for _ in 0..<4 {
            stage.show(0.7) { [.pointing.moved(10 * ease($0 / 0.7), -150 * ease($0 / 0.7))] }
            stage.show(0.6, .pointing.moved(10, -150))
            stage.show(0.7) { [.pointing.moved(10 - 10 * ease($0 / 0.7), -150 + 150 * ease($0 / 0.7))] }
            stage.show(0.6, .pointing)
        }
        #expect(stage.events.isEmpty)
    }

    @Test(arguments: [-0.6, 0.6])
    func `a finger that waves on a still hand does nothing`(angle: Double) {
        var bent = SyntheticHand.pointing
        bent.indexAngle += angle
        var stage = Stage()
        for _ in 0..<4 {
            stage.show(0.8, .pointing)
            stage.show(0.5, from: .pointing, to: bent)
            stage.show(0.8, bent)
            stage.show(0.5, from: bent, to: .pointing)
        }
        #expect(stage.events.isEmpty)
    }

    @Test func `a fist that moves does nothing`() {
        var stage = Stage()
        stage.slide(-200, from: .fist)
        #expect(stage.events.isEmpty)
    }

    @Test(arguments: [0.15, 0.3, 0.6])
    func `closing a fist or a pinch moves the brightness by less than a point`(seconds: Double) {
        for pose in [SyntheticHand.fist, .pinched] {
            var stage = Stage()
            for _ in 0..<3 {
                stage.show(0.8, .pointing)
                stage.show(seconds, from: .pointing, to: pose)
                stage.show(0.8, pose)
                stage.show(seconds, from: pose, to: .pointing)
            }
            #expect(stage.steps.allSatisfy { abs($0.value - 50) < 1 })
        }
    }

    @Test func `a slide ends where the hand was when it is lost`() throws {
        var stage = Stage()
        stage.show(0.8, .pointing)
        stage.show(0.6) { [.pointing.moved(-200 * $0)] }
        let before = try #require(stage.steps.last)
        stage.show(0.6)
        #expect(stage.milestones == ["began", "ended"])
        #expect(abs(try #require(stage.steps.last).value - before.value) < 0.5)
        // Back elsewhere, it does not drag the brightness along.
        stage.show(1, .pointing.moved(150))
        #expect(stage.milestones == ["began", "ended"])
    }

    @Test func `a pinch ends a slide without a jump`() throws {
        var stage = Stage()
        stage.show(0.8, .pointing)
        stage.show(0.8) { [.pointing.moved(-150 * ease($0 / 0.8))] }
        let before = try #require(stage.steps.last).value
        stage.show(0.15, from: .pointing.moved(-150), to: .pinched)
        stage.show(0.5, .pinched.moved(-150))
        #expect(stage.milestones == ["began", "ended", "toggle right"])
        #expect(abs(try #require(stage.steps.last).value - before) < 1.5)
    }

    @Test func `moving a pinched hand moves no brightness`() {
        var stage = Stage()
        stage.show(0.8, .open)
        stage.show(0.6, .pinched)
        stage.show(1) { [.pinched.moved(-200 * ease($0))] }
        stage.show(1, .pinched.moved(-200))
        #expect(stage.kinds == ["toggle right"])
    }

    @Test func `an interruption ends a slide once`() {
        var stage = Stage()
        stage.show(0.8, .pointing)
        stage.show(0.6) { [.pointing.moved(-200 * $0)] }
        let value = stage.recognizer.brightness
        #expect(stage.phases.last == .changed)
        let events = stage.recognizer.reset(width: 640)
        guard case .brightness(let last, .ended, _)? = events.first else {
            Issue.record("no end: \(events)")
            return
        }
        #expect(events.count == 1 && abs(last - value) < 0.5)
        #expect(stage.recognizer.reset(width: 640).isEmpty)
    }

    @Test func `a slide starts from where the lamp is, and goes on from its own start`() throws {
        var stage = Stage(brightness: 50)
        stage.recognizer.lampIs(at: 20)
        #expect(stage.recognizer.brightness == 20)
        stage.show(0.8, .pointing)
        stage.show(0.5) { [.pointing.moved(-160 * ease($0))] }
        #expect(stage.phases.first == .began)
        stage.recognizer.lampIs(at: 90)
        stage.show(0.5) { [.pointing.moved(-160 * ease(0.5 + $0))] }
        stage.show(0.8, .pointing.moved(-160))
        #expect(abs(try #require(stage.steps.last).value - 45) < 1)
        stage.recognizer.lampIs(at: 90)
        #expect(stage.recognizer.brightness == 90)
        stage.recognizer.lampIs(at: 900)
        #expect(stage.recognizer.brightness == 100)
    }

    @Test func `two hands slide one at a time`() throws {
        let (left, right) = (
            SyntheticHand.pointing.with(track: 1, side: .left).moved(-100), SyntheticHand.pointing.with(track: 2).moved(100)
        )
        var stage = Stage()
        stage.show(0.8, left, right)
        // The right hand starts a little later and is not listened to.
        stage.show(1.2) { [left.moved(-100 * ease($0)), right.moved(100 * ease($0 - 0.2))] }
        stage.show(0.8, left.moved(-100), right.moved(100))
        #expect(stage.milestones == ["began", "ended"])
        #expect(abs(try #require(stage.steps.last).value - 65.6) < 1)
    }
}
