import CFFmpeg
import Glibc
public import Imaging
import Synchronization

/// A camera in the network, by RTSP or HTTP, through FFmpeg.
///
/// Reads as fast as it sends. Its frames' times are those of its own clock where it has one, laid over this machine's steady clock.
public final class StreamSource: FrameSource {
    public let format: SourceFormat
    public private(set) var counters = SourceCounters()

    /// Seconds in which a camera has to answer and send the first picture: it may have one that stands alone only every ten.
    static let patienceAtStart = 15.0
    /// Seconds between two pictures.
    static let patience = 5.0

    private let address: StreamAddress
    private let pool: ImagePool
    private let interruption: Interruption
    private let deadline: StreamDeadline
    private let patience: Double
    private var decoder: ClipDecoder
    private var clock = StreamClock()
    private var sequence: UInt64 = 0
    private var lastFrame = steadyNow()
    private var isFirst = true
    /// Broken pictures until the last whole one.
    private var corruptBefore = 0

    /// Connects; blocks until the camera has said what it sends.
    ///
    /// - Parameter patience: Seconds without a picture after which it counts as stalled; for tests.
    public init(
        _ address: StreamAddress, patience: Double? = nil, pool: ImagePool = ImagePool(), interruption: Interruption = Interruption()
    ) throws(CameraError) {
        (self.address, self.pool, self.interruption) = (address, pool, interruption)
        self.patience = patience ?? Self.patience
        let deadline = StreamDeadline(interruption: interruption)
        self.deadline = deadline
        deadline.set(inSeconds: patience ?? Self.patienceAtStart)
        do throws(CameraError) {
            decoder = try ClipDecoder(address, deadline: deadline)
        } catch {
            throw Self.failure(error, at: address, deadline)
        }
        format = decoder.format(path: "\(address)")
    }

    public func nextFrame() throws(CameraError) -> Frame? {
        while !interruption.isInterrupted {
            let patience = isFirst ? max(self.patience, Self.patienceAtStart) : self.patience
            let waited = steadyNow() - lastFrame
            if waited >= patience { throw stall }
            deadline.set(inSeconds: patience - waited)
            switch decoder.step() {
            case .frame:
                if let frame = try frame() { return frame }
            case .corrupt:
                // A stream that is broken off is reported like this for ever.
                if decoder.readFailure != nil { throw failure }
                counters.corrupt += 1
                sequence += 1
            case .end:
                if interruption.isInterrupted { return nil }
                throw failure
            }
        }
        return nil
    }

    private func frame() throws(CameraError) -> Frame? {
        let picture = decoder.frame
        guard let layout = ImageLayout(picture) else {
            let format = av_get_pix_fmt_name(AVPixelFormat(picture.pointee.format)).map { String(cString: $0) }
            throw .unsupportedPixelFormat(path: "\(address)", format: format ?? "\(picture.pointee.format)")
        }
        let arrival = steadyNow()
        let time = clock.time(presentation: decoder.presentation, arrival: arrival)
        let image = pool.image(layout: layout) { layout.copy(picture, into: $0) }
        (lastFrame, isFirst, corruptBefore) = (arrival, false, counters.corrupt)
        counters.delivered += 1
        defer { sequence += 1 }
        return Frame(image: image, time: time, sequence: sequence)
    }

    private var failure: CameraError { deadline.isExpired ? stall : .streamEnded(address: address) }

    private var stall: CameraError {
        .silence(of: "\(address)", seconds: steadyNow() - lastFrame, brokenFrames: counters.corrupt - corruptBefore)
    }

    private static func failure(_ error: CameraError, at address: StreamAddress, _ deadline: StreamDeadline) -> CameraError {
        if deadline.isRefused { return .unauthorized(address: address) }
        if deadline.isExpired { return .unreachable(address: address, reason: "it does not answer") }
        switch error {
        case .notAClip(_, let reason): return .unreachable(address: address, reason: reason)
        case .noVideo: return .unreachable(address: address, reason: "it sends no video")
        default: return error
        }
    }
}

/// Ends libavformat's waiting: at a time, or when the source is interrupted.
final class StreamDeadline: Sendable {
    private let interruption: Interruption
    /// Steady nanoseconds.
    private let end = Atomic(Int.max)
    private let refused = Atomic(false)

    init(interruption: Interruption) { self.interruption = interruption }

    func set(inSeconds seconds: Double) { end.store(Int((steadyNow() + max(0, seconds)) * 1e9), ordering: .relaxed) }

    var isExpired: Bool { Int(steadyNow() * 1e9) >= end.load(ordering: .relaxed) }

    /// The other end did not accept the credentials.
    var isRefused: Bool {
        get { refused.load(ordering: .relaxed) }
        set { refused.store(newValue, ordering: .relaxed) }
    }

    /// What libavformat asks; `opaque` is a deadline, borrowed.
    static func isOver(_ opaque: UnsafeMutableRawPointer?) -> Int32 {
        guard let opaque else { return 0 }
        let deadline = Unmanaged<StreamDeadline>.fromOpaque(opaque).takeUnretainedValue()
        return deadline.isExpired || deadline.interruption.isInterrupted ? 1 : 0
    }
}

/// Lays a camera's own times over this machine's steady clock.
struct StreamClock {
    /// Arrival less presentation of the frame that came with the least delay so far.
    private var offset: Double?
    private var last = -Double.infinity

    /// The least delay is forgotten this fast, in seconds a second, so that two clocks that run apart do not drift away: crystals differ by
    /// less than 200 millionths.
    private static let leak = 0.0005
    /// More than this between the two clocks is a camera that set its own anew.
    private static let largestDelay = 3.0
    private var lastArrival: Double?

    /// The frame's time in steady seconds: never in the future, and always after the one before.
    mutating func time(presentation: Double?, arrival: Double) -> Double {
        var time = arrival
        if let presentation {
            let distance = arrival - presentation
            let elapsed = arrival - (lastArrival ?? arrival)
            let known = offset.map { $0 + Self.leak * elapsed } ?? distance
            let least = abs(distance - known) > Self.largestDelay ? distance : min(known, distance)
            offset = least
            time = min(arrival, presentation + least)
        }
        lastArrival = arrival
        // Bursts of one arrival must not share a time.
        if time <= last { time = last + 0.000_1 }
        last = time
        return time
    }
}

/// Seconds of CLOCK_MONOTONIC, the clock of V4L2's timestamps.
func steadyNow() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
