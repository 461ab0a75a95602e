/// Doubts hands that no body has: a model shown a dog, a pattern or a blur still answers with 21 points.
///
/// The limits are the widest values of real and rendered hands in labelled clips, with a margin: index finger 0.45–1.18 and middle finger
/// 0.45–1.27 palm lengths along the bones, palms that grew or shrank by up to 5.7 a second (natural logarithm) and moved by up to
/// 14.4 palms a second.
struct HandPlausibility: Sendable {
    private var last: (knuckles: SIMD2<Double>, palm: Double, time: Double)?

    /// Whether the hand may be what it seems; it is the next one's measure either way, so a doubt does not last.
    mutating func accepts(_ hand: Hand, _ shape: HandShape, at time: Double) -> Bool {
        defer { last = (shape.knuckles, shape.palm, time) }
        guard isAnatomical(hand) else { return false }
        guard let last, time > last.time else { return true }
        let interval = time - last.time
        let way = (shape.knuckles - last.knuckles) / last.palm
        let growth = shape.palm > last.palm ? shape.palm / last.palm : last.palm / shape.palm
        // A ratio of 1.25 a frame is noise whatever the frame rate.
        return (way * way).sum().squareRoot() <= max(0.5, 20 * interval) && growth <= 1.25 + 8 * interval
    }

    private func isAnatomical(_ hand: Hand) -> Bool {
        let palm = hand.distance(Joint.wrist.rawValue, Joint.middleMCP.rawValue)
        for root in [Joint.indexMCP.rawValue, Joint.middleMCP.rawValue] {
            let finger = (0..<3).reduce(0) { $0 + hand.distance(root + $1, root + $1 + 1) }
            guard (0.4...1.4).contains(finger / palm) else { return false }
        }
        return true
    }
}
