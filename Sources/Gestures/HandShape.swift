internal import Glibc

/// What the gestures need to know of a hand in one frame, free of its size and distance.
struct HandShape: Hashable, Sendable {
    /// Thumb tip to index tip in palm sizes: the larger of palm length and 1.3 × palm width, so that neither a tilted nor a turned
    /// palm makes it look larger than it is.
    var gap: Double
    /// Index tip to index knuckle in palm lengths, measured in space: how far the finger is stretched.
    var reach: Double
    /// How far the middle and ring fingers are stretched, the further of them, in parts of the index finger's reach: 0.5–0.6 in a hand
    /// that points, 0.8 and more in one that hangs loose, 1.1 in an open one.
    var others: Double
    /// Index tip, in pixels.
    var tip: SIMD2<Double>
    /// Middle of the four knuckles, in pixels: moves with the hand, hardly with its fingers.
    var knuckles: SIMD2<Double>
    /// Direction from the wrist to the middle knuckle, in radians.
    var angle: Double
    /// The palm's size in pixels.
    var palm: Double
    /// How fast the gap was closing lately, in palm sizes a second.
    var closingSpeed = 0.0
    /// The gap that the hand lately had when it was open, 0 where it was not seen open; in the gap's unit.
    var openGap = 0.0

    init?(_ hand: Hand) {
        func point(_ joint: Joint) -> SIMD2<Double> { SIMD2(Double(hand[joint].x), Double(hand[joint].y)) }
        func distance(_ a: Joint, _ b: Joint) -> Double { length(point(a) - point(b)) }
        palm = max(distance(.wrist, .middleMCP), 1.3 * distance(.indexMCP, .littleMCP))
        let worldPalm = hand.distance(.wrist, .middleMCP)
        gap = distance(.thumbTip, .indexTip) / palm
        let index = hand.distance(.indexTip, .indexMCP)
        reach = index / worldPalm
        others = max(hand.distance(.middleTip, .middleMCP), hand.distance(.ringTip, .ringMCP)) / index
        tip = point(.indexTip)
        knuckles = (point(.indexMCP) + point(.middleMCP) + point(.ringMCP) + point(.littleMCP)) / 4
        let axis = point(.middleMCP) - point(.wrist)
        angle = atan2(axis.y, axis.x)
        guard gap.isFinite, reach.isFinite, others.isFinite, palm > 0, tip.x.isFinite, tip.y.isFinite, knuckles.x.isFinite,
            knuckles.y.isFinite
        else {
            return nil
        }
    }
}

extension HandShape {
    /// Thumb tip to index tip in a picture whose sides are both 1.
    static func pictureGap(_ hand: Hand, width: Int, height: Int) -> Double {
        let (thumb, index) = (hand[.thumbTip], hand[.indexTip])
        return length(SIMD2(Double(thumb.x - index.x) / Double(width), Double(thumb.y - index.y) / Double(height)))
    }

    /// Whether the knuckles are still where they were: within a third of a palm, more than a steady hand sways.
    func isStill(_ other: HandShape) -> Bool { length(other.knuckles - knuckles) <= palm / 3 }
}

private func length(_ vector: SIMD2<Double>) -> Double { (vector * vector).sum().squareRoot() }
