import TestSupport

@testable import Gestures

/// Shows hands to a recogniser, frame by frame, and remembers what it made of them.
struct Stage {
    var recognizer: GestureRecognizer
    /// Of the frame, in pixels; it is three quarters as high.
    var width = 640
    /// Frames a second.
    var rate: Double
    var noise = 0.0
    private(set) var seen: [(time: Double, event: GestureEvent)] = []
    /// Of the next frame.
    private(set) var time = 0.0
    private var random: SeededGenerator

    init(
        settings: GestureSettings = GestureSettings(), mirrored: Bool = false, brightness: Double = 50, rate: Double = 30, seed: UInt64 = 1
    ) {
        recognizer = GestureRecognizer(settings: settings, mirrored: mirrored, brightness: brightness)
        self.rate = rate
        random = SeededGenerator(seed: seed)
    }

    /// Shows `scene` for `seconds`; it is given the seconds since its own start.
    mutating func show(_ seconds: Double, _ scene: (Double) -> [SyntheticHand]) {
        let (start, end) = (time, time + seconds)
        while time < end - 1e-9 {
            show(scene(time - start), at: time)
            time += 1 / rate
        }
    }

    mutating func show(_ seconds: Double, _ hands: SyntheticHand...) { show(seconds) { _ in hands } }

    /// Turns one pose into another, smoothly.
    mutating func show(_ seconds: Double, from first: SyntheticHand, to second: SyntheticHand) {
        show(seconds) { [first.turning(into: second, ease($0 / seconds))] }
    }

    mutating func show(_ hands: [SyntheticHand], at time: Double) {
        let hands = hands.map { $0.hand(noise: noise, from: &random) }
        seen += recognizer.saw(hands, width: width, height: width * 3 / 4, at: time).map { (time, $0) }
    }

    /// A hand that is open, pinches for `seconds` and is open again, at one place.
    mutating func pinch(_ seconds: Double = 0.6, open: SyntheticHand = .open) {
        let pinched = open.turning(into: .pinched, 1)
        show(0.6, open)
        show(0.2, from: open, to: pinched)
        show(seconds, pinched)
        show(0.2, from: pinched, to: open)
        show(0.6, open)
    }

    /// A hand that rests, moves by `way` pixels and rests again.
    mutating func slide(_ way: Double, _ seconds: Double = 1, from hand: SyntheticHand = .pointing, rest: Double = 0.8) {
        show(rest, hand)
        show(seconds) { [hand.moved(way * ease($0 / seconds))] }
        show(rest, hand.moved(way))
    }

    var events: [GestureEvent] { seen.map(\.event) }

    var toggles: [(time: Double, hand: Hand.Side)] {
        seen.compactMap { time, event in
            if case .toggle(let hand, _) = event { (time, hand) } else { nil }
        }
    }

    struct Step: Hashable {
        var value: Double
        var phase: GestureEvent.Phase
        var displacement: Double
    }

    var steps: [Step] {
        events.compactMap { event in
            if case .brightness(let value, let phase, let displacement) = event {
                Step(value: value, phase: phase, displacement: displacement)
            } else {
                nil
            }
        }
    }

    var phases: [GestureEvent.Phase] { steps.map(\.phase) }

    /// Each event by its kind alone.
    var kinds: [String] {
        events.map { event in
            switch event {
            case .toggle(let hand, _): "toggle \(hand)"
            case .brightness(_, let phase, _): "\(phase)"
            }
        }
    }

    /// The kinds without the steps of a slide, whose number depends on the frame rate.
    var milestones: [String] { kinds.filter { $0 != "changed" } }
}
