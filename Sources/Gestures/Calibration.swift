/// Measures one person's hand before one camera, and fits the settings to it.
///
/// Fed with the hands of frames in which the person was asked for a pose; what would not work is refused instead of written down.
public struct Calibration: Sendable {
    /// What the person is asked to show, in this order.
    public enum Step: String, Hashable, Sendable, CaseIterable {
        /// An open hand.
        case open
        /// Thumb and index finger touching.
        case pinch
        /// The index finger alone stretched.
        case point
        /// The same, held as still as it goes.
        case still
    }

    /// Why no settings come of it.
    public enum Refusal: Error, Hashable, Sendable {
        /// A hand was seen in too few of the frames; `share` is 0 to 1.
        case handNotSeen(Step, share: Double)
        /// Touching fingers and an open hand look alike: both gaps in palm sizes.
        case sameGap(open: Double, pinched: Double)
        /// The index finger is not stretched in this step; its reach in palm lengths.
        case notStretched(Step, reach: Double)
        /// The other fingers are as stretched as the index finger.
        case notPointing(others: Double)
        /// The hand trembles by so many palm sizes.
        case notStill(Double)
    }

    /// A measured number and the settings that follow from it.
    public struct Finding: Hashable, Sendable {
        public var what: String
        public var value: Double
        public var settles: [String]
    }

    /// Frames of a step that are needed.
    public static let neededFrames = 20
    /// Share of them with a hand.
    private static let neededShare = 0.7

    private struct Sample: Sendable {
        var gap: Double
        var reach: Double
        var others: Double
        var tip: SIMD2<Double>
    }

    private var frames: [Step: Int] = [:]
    private var samples: [Step: [Sample]] = [:]

    public init() {}

    /// A frame of a step; of several hands the largest counts.
    public mutating func saw(_ hands: [Hand], in step: Step) {
        frames[step, default: 0] += 1
        guard let shape = hands.compactMap({ HandShape($0) }).max(by: { $0.palm < $1.palm }) else { return }
        samples[step, default: []].append(
            Sample(gap: shape.gap, reach: shape.reach, others: shape.others, tip: shape.tip / shape.palm))
    }

    /// The settings that fit what was seen, over `settings`, and what they follow from.
    public func settle(over settings: GestureSettings) throws(Refusal) -> (settings: GestureSettings, findings: [Finding]) {
        for step in Step.allCases {
            let (count, seen) = (frames[step] ?? 0, samples[step]?.count ?? 0)
            let share = count == 0 ? 0 : Double(seen) / Double(count)
            guard count >= Self.neededFrames, share >= Self.neededShare else { throw .handNotSeen(step, share: share) }
        }
        var settings = settings
        let openGap = quantile(.open, 0.05, \.gap)
        let pinchGap = quantile(.pinch, 0.9, \.gap)
        let pinchReach = quantile(.pinch, 0.1, \.reach)
        let pointReach = quantile(.point, 0.1, \.reach)
        let others = quantile(.point, 0.9, \.others)
        let tremble = trembling()

        // Less than this between touching and open leaves no room for two thresholds and the noise between them.
        guard openGap - pinchGap >= 0.25 else { throw .sameGap(open: openGap, pinched: pinchGap) }
        // A fist's finger reaches 0.28 to 0.43.
        guard pinchReach >= 0.44 else { throw .notStretched(.pinch, reach: pinchReach) }
        guard pointReach >= 0.55 else { throw .notStretched(.point, reach: pointReach) }
        guard others <= 0.9 else { throw .notPointing(others: others) }
        guard tremble <= 0.25 else { throw .notStill(tremble) }

        let room = openGap - pinchGap
        (settings.pinch.unit, settings.slide.unit) = (.palm, .palm)
        settings.pinch.certainClose = hundredths(min(max(pinchGap + 0.2 * room, 0.15), 0.45))
        settings.pinch.close = hundredths(max(settings.pinch.certainClose - 0.05, 0.1))
        settings.pinch.open = hundredths(settings.pinch.certainClose + max(0.15 * room, 0.05))
        settings.pinch.wideOpen = hundredths(settings.pinch.certainClose + 0.45 * room)
        settings.pinch.reach = hundredths(min(pinchReach - 0.03, 0.5))
        settings.pinch.certainReach = hundredths(min(max(settings.pinch.reach + 0.05, pinchReach), 0.6))
        settings.slide.reach = hundredths(min(pointReach - 0.08, 0.65))
        settings.slide.pointing = hundredths(min(max(others + 0.1, 0.6), 0.95))
        settings.slide.restSpace = hundredths(min(max(2 * tremble, 0.08), 0.3))
        settings.slide.openRestSpace = hundredths(settings.slide.restSpace / 2)
        let findings = [
            Finding(what: "smallest gap of the open hand", value: openGap, settles: ["pinch.open", "pinch.wide_open"]),
            Finding(what: "largest gap of touching fingers", value: pinchGap, settles: ["pinch.close", "pinch.certain_close"]),
            Finding(what: "smallest reach of the pinching finger", value: pinchReach, settles: ["pinch.reach", "pinch.certain_reach"]),
            Finding(what: "smallest reach of the pointing finger", value: pointReach, settles: ["slide.reach"]),
            Finding(what: "largest reach of the other fingers, of the index finger's", value: others, settles: ["slide.pointing"]),
            Finding(
                what: "trembling of the still finger, in palms", value: tremble, settles: ["slide.rest_space", "slide.open_rest_space"]),
        ]
        return (settings, findings.map { Finding(what: $0.what, value: hundredths($0.value), settles: $0.settles) })
    }

    private func quantile(_ step: Step, _ share: Double, _ measure: (Sample) -> Double) -> Double {
        let values = (samples[step] ?? []).map(measure).sorted()
        guard !values.isEmpty else { return .nan }
        return values[min(values.count - 1, Int(share * Double(values.count)))]
    }

    /// How far the still finger is from where it was five frames before, but for one frame in twenty.
    private func trembling() -> Double {
        let tips = (samples[.still] ?? []).map(\.tip)
        let ways = zip(tips, tips.dropFirst(5)).map { max(abs($1.x - $0.x), abs($1.y - $0.y)) }.sorted()
        guard !ways.isEmpty else { return .infinity }
        return ways[min(ways.count - 1, Int(0.95 * Double(ways.count)))]
    }
}

private func hundredths(_ value: Double) -> Double { (value * 100).rounded() / 100 }
