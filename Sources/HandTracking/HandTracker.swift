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
        /// Seconds between searches for further hands while one is followed; with none followed every frame is searched.
        public var searchInterval = 0.5

        public init() {}
    }

    /// What a frame cost, for measurement.
    public struct Work: Hashable, Sendable {
        public var palmInferences = 0
        public var landmarkInferences = 0
    }

    public let options: Options
    public private(set) var work = Work()
    private let palmDetector: PalmDetector
    private let landmarkDetector: LandmarkDetector
    private var tracks: [Track] = []
    private var nextTrack = 0
    private var lastSearch = -Double.infinity

    private struct Track {
        var id: Int
        var region: Region
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
    /// Blocks for the inferences it needs: one a hand, and one more where it searches.
    public mutating func hands(in frame: Frame) throws -> [Hand] {
        let image = frame.image
        if tracks.count < options.maximumHands, tracks.isEmpty || frame.time - lastSearch >= options.searchInterval {
            lastSearch = frame.time
            try search(image)
        }
        var hands: [Hand] = []
        var followed: [Track] = []
        for track in tracks {
            work.landmarkInferences += 1
            let reading = try landmarkDetector.landmarks(in: image, region: track.region)
            guard reading.presence >= options.minimumPresence else { continue }
            let region = Region(landmarks: reading.points)
            // Two tracks that slid onto the same hand are one.
            guard !region.isDegenerate, !followed.contains(where: { $0.region.overlap(with: region) > Self.sameHandOverlap }) else { continue }
            followed.append(Track(id: track.id, region: region))
            let right = (reading.rightness > 0.5) != options.mirrored
            hands.append(
                Hand(track: track.id, side: right ? .right : .left, presence: reading.presence, points: reading.points, world: reading.world))
        }
        tracks = followed
        return hands
    }

    /// Forgets every hand: the next frame is searched as if it were the first.
    public mutating func reset() {
        tracks.removeAll()
        lastSearch = -.infinity
    }

    /// Overlap beyond which MediaPipe's graph takes two regions for one hand.
    private static let sameHandOverlap: Float = 0.5

    private mutating func search(_ image: ImageBuffer) throws {
        work.palmInferences += 1
        for palm in try palmDetector.palms(in: image) where tracks.count < options.maximumHands {
            let region = Region(palm: palm)
            guard !region.isDegenerate, !tracks.contains(where: { $0.region.overlap(with: region) > Self.sameHandOverlap }) else { continue }
            tracks.append(Track(id: nextTrack, region: region))
            nextTrack += 1
        }
    }
}
