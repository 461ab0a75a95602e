public import Inference
public import Settings

/// The files of the hand models and how they are loaded.
public struct HandModels {
    public var palms: String
    public var landmarks: String
    private let options: InferenceOptions

    /// The models of the chosen sizes in the configured folder; without one, in `models` beside the folder of the OpenVINO libraries,
    /// which is where `deploy/setup` puts them.
    public init(settings: Settings.Camera) {
        let folder = settings.models ?? (OpenVINORuntime.libraryFolder ?? ".") + "/../models"
        palms = "\(folder)/palm_detection_\(settings.detector.rawValue).tflite"
        landmarks = "\(folder)/hand_landmark_\(settings.landmarks.rawValue).tflite"
        var options = InferenceOptions()
        options.threads = settings.threads
        options.precision = settings.precision == .f32 ? .float32 : .automatic
        self.options = options
    }

    /// Both models on the CPU.
    public func runners() throws(InferenceError) -> (palms: OpenVINOModel, landmarks: OpenVINOModel) {
        let runtime = try OpenVINORuntime()
        return (
            try OpenVINOModel(path: palms, runtime: runtime, options: options),
            try OpenVINOModel(path: landmarks, runtime: runtime, options: options)
        )
    }
}
