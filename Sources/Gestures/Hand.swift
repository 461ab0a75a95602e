/// A point of a hand.
public struct Landmark: Hashable, Sendable {
    public var x: Float
    public var y: Float
    public var z: Float

    public init(x: Float, y: Float, z: Float) {
        (self.x, self.y, self.z) = (x, y, z)
    }
}

/// The 21 points of MediaPipe's hand model, in its order.
public enum Joint: Int, CaseIterable, Sendable {
    case wrist
    case thumbCMC, thumbMCP, thumbIP, thumbTip
    case indexMCP, indexPIP, indexDIP, indexTip
    case middleMCP, middlePIP, middleDIP, middleTip
    case ringMCP, ringPIP, ringDIP, ringTip
    case littleMCP, littlePIP, littleDIP, littleTip
}

/// One hand as seen in one frame.
public struct Hand: Sendable {
    /// The person's own hand.
    public enum Side: String, Sendable {
        case left, right
    }

    /// Names one hand from frame to frame for as long as it is followed without a gap; never used again.
    public var track: Int
    public var side: Side
    /// 0 to 1: how sure the model is that there is a hand (MediaPipe's presence; it has none per point).
    public var presence: Float
    /// 21 points in pixels of the upright frame, x to the right and y down; z in the same unit, smaller is nearer, 0 at the wrist.
    public var points: Points
    /// The same points in metres about the hand's centre.
    public var world: Points

    /// One landmark a joint, in the joints' order.
    public typealias Points = [21 of Landmark]

    public init(track: Int, side: Side, presence: Float, points: Points, world: Points) {
        (self.track, self.side, self.presence, self.points, self.world) = (track, side, presence, points, world)
    }

    public subscript(joint: Joint) -> Landmark { points[joint.rawValue] }

    /// Distance in space between two joints, in metres.
    func distance(_ a: Joint, _ b: Joint) -> Double { distance(a.rawValue, b.rawValue) }

    /// The same for joints by their number.
    func distance(_ a: Int, _ b: Int) -> Double {
        let (p, q) = (world[a], world[b])
        let side = SIMD3(Double(p.x - q.x), Double(p.y - q.y), Double(p.z - q.z))
        return (side * side).sum().squareRoot()
    }
}
