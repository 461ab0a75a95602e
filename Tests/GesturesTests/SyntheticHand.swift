import Glibc
import TestSupport

@testable import Gestures

/// A hand posed by a few numbers: seen from the front, 21 joints in proportions of an adult's hand.
struct SyntheticHand {
    var track = 1
    var side = Hand.Side.right
    var presence: Float = 0.97
    /// Wrist, in pixels.
    var wrist = SIMD2(320.0, 340.0)
    /// Wrist to the middle finger's knuckle, in pixels.
    var palm = 110.0
    /// Radians; positive turns the hand clockwise on the screen.
    var rotation = 0.0
    /// By how much the hand leans towards or away from the camera, in radians: shortens the picture, not the hand.
    var lean = 0.0
    /// Thumb tip to index tip, in palm lengths.
    var gap = 0.9
    /// Index tip to index knuckle, in palm lengths.
    var reach = 0.78
    /// Direction of the index finger against the hand's own, in radians.
    var indexAngle = 0.15
    /// 0 for stretched middle, ring and little fingers, 1 for curled ones.
    var curl = 0.0

    /// All fingers spread.
    static let open = SyntheticHand()
    /// The index finger stretched, the others curled.
    static let pointing = SyntheticHand(gap: 0.8, reach: 0.8, curl: 1)
    /// Thumb and index tips touch, the other fingers stretched.
    static let pinched = SyntheticHand(gap: 0.12, reach: 0.65, indexAngle: 0.3)
    /// All fingers curled, the thumb over them.
    static let fist = SyntheticHand(gap: 0.18, reach: 0.33, indexAngle: 0.2, curl: 1)

    /// This hand on its way to `other`: its pose at the share `progress` of the way, 0 to 1.
    func turning(into other: SyntheticHand, _ progress: Double) -> SyntheticHand {
        var hand = self
        func mix(_ path: WritableKeyPath<SyntheticHand, Double>) {
            hand[keyPath: path] += (other[keyPath: path] - self[keyPath: path]) * min(max(progress, 0), 1)
        }
        [\.palm, \.rotation, \.lean, \.gap, \.reach, \.indexAngle, \.curl].forEach(mix)
        return hand
    }

    func moved(_ x: Double, _ y: Double = 0) -> SyntheticHand {
        var hand = self
        hand.wrist += SIMD2(x, y)
        return hand
    }

    func with(track: Int? = nil, side: Hand.Side? = nil) -> SyntheticHand {
        var hand = self
        hand.track = track ?? hand.track
        hand.side = side ?? hand.side
        return hand
    }

    /// Where a finger's three bones end, from its knuckle: along the line to the tip and above that line, which is `reach` long.
    ///
    /// Each bone is turned against the one before by the same angle; with bones a, b, c the square of the reach is
    /// a² + b² + c² + 2b(a + c)·cos + 2ac·cos 2, which is solved for the cosine.
    private static func folded(to reach: Double) -> (SIMD2<Double>, SIMD2<Double>, SIMD2<Double>) {
        let (a, b, c) = (0.45, 0.26, 0.2)
        let rest = a * a + b * b + c * c - 2 * a * c - reach * reach
        let bend = acos(min(max((-b * (a + c) + (b * b * (a + c) * (a + c) - 4 * a * c * rest).squareRoot()) / (4 * a * c), -1), 1))
        let first = SIMD2(a, 0)
        let second = first + SIMD2(cos(bend), sin(bend)) * b
        let third = second + SIMD2(cos(2 * bend), sin(2 * bend)) * c
        let line = third / (third * third).sum().squareRoot()
        func seen(_ end: SIMD2<Double>) -> SIMD2<Double> { SIMD2((end * line).sum(), end.y * line.x - end.x * line.y) }
        return (seen(first), seen(second), seen(third))
    }

    /// The joints in palm lengths, the wrist at the origin, the middle finger's knuckle straight above it, z away from the palm.
    private var joints: [SIMD3<Double>] {
        func finger(_ knuckle: SIMD3<Double>, _ angle: Double, _ bends: (SIMD2<Double>, SIMD2<Double>, SIMD2<Double>), _ size: Double = 1)
            -> [SIMD3<Double>]
        {
            let direction = SIMD3(sin(angle), -cos(angle), 0)
            func joint(_ end: SIMD2<Double>) -> SIMD3<Double> { knuckle + (direction * end.x - SIMD3(0, 0, end.y)) * size }
            return [knuckle, joint(bends.0), joint(bends.1), joint(bends.2)]
        }
        let index = finger(SIMD3(0.25, -0.97, 0), indexAngle, Self.folded(to: reach))
        let thumbTip = index[3] + SIMD3(0.8, 0.6, 0) * gap
        let thumbBase = SIMD3(0.22, -0.18, 0)
        let others = Self.folded(to: 0.9 - 0.6 * curl)
        return [.zero, thumbBase, thumbBase + (thumbTip - thumbBase) * 0.4, thumbBase + (thumbTip - thumbBase) * 0.7, thumbTip]
            + index + finger(SIMD3(0, -1, 0), 0, others) + finger(SIMD3(-0.22, -0.95, 0), -0.12, others, 0.95)
            + finger(SIMD3(-0.42, -0.86, 0), -0.25, others, 0.8)
    }

    /// What a tracker would report of it, with noise of `deviation` pixels on every coordinate where there is a generator.
    func hand(noise deviation: Double = 0, from random: inout SeededGenerator) -> Hand {
        let joints = joints
        let (sine, cosine) = (sin(rotation), cos(rotation))
        let metresPerPixel = 0.09 / palm
        var noise = SIMD3<Double>.zero
        var points = Hand.Points(repeating: Landmark(x: 0, y: 0, z: 0))
        var world = points
        for (index, joint) in joints.enumerated() {
            if deviation > 0 { noise = SIMD3(random.normal(), random.normal(), random.normal()) * deviation }
            let leant = SIMD3(joint.x, joint.y * cos(lean) - joint.z * sin(lean), joint.y * sin(lean) + joint.z * cos(lean))
            let turned = SIMD3(leant.x * cosine - leant.y * sine, leant.x * sine + leant.y * cosine, leant.z) * palm + noise
            points[index] = Landmark(x: Float(wrist.x + turned.x), y: Float(wrist.y + turned.y), z: Float(turned.z))
            let metres = turned * metresPerPixel
            world[index] = Landmark(x: Float(metres.x), y: Float(metres.y), z: Float(metres.z))
        }
        return Hand(track: track, side: side, presence: presence, points: points, world: world)
    }

    var hand: Hand {
        var none = SeededGenerator(seed: 0)
        return hand(from: &none)
    }
}

/// Progress from 0 to 1 as a person moves: it starts and ends without a jerk.
func ease(_ progress: Double) -> Double {
    let bounded = min(max(progress, 0), 1)
    return bounded * bounded * (3 - 2 * bounded)
}
