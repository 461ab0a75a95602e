internal import Camera
internal import Glibc
internal import Imaging

/// How pictures reach the tracker in a measurement.
enum VisionInput: String, CaseIterable {
    /// Decoded by FFmpeg beforehand, at the clip's own size: tracking alone is compared.
    case clip
    /// What a camera delivers, enlarged to 1280×720: decoding or copying counts on both sides.
    case mjpeg, yuyv, nv12

    static let width = 1280
    static let height = 720
    /// The middle of a clip's picture, enlarged until it fills 1280×720.
    private static let filter = "scale=\(width):\(height):force_original_aspect_ratio=increase,crop=\(width):\(height)"

    /// Arguments of an ffmpeg that turns a clip into these pictures; what remains is where to.
    func conversion(of clip: String) -> [String] {
        let start = ["-nostdin", "-loglevel", "error", "-threads", "1", "-i", clip, "-vf", Self.filter]
        switch self {
        case .clip: return []
        // 4:2:2 is what most cameras send; 3 gives about 100 kB a picture, as they do.
        case .mjpeg: return start + ["-pix_fmt", "yuvj422p", "-q:v", "3"]
        case .yuyv: return start + ["-pix_fmt", "yuyv422", "-f", "rawvideo"]
        case .nv12: return start + ["-pix_fmt", "nv12", "-f", "rawvideo"]
        }
    }
}

/// Pictures one after another, as the tracker is to get them.
protocol VisionFrames: AnyObject {
    /// Only what a program would do with a camera's picture may use CPU between `start` and the return.
    func next(reduction: Int, start: () -> Void) throws -> Frame?
}

final class ClipFrames: VisionFrames {
    private let source: ClipSource

    init(_ path: String) throws { source = try ClipSource(path: path) }

    func next(reduction: Int, start: () -> Void) throws -> Frame? {
        start()
        return try source.nextFrame()
    }
}

/// JPEG files of one folder, by their numbers from 1.
final class JPEGFrames: VisionFrames {
    private let folder: String
    private let framesPerSecond: Double
    private let pool = ImagePool()
    private var decoder = JPEGDecoder()
    private var number: UInt64 = 0
    /// As a driver's buffer: larger than any picture.
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4 << 20, alignment: 64)

    init(folder: String, framesPerSecond: Double) { (self.folder, self.framesPerSecond) = (folder, framesPerSecond) }

    deinit { buffer.deallocate() }

    func next(reduction: Int, start: () -> Void) throws -> Frame? {
        let path = "\(folder)/\(number + 1).jpg"
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        close(descriptor)
        start()
        guard let image = decoder.decode(UnsafeRawBufferPointer(rebasing: buffer.prefix(max(count, 0))), reduction: reduction, pool: pool)
        else { throw BenchError.failed("\(path) is no picture") }
        defer { number += 1 }
        return Frame(image: image, time: Double(number) / framesPerSecond, sequence: number)
    }
}

/// Uncompressed pictures out of another program; reading them stands for the copy out of a driver's buffer.
final class RawFrames: VisionFrames {
    private let process: PeerProcess
    private let layout: ImageLayout
    private let framesPerSecond: Double
    private let pool = ImagePool()
    private var number: UInt64 = 0

    init(_ process: PeerProcess, format: PixelFormat, framesPerSecond: Double) {
        (self.process, self.framesPerSecond) = (process, framesPerSecond)
        layout = ImageLayout(
            width: VisionInput.width, height: VisionInput.height, format: format, encoding: ColorEncoding(fullRange: false))
    }

    func next(reduction: Int, start: () -> Void) throws -> Frame? {
        start()
        var isWhole = false
        let image = pool.image(layout: layout) { isWhole = process.copy(into: $0) }
        guard isWhole else { return nil }
        defer { number += 1 }
        return Frame(image: image, time: Double(number) / framesPerSecond, sequence: number)
    }
}
