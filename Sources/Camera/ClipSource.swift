import CFFmpeg
import Glibc
public import Imaging

/// A recorded clip, decoded frame by frame as fast as it is asked.
///
/// Frames keep the decoder's own planes and are copied once, into memory of the pool. Broken frames are skipped and counted.
public final class ClipSource: FrameSource {
    public let format: SourceFormat
    public private(set) var counters = SourceCounters()

    private let path: String
    private let pool: ImagePool
    private let interruption: Interruption
    private var decoder: ClipDecoder
    private var clock: ClipClock
    private var sequence: UInt64 = 0
    private var ended = false

    /// Opens a clip in any container and codec that this system's FFmpeg knows.
    ///
    /// - Parameters:
    ///   - threads: Threads that decode; one keeps the CPU's use predictable, 0 takes one a core.
    ///   - pool: Where the frames' memory comes from.
    /// - Throws: Only the cases of ``CameraError`` that name a clip.
    public init(
        path: String, threads: Int = 1, pool: ImagePool = ImagePool(), interruption: Interruption = Interruption()
    ) throws(CameraError) {
        try Self.checkFile(path)
        decoder = try ClipDecoder(path: path, threads: threads)
        (self.path, self.pool, self.interruption) = (path, pool, interruption)
        format = decoder.format(path: path)
        clock = ClipClock(interval: 1 / (format.framesPerSecond ?? 30))
    }

    public func nextFrame() throws(CameraError) -> Frame? {
        while !ended {
            if interruption.isInterrupted { return nil }
            switch decoder.step() {
            case .frame: return try deliver()
            case .corrupt:
                counters.corrupt += 1
                sequence += 1
            case .end: try finish()
            }
        }
        return nil
    }

    private func deliver() throws(CameraError) -> Frame {
        let frame = decoder.frame
        guard let layout = ImageLayout(frame) else {
            ended = true
            let format = av_get_pix_fmt_name(AVPixelFormat(frame.pointee.format)).map { String(cString: $0) }
            throw .unsupportedPixelFormat(path: path, format: format ?? "\(frame.pointee.format)")
        }
        let time = clock.time(presentation: decoder.presentation)
        let image = pool.image(layout: layout) { layout.copy(frame, into: $0) }
        counters.delivered += 1
        counters.repairedTimes = clock.repaired
        defer { sequence += 1 }
        return Frame(image: image, time: time, sequence: sequence)
    }

    private func finish() throws(CameraError) {
        ended = true
        counters.missing = max(0, decoder.announcedFrames - Int(sequence))
        if let reason = decoder.readFailure {
            throw .damagedClip(path: path, deliveredFrames: counters.delivered, reason: reason)
        }
        if counters.delivered == 0 { throw .emptyClip(path: path) }
    }

    /// Finds what libavformat would report with less precision, and keeps it from waiting on a pipe.
    private static func checkFile(_ path: String) throws(CameraError) {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadableClip(path: path, errno: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadableClip(path: path, errno: errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .unreadableClip(path: path, errno: EISDIR)
        default: throw .notAClip(path: path, reason: "not a regular file")
        }
        if status.st_size == 0 { throw .emptyClip(path: path) }
    }
}
