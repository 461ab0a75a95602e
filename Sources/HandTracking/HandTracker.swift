public import Gestures
public import Imaging

/// Follows hands from frame to frame: finds palms, reads landmarks, and looks next where the hand was last.
public struct HandTracker {
    public struct Options: Hashable, Sendable {
        /// Most hands followed at once.
        public var maximumHands = 1
        /// The picture shows the person as a mirror does.
        public var mirrored = false
        /// Probability of a hand in its region, below which the hand is lost; MediaPipe's default.
        public var minimumPresence: Float = 0.5
        /// Seconds between searches for further hands while one is followed.
        public var searchInterval = 0.5
        /// Seconds between searches while nobody is followed and the picture changes: a hand is found within three frames at 30 a second.
        public var restlessInterval = 0.08
        /// The same while the picture stays as it is.
        public var stillInterval = 1.0
        /// Change of a hand's region, in levels of 255 (``RegionChange``), below which a frame's landmarks are taken over from the frame
        /// before instead of inferred, but never twice in a row; 0 infers always. Hands at rest measured 5 to 9 from frame to frame at
        /// 30 a second, moving ones 11 to 54.
        public var restChange = 8.0
        /// How long after a hand was lost every frame is searched, in seconds.
        public var lossInterval = 0.3

        public init() {}
    }

    /// What a frame cost, for measurement.
    public struct Work: Hashable, Sendable {
        public var palmInferences = 0
        public var landmarkInferences = 0
    }

    /// A lower number of hands holds from the next frame on; the hands followed longest stay.
    public var options: Options {
        didSet { if tracks.count > options.maximumHands { tracks.removeLast(tracks.count - options.maximumHands) } }
    }
    public private(set) var work = Work()
    private let palmDetector: PalmDetector
    private let landmarkDetector: LandmarkDetector
    private var tracks: [Track] = []
    private var nextTrack = 0
    private var lastSearch = -Double.infinity
    private var lastLoss = -Double.infinity
    private var scene = SceneChange()
    /// The picture has changed since the latest search.
    private var hasChanged = true

    private struct Track {
        var id: Int
        /// Where the hand was in the latest frame, and when.
        var region: Region
        var time: Double
        /// Pixels a second; zero until the hand was seen twice.
        var velocity = SIMD2<Float>.zero
        /// The landmarks of the latest inference, and what the region showed then.
        var reading: LandmarkReading?
        var change = RegionChange()
        var isReused = false
        /// Mean probability of a right hand, so that a doubtful frame does not turn the hand into the other.
        var rightness: Float?

        /// Where to look at `time`. A fast hand would leave its region between two frames of a slow camera; a slow one is looked for
        /// where it was, as MediaPipe does.
        func expected(at time: Double) -> Region {
            let step = velocity * Float(time - self.time)
            guard (step * step).sum() > (region.size * region.size) * 0.01 else { return region }
            var moved = region
            moved.center += step
            return moved
        }
    }

    /// - Parameters:
    ///   - palms: MediaPipe's palm detection model, lite or full.
    ///   - landmarks: MediaPipe's hand landmark model, lite or full.
    public init(palms: any TensorRunner, landmarks: any TensorRunner, options: Options = Options()) throws(HandTrackingError) {
        palmDetector = try PalmDetector(runner: palms)
        landmarkDetector = try LandmarkDetector(runner: landmarks)
        self.options = options
    }

    /// The hands in one frame; frames must come in the order of their time.
    ///
    /// Blocks for the inferences it needs: one a hand, and one more where it searches, which it does at once when a hand is lost.
    public mutating func hands(in frame: Frame) throws -> [Hand] {
        let previous = tracks
        tracks.removeAll(keepingCapacity: true)
        var hands: [Hand] = []
        for track in previous {
            if let hand = try follow(track, in: frame) { hands.append(hand) }
        }
        if tracks.count < previous.count { lastLoss = frame.time }
        if isSearchDue(frame) {
            (lastSearch, hasChanged) = (frame.time, false)
            work.palmInferences += 1
            for palm in try palmDetector.palms(in: frame.image) where tracks.count < options.maximumHands {
                let region = Region(palm: palm)
                guard !region.isDegenerate, !isTaken(region) else { continue }
                let track = Track(id: nextTrack, region: region, time: frame.time)
                if let hand = try follow(track, in: frame) {
                    nextTrack += 1
                    hands.append(hand)
                }
            }
        }
        return hands
    }

    private mutating func isSearchDue(_ frame: Frame) -> Bool {
        guard tracks.count < options.maximumHands else { return false }
        let pause = frame.time - lastSearch
        if frame.time - lastLoss < options.lossInterval { return true }
        if !tracks.isEmpty { return pause >= options.searchInterval }
        hasChanged = scene.differs(frame.image) || hasChanged
        return pause >= (hasChanged ? options.restlessInterval : options.stillInterval)
    }

    /// Reads the hand where `track` expects it; the track is kept for the next frame if there is one.
    private mutating func follow(_ track: Track, in frame: Frame) throws -> Hand? {
        var track = track
        if let reading = track.reading, !track.isReused, let change = track.change.difference(frame.image), change < options.restChange {
            track.isReused = true
            tracks.append(track)
            return hand(track, reading)
        }
        work.landmarkInferences += 1
        let expected = track.expected(at: frame.time)
        let reading = try landmarkDetector.landmarks(in: frame.image, region: expected)
        let region = Region(landmarks: reading.points)
        // Two tracks that slid onto the same hand are one.
        guard reading.presence >= options.minimumPresence, !region.isDegenerate, !isTaken(region) else { return nil }
        if options.restChange > 0 { track.change.remember(frame.image, through: expected.map) }
        if frame.time > track.time { track.velocity = (region.center - track.region.center) / Float(frame.time - track.time) }
        (track.region, track.time, track.reading, track.isReused) = (region, frame.time, reading, false)
        track.rightness = track.rightness.map { $0 + (reading.rightness - $0) * Self.voteShare } ?? reading.rightness
        tracks.append(track)
        return hand(track, reading)
    }

    private func hand(_ track: Track, _ reading: LandmarkReading) -> Hand {
        Hand(
            track: track.id, side: ((track.rightness ?? reading.rightness) > 0.5) != options.mirrored ? .right : .left,
            presence: reading.presence, points: reading.points, world: reading.world)
    }

    private func isTaken(_ region: Region) -> Bool {
        tracks.contains { $0.region.overlap(with: region) > Self.sameHandOverlap }
    }

    /// A frame's share in the vote on which hand it is: about the last ten frames count.
    private static let voteShare: Float = 0.1

    /// Forgets every hand: the next frame is searched as if it were the first.
    public mutating func reset() {
        tracks.removeAll()
        (lastSearch, lastLoss) = (-.infinity, -.infinity)
        scene.forget()
        hasChanged = true
    }

    /// Overlap beyond which MediaPipe's graph takes two regions for one hand.
    private static let sameHandOverlap: Float = 0.5
}
