internal import Gestures
internal import Imaging

/// One hand that is followed from frame to frame.
struct Track {
    let id: Int
    /// Where the hand was when it was last inferred, and when.
    private(set) var region: Region
    private(set) var time: Double
    /// The landmarks of the latest inference, and what the region showed then.
    private(set) var reading: LandmarkReading?
    var change = RegionChange()
    /// The landmarks of the latest frame were not inferred.
    var isSpared = false
    /// How far the tips of thumb and index finger were from where they were foretold at the latest inference, in lengths of the palm.
    private(set) var surprise = Float.infinity
    /// Mean probability of a right hand, so that a doubtful frame does not turn the hand into the other.
    private(set) var rightness: Float?
    /// Pixels a second; zero until the hand was seen twice.
    private var velocity = SIMD2<Float>.zero
    /// The inference before the latest.
    private var earlier: (reading: LandmarkReading, time: Double)?

    /// A frame's share in the vote on which hand it is: about the last ten inferences count.
    private static let voteShare: Float = 0.1
    /// How much of the movement between two inferences goes on: less than all, because what starts also stops, and jitter grows with it.
    private static let persistence: Float = 0.7
    /// Seconds between two inferences beyond which they say nothing about the next: more than two frames at 24 a second.
    private static let longestStep = 0.1

    init(id: Int, region: Region, time: Double) { (self.id, self.region, self.time) = (id, region, time) }

    /// Where to look at `time`. A fast hand would leave its region between two frames of a slow camera; a slow one is looked for
    /// where it was, as MediaPipe does.
    func expected(at time: Double) -> Region {
        let step = velocity * Float(time - self.time)
        guard (step * step).sum() > (region.size * region.size) * 0.01 else { return region }
        var moved = region
        moved.center += step
        return moved
    }

    /// The landmarks at `time` if the hand goes on as between the latest two inferences; nil where these are not there or too far apart.
    func foretold(at time: Double) -> LandmarkReading? {
        guard let earlier, let reading, self.time > earlier.time, time > self.time else { return nil }
        guard self.time - earlier.time <= Self.longestStep, time - self.time <= Self.longestStep else { return nil }
        let share = Self.persistence * Float((time - self.time) / (self.time - earlier.time))
        func moved(_ from: Hand.Points, _ to: Hand.Points) -> Hand.Points {
            Hand.Points { index in
                Landmark(
                    x: to[index].x + (to[index].x - from[index].x) * share, y: to[index].y + (to[index].y - from[index].y) * share,
                    z: to[index].z + (to[index].z - from[index].z) * share)
            }
        }
        var foretold = reading
        foretold.points = moved(earlier.reading.points, reading.points)
        foretold.world = moved(earlier.reading.world, reading.world)
        return foretold
    }

    /// Takes what was inferred at `time`.
    mutating func take(_ reading: LandmarkReading, _ region: Region, at time: Double) {
        surprise = foretold(at: time)?.tipDistance(to: reading) ?? .infinity
        if let latest = self.reading, time > self.time {
            velocity = (region.center - self.region.center) / Float(time - self.time)
            earlier = (latest, self.time)
        }
        (self.region, self.time, self.reading, isSpared) = (region, time, reading, false)
        rightness = rightness.map { $0 + (reading.rightness - $0) * Self.voteShare } ?? reading.rightness
    }
}

extension LandmarkReading {
    /// The larger of the ways of thumb and index finger tip to those of `other`, in lengths of its palm.
    fileprivate func tipDistance(to other: LandmarkReading) -> Float {
        func way(_ a: Landmark, _ b: Landmark) -> Float { ((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)).squareRoot() }
        let palm = way(other.points[Joint.wrist.rawValue], other.points[Joint.middleMCP.rawValue])
        func tip(_ joint: Joint) -> Float { way(points[joint.rawValue], other.points[joint.rawValue]) }
        return max(tip(.thumbTip), tip(.indexTip)) / palm
    }
}
