public import HandTracking
public import Inference
public import Settings

/// The files of the hand models and how they are loaded.
public struct HandModels {
    public var palms: String
    public var landmarks: String

    /// The models of the chosen sizes in the configured folder; without one, in `models` beside the folder of the OpenVINO libraries,
    /// which is where `deploy/setup` puts them.
    public init(settings: Settings.Camera) {
        let folder = settings.models ?? (OpenVINORuntime.libraryFolder ?? ".") + "/../models"
        palms = "\(folder)/palm_detection_\(settings.detector.rawValue).tflite"
        landmarks = "\(folder)/hand_landmark_\(settings.landmarks.rawValue).tflite"
    }

    /// A tracker over both models, on one thread of the CPU.
    public func tracker(
        options: HandTracker.Options = HandTracker.Options(), inference: InferenceOptions = InferenceOptions()
    ) throws -> HandTracker {
        let runtime = try OpenVINORuntime()
        return try HandTracker(
            palms: OpenVINOModel(path: palms, runtime: runtime, options: inference),
            landmarks: OpenVINOModel(path: landmarks, runtime: runtime, options: inference), options: options)
    }
}
