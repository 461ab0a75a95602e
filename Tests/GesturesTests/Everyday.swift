import Glibc
import TestSupport

@testable import Gestures

/// What hands do all day that is meant for nobody's lamp, as a trace that goes on for as long as it is asked.
struct Everyday {
    private var random: SeededGenerator
    private var track = 0
    /// What was shown since when, for a person who looks for the cause of an event.
    private(set) var played: [(since: Double, what: String)] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Shows about `seconds` of it.
    mutating func play(_ seconds: Double, on stage: inout Stage) {
        let end = stage.time + seconds
        while stage.time < end {
            let activities: [(String, (inout Self, inout Stage) -> Void)] = [
                ("talk", { $0.talk(on: &$1) }), ("pass by", { $0.passBy(on: &$1) }), ("rest", { $0.rest(on: &$1) }),
                ("close a fist", { $0.closeFist(on: &$1) }), ("turn", { $0.turn(on: &$1) }), ("reach up", { $0.reachUp(on: &$1) }),
                ("grasp", { $0.grasp(on: &$1) }), ("be away", { $1.show($0.between(0.4, 4)) }),
            ]
            let (what, act) = activities[Int.random(in: activities.indices, using: &random)]
            played.append((stage.time, what))
            act(&self, &stage)
        }
    }

    private mutating func between(_ low: Double, _ high: Double) -> Double { Double.random(in: low...high, using: &random) }

    /// A new hand somewhere in the picture.
    private mutating func newHand(_ pose: SyntheticHand = .open) -> SyntheticHand {
        track += 1
        var hand = pose.with(track: track, side: Bool.random(using: &random) ? .left : .right)
        hand.palm = between(45, 150)
        hand.wrist = SIMD2(between(200, 440), between(300, 420))
        hand.rotation = between(-0.4, 0.4)
        return hand
    }

    /// Gestures of speech: never still, the shape always changing a little.
    private mutating func talk(on stage: inout Stage) {
        let hand = newHand()
        let (seconds, speed) = (between(3, 12), between(0.35, 1.2))
        let phases = (0..<6).map { _ in between(0, 6.28) }
        stage.show(seconds) { time in
            func wave(_ index: Int, _ factor: Double) -> Double { sin(speed * factor * time * 6.28 + phases[index]) }
            var moving = hand.moved(
                hand.palm * (0.7 * wave(0, 1) + 0.3 * wave(1, 2.3)), hand.palm * (0.6 * wave(2, 0.8) + 0.3 * wave(3, 1.9)))
            moving.gap = 0.85 + 0.2 * wave(4, 1.1)
            moving.curl = max(0, 0.4 * wave(5, 0.7))
            moving.rotation += 0.25 * wave(1, 0.6)
            return [moving]
        }
    }

    /// An arm that crosses the picture without stopping.
    private mutating func passBy(on stage: inout Stage) {
        let hand = newHand(Bool.random(using: &random) ? .open : .pointing)
        let (seconds, side) = (between(0.5, 2), Bool.random(using: &random) ? 1.0 : -1.0)
        let height = between(-60, 60)
        stage.show(seconds) { [hand.moved(side * (-420 + 840 * $0 / seconds), height * $0 / seconds)] }
    }

    /// A hand that lies or hangs there, trembling.
    private mutating func rest(on stage: inout Stage) {
        var hand = newHand([.open, .pointing, .fist].randomElement(using: &random) ?? .open)
        if hand.gap > 0.5 { hand.gap = between(0.55, 1.1) }
        let (seconds, amount, rate) = (between(4, 20), between(0.005, 0.03), between(4, 9))
        stage.show(seconds) { [hand.moved(hand.palm * amount * sin($0 * rate * 6.28), hand.palm * amount * cos($0 * rate * 5))] }
    }

    private mutating func closeFist(on stage: inout Stage) {
        let hand = newHand()
        let fist = hand.turning(into: .fist, 1)
        stage.show(between(0.3, 2), hand)
        stage.show(between(0.15, 0.6), from: hand, to: fist)
        stage.show(between(0.3, 3), fist)
        stage.show(between(0.15, 0.6), from: fist, to: hand)
        stage.show(between(0.3, 1), hand)
    }

    /// The palm turns towards the ground and back.
    private mutating func turn(on stage: inout Stage) {
        let hand = newHand()
        var turned = hand
        (turned.lean, turned.rotation) = (between(0.5, 1.1), hand.rotation + between(-0.5, 0.5))
        stage.show(between(0.3, 2), hand)
        stage.show(between(0.3, 1), from: hand, to: turned)
        stage.show(between(0.3, 2), turned)
        stage.show(between(0.3, 1), from: turned, to: hand)
    }

    private mutating func reachUp(on stage: inout Stage) {
        let hand = newHand(Bool.random(using: &random) ? .open : .pointing)
        let (seconds, way, sideways) = (between(0.4, 1.2), between(100, 220), between(-30, 30))
        stage.show(between(0.3, 1.5), hand)
        stage.show(seconds) { [hand.moved(sideways * ease($0 / seconds), -way * ease($0 / seconds))] }
        stage.show(between(0.2, 1), hand.moved(sideways, -way))
    }

    /// A cup or a pen: fingers close around something and stay apart by its thickness.
    private mutating func grasp(on stage: inout Stage) {
        let hand = newHand()
        var holding = hand
        (holding.gap, holding.reach, holding.curl) = (between(0.45, 0.6), between(0.5, 0.65), between(0.4, 0.8))
        stage.show(between(0.2, 0.8), hand)
        stage.show(between(0.2, 0.5), from: hand, to: holding)
        stage.show(between(1, 6), holding)
        stage.show(between(0.2, 0.5), from: holding, to: hand)
    }
}
