public import Imaging

/// Where frames shall come from, as a person writes it.
public enum SourceSpecification: Hashable, Sendable {
    /// The first camera that is found.
    case automatic
    /// A V4L2 device.
    case device(path: String)
    /// A recorded clip.
    case clip(path: String)

    /// Parses `auto`, `/dev/…` or `v4l2:PATH` (a device), and anything else as a clip's path, with or without `file://`.
    ///
    /// - Throws: ``CameraError/emptySource``, or ``CameraError/unsupportedScheme(_:)`` for other URLs.
    public init(_ text: String) throws(CameraError) {
        if text.isEmpty { throw .emptySource }
        if text == "auto" {
            self = .automatic
        } else if text.hasPrefix("v4l2:") {
            self = try .device(path: Self.path(text.dropFirst("v4l2:".count)))
        } else if text.hasPrefix("/dev/") {
            self = .device(path: text)
        } else if let separator = text.firstRange(of: "://") {
            let scheme = text[..<separator.lowerBound]
            guard scheme == "file" else { throw .unsupportedScheme(String(scheme)) }
            self = try .clip(path: Self.path(text[separator.upperBound...]))
        } else {
            self = .clip(path: text)
        }
    }

    private static func path(_ text: Substring) throws(CameraError) -> String {
        if text.isEmpty { throw .emptySource }
        return String(text)
    }

    /// Opens the source, on the thread that will use it.
    ///
    /// - Parameters:
    ///   - request: What is wished of a camera.
    ///   - stallTimeout: Seconds without a frame after which a camera counts as stalled.
    ///   - decoderThreads: Threads that decode a clip; 0 takes one a core.
    public func open(
        request: CaptureRequest = CaptureRequest(), stallTimeout: Double = 3, decoderThreads: Int = 1, pool: ImagePool = ImagePool(),
        interruption: Interruption = Interruption()
    ) throws(CameraError) -> any FrameSource {
        func camera(_ path: String) throws(CameraError) -> V4L2Source {
            try V4L2Source(path: path, request: request, stallTimeout: stallTimeout, pool: pool, interruption: interruption)
        }
        switch self {
        case .automatic: return try camera(Self.automaticDevice(CameraCatalog.list()))
        case .device(let path): return try camera(path)
        case .clip(let path): return try ClipSource(path: path, threads: decoderThreads, pool: pool, interruption: interruption)
        }
    }

    /// The device that `auto` means: the first that captures video.
    ///
    /// - Throws: Why a device could not be examined, where none captures and one may: a camera without permission is not "no camera".
    static func automaticDevice(_ entries: [CameraCatalog.Entry]) throws(CameraError) -> String {
        var obstacle: CameraError?
        for entry in entries {
            switch entry.camera {
            case .success: return entry.path
            case .failure(.notACaptureDevice): continue
            case .failure(let error): obstacle = obstacle ?? error
            }
        }
        throw obstacle ?? .noCamera
    }
}
