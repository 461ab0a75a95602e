public import Imaging

/// Where frames shall come from, as a person writes it.
public enum SourceSpecification: Hashable, Sendable {
    /// The first camera that is found.
    case automatic
    /// A V4L2 device.
    case device(path: String)
    /// A USB camera with this serial number.
    case serial(String)
    /// A camera in the network.
    case stream(StreamAddress)
    /// A recorded clip.
    case clip(path: String)

    /// Parses `auto`, `/dev/…` or `v4l2:PATH` (a device), `serial:NUMBER`, an address (`rtsp://…`, `http://…`), and anything
    /// else as a clip's path, with or without `file://`.
    ///
    /// - Throws: ``CameraError/emptySource``, ``CameraError/badAddress``, or ``CameraError/unsupportedScheme(_:)`` for other URLs.
    public init(_ text: String) throws(CameraError) {
        if text.isEmpty { throw .emptySource }
        if text == "auto" {
            self = .automatic
        } else if text.hasPrefix("v4l2:") {
            self = try .device(path: Self.path(text.dropFirst("v4l2:".count)))
        } else if text.hasPrefix("serial:") {
            self = try .serial(Self.path(text.dropFirst("serial:".count)))
        } else if text.hasPrefix("/dev/") {
            self = .device(path: text)
        } else if let separator = text.firstRange(of: "://") {
            let scheme = text[..<separator.lowerBound]
            if scheme == "file" {
                self = try .clip(path: Self.path(text[separator.upperBound...]))
            } else {
                self = try .stream(StreamAddress(text))
            }
        } else {
            self = .clip(path: text)
        }
    }

    private static func path(_ text: Substring) throws(CameraError) -> String {
        if text.isEmpty { throw .emptySource }
        return String(text)
    }

    /// Whether the source goes on for ever, so that its end is a failure.
    public var isLive: Bool {
        if case .clip = self { false } else { true }
    }

    /// Opens the source, on the thread that will use it, as one who sees it for the first time.
    ///
    /// - Parameters:
    ///   - request: What is wished of a camera.
    ///   - decoderThreads: Threads that decode a clip; 0 takes one a core.
    public func open(
        request: CaptureRequest = CaptureRequest(), decoderThreads: Int = 1, pool: ImagePool = ImagePool(),
        interruption: Interruption = Interruption()
    ) throws(CameraError) -> any FrameSource {
        if case .clip(let path) = self {
            return try ClipSource(path: path, threads: decoderThreads, pool: pool, interruption: interruption)
        }
        var memory = SourceMemory(self)
        return try memory.open(request: request, pool: pool, interruption: interruption)
    }
}

/// Opens one source again and again, and remembers what it turned out to be.
public struct SourceMemory: Hashable, Sendable {
    public let specification: SourceSpecification
    private var search: CameraSearch
    /// What the camera's modes turned out to be.
    public var experience = ModeExperience()

    public init(_ specification: SourceSpecification) {
        self.specification = specification
        search =
            switch specification {
            case .automatic, .clip, .stream: CameraSearch(.any)
            case .device(let path): CameraSearch(.path(path))
            case .serial(let serial): CameraSearch(.serial(serial))
            }
    }

    /// Opens the source, on the thread that will use it.
    ///
    /// - Parameters:
    ///   - stallTimeout: Seconds without a frame after which a camera counts as stalled.
    ///   - demand: How small a camera's pictures may be decoded.
    ///   - entries: The cameras that are there, for the paths that are named.
    public mutating func open(
        request: CaptureRequest, stallTimeout: Double = 3, pool: ImagePool = ImagePool(), interruption: Interruption = Interruption(),
        demand: PictureDemand = PictureDemand(),
        entries: ([String]) -> [CameraCatalog.Entry] = { CameraCatalog.list(more: $0, detail: .identity) }
    ) throws(CameraError) -> any FrameSource {
        switch specification {
        case .clip(let path): return try ClipSource(path: path, pool: pool, interruption: interruption)
        case .stream(let address): return try StreamSource(address, pool: pool, interruption: interruption)
        case .automatic, .device, .serial: break
        }
        var paths: [String] = []
        if case .path(let path) = search.name { paths = [path] }
        let entries = entries(paths)
        let entry = try search.choose(from: entries)
        do throws(CameraError) {
            let source = try V4L2Source(
                path: entry.path, camera: entry.identity, request: request, experience: experience, stallTimeout: stallTimeout, pool: pool,
                interruption: interruption, demand: demand)
            search.opened(entry, among: entries)
            return source
        } catch {
            if case .noBandwidth(_, let mode?) = error { experience.noBandwidth(for: mode) }
            throw error
        }
    }

    /// Learns what rate a camera delivers in the mode it was opened in.
    ///
    /// - Returns: Whether another mode promises more, so that opening it anew is worth while.
    public mutating func achieved(_ rate: Double, by facts: CameraFacts, request: CaptureRequest) -> Bool {
        experience.achieved(rate, in: facts.chosen)
        guard let next = request.choose(from: facts.offered, after: experience) else { return false }
        return (next.format, next.width, next.height) != (facts.chosen.format, facts.chosen.width, facts.chosen.height)
    }
}
