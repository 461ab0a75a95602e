import Glibc
import TestSupport
import Testing

@testable import Gestures

/// One thing a person does with one hand, from rest to rest.
private enum Move: CaseIterable {
    case pinch, slideLeft, slideRight, raise, fist, leave, appearPinched

    /// What is seen `time` seconds after its start, nil for no hand; each takes `duration`.
    func pose(_ time: Double) -> SyntheticHand? {
        let base = SyntheticHand.pointing
        func thereAndBack(_ other: SyntheticHand) -> SyntheticHand {
            time < 1.5 ? base.turning(into: other, ease((time - 0.7) / 0.25)) : base.turning(into: other, 1 - ease((time - 1.5) / 0.25))
        }
        switch self {
        case .pinch: return thereAndBack(.pinched)
        case .fist: return thereAndBack(.fist)
        case .slideLeft, .slideRight:
            let way = (self == .slideLeft ? -110 : 110) * ease((time - 0.7) / 0.8)
            return base.moved(way * (time < 2.2 ? 1 : 1 - ease((time - 2.2) / 0.8)))
        case .raise: return base.moved(0, -120 * ease((time - 0.7) / 0.6) * (1 - ease((time - 2) / 0.6)))
        case .leave: return (0.7...2).contains(time) ? nil : base
        case .appearPinched:
            if (0.7...1.5).contains(time) { return nil }
            return time < 0.7 || time > 2.2 ? base : base.turning(into: .pinched, 1)
        }
    }

    static let duration = 3.6
}

private struct Scenario {
    var moves: [Move]

    init(_ random: inout SeededGenerator) {
        moves = (0..<8).map { _ in Move.allCases.randomElement(using: &random) ?? .pinch }
    }

    /// With a second of rest at the end, so that a slow camera sees the last slide end.
    var duration: Double { Double(moves.count) * Move.duration + 1 }

    func pose(_ time: Double) -> SyntheticHand? {
        let index = min(Int(time / Move.duration), moves.count - 1)
        return moves[index].pose(time - Double(index) * Move.duration)
    }

    func played(
        rate: Double = 30, width: Int = 640, mirrored: Bool = false, _ change: (SyntheticHand) -> SyntheticHand = { $0 }
    ) -> Stage {
        var stage = Stage(mirrored: mirrored, rate: rate)
        stage.width = width
        stage.show(duration) { time in pose(time).map { [change($0)] } ?? [] }
        return stage
    }
}

struct PropertyTests {
    private static let scenarios: [Scenario] = {
        var random = SeededGenerator(seed: 2026)
        return (0..<10).map { _ in Scenario(&random) }
    }()

    /// What each scenario gives as it is.
    private static let references = scenarios.map { $0.played() }

    @Test func `every move gives what it is meant to give`() {
        for (number, scenario) in Self.scenarios.enumerated() {
            let wanted = scenario.moves.flatMap { move in
                switch move {
                case .pinch: ["toggle right"]
                case .slideLeft, .slideRight: ["began", "ended", "began", "ended"]
                case .raise, .fist, .leave, .appearPinched: [String]()
                }
            }
            #expect(Self.references[number].milestones == wanted, "scenario \(number): \(scenario.moves)")
        }
    }

    @Test(arguments: [0.25, 0.5, 2, 3])
    func `a larger or smaller picture changes no event`(scale: Double) {
        for (scenario, reference) in zip(Self.scenarios, Self.references) {
            let stage = scenario.played(width: Int(640 * scale)) { hand in
                var hand = hand
                hand.palm *= scale
                hand.wrist *= scale
                return hand
            }
            expectSame(stage.events, reference.events)
        }
    }

    @Test func `a mirrored picture that is known to be one changes no event`() {
        for (scenario, reference) in zip(Self.scenarios, Self.references) {
            var stage = Stage(mirrored: true)
            var events: [GestureEvent] = []
            var random = SeededGenerator(seed: 0)
            var time = 0.0
            while time < scenario.duration - 1e-9 {
                let hands = scenario.pose(time).map { [$0.hand(from: &random).mirrored(width: 640)] } ?? []
                events += stage.recognizer.saw(hands, width: 640, height: 480, at: time)
                time += 1 / 30
            }
            expectSame(events, reference.events)
        }
    }

    @Test(arguments: [(-100.0, -80.0), (120, 60), (0, 100)])
    func `where in the picture the hand is changes no event`(x: Double, y: Double) {
        for (scenario, reference) in zip(Self.scenarios, Self.references) {
            expectSame(scenario.played { $0.moved(x, y) }.events, reference.events)
        }
    }

