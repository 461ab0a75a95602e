public import Gestures
public import HandTracking
public import Imaging
internal import Inference
public import Settings

/// From a frame to hands to gestures.
///
/// Not for more than one thread at a time; ``observe(_:)`` blocks for the inferences of a frame.
public struct Recognition {
    /// What one frame showed.
    public struct Observation: Sendable {
        public var time: Double
        public var hands: [Hand]
        public var events: [GestureEvent]
        public var brightness: Double
        public var pinch: GestureRecognizer.Pinch
        /// What the gestures make of the hand that acts.
        public var diagnosis: Diagnosis?
        /// Stretched fingers of all hands, 0 to 10.
        public var fingers: Int
        /// Whether gestures act, and how much of the arming gesture is done, 0 to 1.
        public var isArmed: Bool
        public var armingProgress: Double
        /// How many times smaller than captured the next frame may be decoded.
        public var reduction: Int
        /// Seconds that it took.
        public var duration = 0.0
    }

    private var tracker: HandTracker
    private var gestures: GestureRecognizer
    private var width = 1

    public init(tracker: HandTracker, gestures: GestureRecognizer) {
        (self.tracker, self.gestures) = (tracker, gestures)
    }

    /// Loads the models that the settings name.
    ///
    /// - Parameter startBrightness: 0 to 100 %: what the first slide starts from until somebody tells better.
    /// - Throws: ``InferenceError``, ``HandTrackingError``.
    public init(settings: Settings, startBrightness: Double = 50) throws {
        var options = HandTracker.Options()
        options.mirrored = settings.camera.isMirrored
        options.maximumHands = settings.gestures.hands.maximum
        if settings.camera.inference == .every { (options.restChange, options.surpriseLimit) = (0, 0) }
        let models = try HandModels(settings: settings.camera).runners()
        self.init(
            tracker: try HandTracker(palms: models.palms, landmarks: models.landmarks, options: options),
            gestures: GestureRecognizer(
                settings: settings.gestures, mirrored: settings.camera.isMirrored, brightness: startBrightness))
    }

    /// Inferences made so far.
    public var work: HandTracker.Work { tracker.work }

    public mutating func observe(_ frame: Frame) throws -> Observation {
        width = frame.image.width
        let hands = try tracker.hands(in: frame)
        return observation(gestures.saw(hands, width: width, height: frame.image.height, at: frame.time), hands: hands, time: frame.time)
    }

    /// Tells where the lamp is, 0 to 100 %, so that the next slide starts there.
    public mutating func lampIs(at brightness: Double) { gestures.lampIs(at: brightness) }

    /// Arms or disarms by command, where the settings allow it.
    ///
    /// - Returns: Whether gestures act now.
    public mutating func arm(_ isOn: Bool) -> Bool {
        gestures.arm(isOn)
        return gestures.isArmed
    }

    /// How hands and gestures are judged from the next frame on; what is under way goes on.
    public var settings: GestureSettings {
        get { gestures.settings }
        set {
            gestures.settings = newValue
            tracker.options.maximumHands = newValue.hands.maximum
        }
    }

    /// Ends what is under way: the next frame comes after a gap, or never.
    public mutating func interrupt(at time: Double) -> Observation {
        tracker.reset()
        return observation(gestures.reset(width: width), hands: [], time: time)
    }

    private func observation(_ events: [GestureEvent], hands: [Hand], time: Double) -> Observation {
        Observation(
            time: time, hands: hands, events: events, brightness: gestures.brightness, pinch: gestures.pinch,
            diagnosis: gestures.diagnosis, fingers: gestures.fingers, isArmed: gestures.isArmed, armingProgress: gestures.armingProgress,
            reduction: tracker.reduction)
    }
}
