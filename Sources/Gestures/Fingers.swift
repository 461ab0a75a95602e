/// The fingers of one hand that are stretched out.
public struct FingerPose: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let thumb = FingerPose(rawValue: 1)
    public static let index = FingerPose(rawValue: 2)
    public static let middle = FingerPose(rawValue: 4)
    public static let ring = FingerPose(rawValue: 8)
    public static let little = FingerPose(rawValue: 16)
    public static let all: FingerPose = [.thumb, .index, .middle, .ring, .little]

    public var count: Int { rawValue.nonzeroBitCount }

    private static let chains: [(finger: FingerPose, root: Joint)] = [
        (.index, .indexMCP), (.middle, .middleMCP), (.ring, .ringMCP), (.little, .littleMCP),
    ]

    /// Reads the fingers of a hand; one between the thresholds stays what it was in `previous`.
    ///
    /// Thresholds from 12 labelled stills: a stretched finger is straighter than 0.99 and its tip 1.29 times as far from the wrist as its
    /// middle joint, a folded one at most 0.86 and 1.03; a thumb that points away is straighter than 0.97, 1.23 times as far from the
    /// little finger's knuckle as its own, and 1.0 palms from the middle finger's; one that does not misses one of the three.
    init(_ hand: Hand, previous: FingerPose) {
        func straightness(_ root: Int) -> Double {
            hand.distance(root, root + 3)
                / (hand.distance(root, root + 1) + hand.distance(root + 1, root + 2) + hand.distance(root + 2, root + 3))
        }
        let wrist = Joint.wrist.rawValue
        var pose: FingerPose = []
        for (finger, joint) in Self.chains {
            let root = joint.rawValue
            let (straight, far) = (straightness(root), hand.distance(wrist, root + 3) / hand.distance(wrist, root + 1))
            if previous.contains(finger) ? straight > 0.87 && far > 1.06 : straight > 0.94 && far > 1.16 { pose.insert(finger) }
        }
        let thumb = Joint.thumbCMC.rawValue
        let little = Joint.littleMCP.rawValue
        let straight = straightness(thumb)
        let away = hand.distance(thumb + 3, little) / hand.distance(thumb + 1, little)
        let spread = hand.distance(thumb + 3, Joint.middleMCP.rawValue) / hand.distance(wrist, Joint.middleMCP.rawValue)
        if previous.contains(.thumb)
            ? straight > 0.9 && away > 1.1 && spread > 0.8 : straight > 0.94 && away > 1.17 && spread > 0.9
        {
            pose.insert(.thumb)
        }
        self = pose
    }
}

/// A count of fingers that changes only when the new number has stood for a while.
struct FingerCounter: Sendable {
    /// Seconds: a hand that opens passes through every number in about this time.
    static let patience = 0.3

    private(set) var value = 0
    private var candidate: (count: Int, since: Double)?

    mutating func saw(_ count: Int, at time: Double) {
        guard count != value else {
            candidate = nil
            return
        }
        guard let current = candidate, current.count == count else {
            candidate = (count, time)
            return
        }
        if time - current.since >= Self.patience { (value, candidate) = (count, nil) }
    }
}