    @Test(arguments: [10.0, 12, 15, 20, 24, 25, 50, 60, 100, 120])
    func `how many frames a second there are changes no toggle, no beginning and no end`(rate: Double) {
        for (number, scenario) in Self.scenarios.enumerated() {
            #expect(scenario.played(rate: rate).milestones == Self.references[number].milestones, "scenario \(number): \(scenario.moves)")
        }
    }

    @Test(arguments: [5.0, 7.5])
    func `a camera of a few frames a second shows every pinch, and none that was not there`(rate: Double) {
        for (number, scenario) in Self.scenarios.enumerated() {
            #expect(scenario.played(rate: rate).toggles.count == Self.references[number].toggles.count, "scenario \(number)")
        }
    }

    @Test(arguments: [-0.35, 0.35])
    func `a camera that hangs askew changes no toggle, no beginning and no end`(angle: Double) {
        let (sine, cosine) = (sin(angle), cos(angle))
        for (number, scenario) in Self.scenarios.enumerated() {
            let stage = scenario.played { hand in
                var hand = hand
                let (x, y) = (hand.wrist.x - 320, hand.wrist.y - 240)
                hand.wrist = SIMD2(320 + x * cosine - y * sine, 240 + x * sine + y * cosine)
                hand.rotation += angle
                return hand
            }
            #expect(stage.milestones == Self.references[number].milestones, "scenario \(number): \(scenario.moves)")
        }
    }

    @Test(arguments: [(480, 1.0), (854, 1), (1280, 2), (1080, 1.5)])
    func `a picture of another shape around the same hand changes no toggle, no beginning and no end`(width: Int, scale: Double) {
        for (number, scenario) in Self.scenarios.enumerated() {
            let stage = scenario.played(width: width) { hand in
                var hand = hand
                hand.palm *= scale
                hand.wrist = SIMD2(Double(width) / 2 + (hand.wrist.x - 320) * scale, hand.wrist.y * scale)
                return hand
            }
            #expect(stage.milestones == Self.references[number].milestones, "scenario \(number): \(scenario.moves)")
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a tracker's noise, lost frames and uneven times change no toggle, no beginning and no end`(seed: UInt64) {
        for (number, scenario) in Self.scenarios.enumerated() {
            var random = SeededGenerator(seed: seed)
            var stage = Stage(seed: seed)
            stage.noise = 0.64
            var wasLost = false
            for frame in 0..<Int(scenario.duration * 30) {
                let time = (Double(frame) + Double.random(in: -0.3...0.3, using: &random)) / 30
                // One frame in twenty does not show the hand, never two in a row, and as many are missing altogether.
                let chance = wasLost ? 1 : Double.random(in: 0...1, using: &random)
                wasLost = chance < 0.1
                if chance < 0.05 { continue }
                stage.show(wasLost ? [] : scenario.pose(time).map { [$0] } ?? [], at: time)
            }
            #expect(stage.milestones == Self.references[number].milestones, "scenario \(number): \(scenario.moves)")
        }
    }

    @Test func `the origin of the clock changes no event`() {
        for (scenario, reference) in zip(Self.scenarios, Self.references).prefix(5) {
            var stage = Stage()
            var time = 0.0
            while time < scenario.duration - 1e-9 {
                stage.show(scenario.pose(time).map { [$0] } ?? [], at: 1_000_000 + time)
                time += 1 / 30
            }
            #expect(stage.kinds == reference.kinds)
        }
    }

    @Test(arguments: [SyntheticHand.open, .pointing, .fist])
    func `ten minutes of a still hand with a tracker's noise give no event`(pose: SyntheticHand) {
        var stage = Stage(seed: 5)
        // 95 % of the points are within 0.003 of the frame's width: that radius is 2.448 deviations of a coordinate.
        stage.noise = 0.003 * 640 / 2.448
        stage.show(600, pose)
        #expect(stage.events.isEmpty)
    }

    /// The same kinds in the same number and order, with the same values but for rounding.
    private func expectSame(_ events: [GestureEvent], _ others: [GestureEvent]) {
        #expect(events.count == others.count)
        for (event, other) in zip(events, others) {
            switch (event, other) {
            case (.toggle, .toggle): #expect(event == other)
            case (.brightness(let value, let phase, _), .brightness(let otherValue, let otherPhase, _)):
                #expect(phase == otherPhase && abs(value - otherValue) < 0.05)
            default: Issue.record("\(event) is not \(other)")
            }
        }
    }
}

extension Hand {
    fileprivate func mirrored(width: Float) -> Hand {
        var hand = self
        for index in 0..<21 {
            hand.points[index].x = width - hand.points[index].x
            hand.world[index].x = -hand.world[index].x
        }
        return hand
    }
}
