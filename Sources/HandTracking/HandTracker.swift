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
        /// How far the finger tips of an inferred hand may be from where the two inferences before foretold them, in lengths of the palm,
        /// for the next frame's landmarks to be foretold instead of inferred, but never twice in a row; 0 infers always.
        ///
        /// At 0.08, of labelled clips at 30 frames a second every other frame is inferred while a hand moves evenly and nearly every one
        /// while it starts, stops or pinches; foretold tips are 2 to 4 % of a palm from the inferred ones. With 0.12 the brightness
        /// overshoots where a slide stops.
        public var surpriseLimit: Float = 0.08
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
    /// How many times smaller than captured the next frame may be decoded without loss to the models: 1, 2, 4 or 8.
    public private(set) var reduction = 1
    private let palmDetector: PalmDetector
    private let landmarkDetector: LandmarkDetector
    private var tracks: [Track] = []
    // Kept from frame to frame for their memory alone.
    private var previous: [Track] = []
    private var hands: [Hand] = []
    private var nextTrack = 0
    private var lastSearch = -Double.infinity
    private var lastLoss = -Double.infinity
    private var scene = SceneChange()

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
        swap(&tracks, &previous)
        hands.removeAll(keepingCapacity: true)
        defer {
            previous.removeAll(keepingCapacity: true)
            reduction = reduction(after: frame)
        }
        while !previous.isEmpty {
            if let hand = try follow(previous.removeFirst(), in: frame) { hands.append(hand) }
        }
        if isSearchDue(frame) {
            lastSearch = frame.time
            work.palmInferences += 1
            for palm in try palmDetector.palms(in: frame.image) where tracks.count < options.maximumHands {
                let region = Region(palm: palm)
                guard !region.isDegenerate, !isTaken(region) else { continue }
                let hand = try follow(Track(id: nextTrack, region: region, time: frame.time), in: frame)
                if tracks.last?.id == nextTrack { nextTrack += 1 }
                if let hand { hands.append(hand) }
            }
        }
        return hands
    }

    private mutating func isSearchDue(_ frame: Frame) -> Bool {
        guard tracks.count < options.maximumHands else { return false }
        let pause = frame.time - lastSearch
        if frame.time - lastLoss < options.lossInterval { return true }
        if !tracks.isEmpty { return pause >= options.searchInterval }
        // Compared only when it matters: what changed earlier is still different then.
        guard pause >= options.restlessInterval else { return false }
        return scene.differs(frame.image) || pause >= options.stillInterval
    }

    /// Reads the hand where `track` expects it; the track is kept for the next frame if there is one.
    private mutating func follow(_ followed: consuming Track, in frame: Frame) throws -> Hand? {
        var track = followed
        if !track.isSpared, let reading = spared(&track, in: frame) {
            track.isSpared = true
            tracks.append(track)
            return hand(track, reading)
        }
        // Found in a picture too small to read it: the next one will be larger.
        if track.reading == nil, frame.time - track.time < options.lossInterval,
            frame.image.layout.reduction > Self.reduction(spare: track.region.spare)
        {
            tracks.append(track)
            return nil
        }
        work.landmarkInferences += 1
        let expected = track.expected(at: frame.time)
        let reading = try landmarkDetector.landmarks(in: frame.image, region: expected)
        let region = Region(landmarks: reading.points)
        // Two tracks that slid onto the same hand are one.
        guard reading.presence >= options.minimumPresence, !region.isDegenerate, !isTaken(region) else {
            if track.reading != nil { lastLoss = frame.time }
            return nil
        }
        if options.restChange > 0 { track.change.remember(frame.image, through: expected.map) }
        track.take(reading, region, at: frame.time)
        tracks.append(track)
        return hand(track, reading)
    }

    /// What a frame shows of a hand without an inference: the same as before where nothing moved, or what its movement foretells.
    private func spared(_ track: inout Track, in frame: Frame) -> LandmarkReading? {
        guard let reading = track.reading else { return nil }
        if options.restChange > 0, let change = track.change.difference(frame.image), change < options.restChange { return reading }
        guard track.surprise < options.surpriseLimit, frame.time - track.time <= Self.longestForesight else { return nil }
        return track.foretold(at: frame.time)
    }

    private func hand(_ track: Track, _ reading: LandmarkReading) -> Hand {
        Hand(
            track: track.id, side: ((track.rightness ?? reading.rightness) > 0.5) != options.mirrored ? .right : .left,
            presence: reading.presence, points: reading.points, world: reading.world)
    }

    /// What the models need of the frame after `frame`: the search all of it, a followed hand its region.
    private func reduction(after frame: Frame) -> Int {
        let search = Float(max(frame.image.width, frame.image.height)) / Float(PalmDetector.side)
        let spare = tracks.reduce(search) { min($0, $1.region.spare) }
        let wanted = Self.reduction(spare: spare)
        // A hand at the border of two sizes does not make them alternate.
        return wanted > reduction ? max(reduction, Self.reduction(spare: spare / 1.15)) : wanted
    }

    /// The largest reduction that leaves a model as many pixels as it takes, where there are `spare` times as many.
    private static func reduction(spare: Float) -> Int { spare >= 8 ? 8 : spare >= 4 ? 4 : spare >= 2 ? 2 : 1 }

    /// Seconds: a frame at 24 a second. A slower camera shows too little of a movement to leave any of it out.
    private static let longestForesight = 0.045

    private func isTaken(_ region: Region) -> Bool {
        tracks.contains { $0.region.overlap(with: region) > Self.sameHandOverlap }
    }

    /// Forgets every hand: the next frame is searched as if it were the first.
    public mutating func reset() {
        tracks.removeAll()
        (lastSearch, lastLoss) = (-.infinity, -.infinity)
        reduction = 1
        scene.forget()
    }

    /// Overlap beyond which MediaPipe's graph takes two regions for one hand.
    private static let sameHandOverlap: Float = 0.5
}

extension Region {
    /// Pixels of the frame for each that the landmark model takes, along a side.
    fileprivate var spare: Float { size / Float(LandmarkDetector.side) }
}
