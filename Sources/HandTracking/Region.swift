internal import Gestures
public import Imaging

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A square of the frame in which one hand is looked for, rotated so that the hand points up in it.
public struct Region: Hashable, Sendable {
    /// Pixels of the frame.
    public var center: SIMD2<Float>
    /// Length of a side, pixels.
    public var size: Float
    /// Radians; positive turns the square clockwise on the screen (y down).
    public var rotation: Float

    public init(center: SIMD2<Float>, size: Float, rotation: Float) {
        (self.center, self.size, self.rotation) = (center, size, rotation)
    }

    /// The square's own axes in the frame, each as long as a side.
    private var axes: (right: SIMD2<Float>, down: SIMD2<Float>) {
        let (sine, cosine) = (sin(rotation), cos(rotation))
        return (SIMD2(cosine, sine) * size, SIMD2(-sine, cosine) * size)
    }

    /// From the unit square, (0, 0) top left, to pixels of the frame.
    public var map: AffineMap {
        let (right, down) = axes
        return AffineMap(origin: center - (right + down) / 2, right: right, down: down)
    }

    /// Whether the square holds no finite area to look at.
    var isDegenerate: Bool {
        !(center.x.isFinite && center.y.isFinite && rotation.isFinite && size.isFinite && size >= 1)
    }

    /// The region's own axis-aligned bounds.
    private var bounds: (low: SIMD2<Float>, high: SIMD2<Float>) {
        let half = SIMD2(repeating: size * (abs(cos(rotation)) + abs(sin(rotation))) / 2)
        return (center - half, center + half)
    }

    /// Intersection over union of the axis-aligned bounds of two regions, 0 to 1.
    func overlap(with other: Region) -> Float {
        let (a, b) = (bounds, other.bounds)
        return intersectionOverUnion((a.low, a.high), (b.low, b.high))
    }
}

/// Intersection over union of two boxes given by their corners, 0 to 1.
func intersectionOverUnion(
    _ a: (low: SIMD2<Float>, high: SIMD2<Float>), _ b: (low: SIMD2<Float>, high: SIMD2<Float>)
) -> Float {
    let side = pointwiseMax(pointwiseMin(a.high, b.high) - pointwiseMax(a.low, b.low), .zero)
    let shared = side.x * side.y
    let (sideA, sideB) = (a.high - a.low, b.high - b.low)
    let total = sideA.x * sideA.y + sideB.x * sideB.y - shared
    return total > 0 ? shared / total : 0
}

/// The angle that turns the direction `from` → `to` into straight up, in −π…π.
private func uprightRotation(from: SIMD2<Float>, to: SIMD2<Float>) -> Float {
    let turn = Float.pi / 2 - atan2(-(to.y - from.y), to.x - from.x)
    return turn - 2 * .pi * ((turn + .pi) / (2 * .pi)).rounded(.down)
}

extension Region {
    // The factors of both initialisers are MediaPipe's (palm_detection_detection_to_roi, hand_landmark_landmarks_to_roi).

    /// Where the whole hand of a detected palm is.
    init(palm: PalmDetection) {
        rotation = uprightRotation(from: palm.keypoints[PalmDetection.wrist], to: palm.keypoints[PalmDetection.middleMCP])
        let side = palm.high - palm.low
        let shift = -0.5 * side.y
        center = (palm.low + palm.high) / 2 + SIMD2(-shift * sin(rotation), shift * cos(rotation))
        size = max(side.x, side.y) * 2.6
    }

    /// Where a hand seen in this frame is looked for in the next: about the joints that move least against the palm.
    init(landmarks points: Hand.Points) {
        func point(_ joint: Joint) -> SIMD2<Float> { SIMD2(points[joint.rawValue].x, points[joint.rawValue].y) }
        let fingers = ((point(.indexMCP) + point(.ringMCP)) / 2 + point(.middleMCP)) / 2
        rotation = uprightRotation(from: point(.wrist), to: fingers)

        var (low, high) = (SIMD2<Float>(repeating: .infinity), SIMD2<Float>(repeating: -.infinity))
        for joint in Self.steadyJoints {
            low = pointwiseMin(low, point(joint))
            high = pointwiseMax(high, point(joint))
        }
        let middle = (low + high) / 2
        let (sine, cosine) = (sin(-rotation), cos(-rotation))
        (low, high) = (SIMD2(repeating: .infinity), SIMD2(repeating: -.infinity))
        for joint in Self.steadyJoints {
            let offset = point(joint) - middle
            let turned = SIMD2(offset.x * cosine - offset.y * sine, offset.x * sine + offset.y * cosine)
            low = pointwiseMin(low, turned)
            high = pointwiseMax(high, turned)
        }
        let (turnedMiddle, side) = ((low + high) / 2, high - low)
        let (backSine, backCosine) = (sin(rotation), cos(rotation))
        let shifted = SIMD2(turnedMiddle.x, turnedMiddle.y - 0.1 * side.y)
        center =
            middle
            + SIMD2(shifted.x * backCosine - shifted.y * backSine, shifted.x * backSine + shifted.y * backCosine)
        size = max(side.x, side.y) * 2
    }

    private static let steadyJoints: [Joint] = [
        .wrist, .thumbCMC, .thumbMCP, .thumbIP, .indexMCP, .indexPIP, .middleMCP, .middlePIP, .ringMCP, .ringPIP, .littleMCP, .littlePIP,
    ]
}
