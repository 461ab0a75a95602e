import Camera
import Foundation
import Imaging
import TestSupport
import Testing

struct DamagedClipTests {
    @Test func `a path that is no readable file is an error with its number`() throws {
        let folder = try TemporaryFolder()
        let missing = "\(folder.path)/missing.avi"
        #expect(throws: CameraError.unreadableClip(path: missing, errno: ENOENT)) { try ClipSource(path: missing) }
        #expect(throws: CameraError.unreadableClip(path: folder.path, errno: EISDIR)) { try ClipSource(path: folder.path) }
        #expect(throws: CameraError.notAClip(path: "/dev/null", reason: "not a regular file")) { try ClipSource(path: "/dev/null") }
    }

    @Test func `an empty file is an empty clip`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("empty.avi", [])
        #expect(throws: CameraError.emptyClip(path: path)) { try ClipSource(path: path) }
    }

    @Test(arguments: ["notes.txt", "notes.avi", "notes"])
    func `text is no clip`(name: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.file(name, Array("A hand before a camera.\n".utf8).repeated(400))
        let error = try #require(throws: CameraError.self) { try ClipSource(path: path).allFrames() }
        guard case .notAClip(path, _) = error else {
            Issue.record("\(error)")
            return
        }
    }

    @Test(arguments: UInt64(0)..<8) func `random bytes are an error and never a frame`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let path = try folder.file("random.avi", (0..<20_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
        let error = try #require(throws: CameraError.self) { try ClipSource(path: path).allFrames() }
        #expect(error.clipPath == path)
    }

    @Test(.enabled(if: ffmpegIsInstalled)) func `sound alone is no video`() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/sound.wav"
        try await ffmpeg(["-f", "lavfi", "-i", "sine=d=0.2", path])
        #expect(throws: CameraError.noVideo(path: path)) { try ClipSource(path: path) }
    }

    @Test(.enabled(if: ffmpegIsInstalled)) func `a pixel format that is not passed on is named`() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/deep.mkv"
        try await ffmpeg(["-i", clip("empty_room.avi"), "-frames:v", "2", "-c:v", "ffv1", "-pix_fmt", "yuv420p10le", path])
        let source = try ClipSource(path: path)
        #expect(throws: CameraError.unsupportedPixelFormat(path: path, format: "yuv420p10le")) { try source.nextFrame() }
        #expect(try source.nextFrame() == nil)
    }

    @Test(arguments: [0.25, 0.5, 0.9])
    func `a clip that is cut short yields the frames before the cut and counts the rest`(part: Double) throws {
        let folder = try TemporaryFolder()
        let whole = try contents(clip("empty_room.avi"))
        let path = try folder.file("cut.avi", whole.prefix(Int(Double(whole.count) * part)))
        let source = try ClipSource(path: path)
        let frames = try source.allFrames()
        let reference = try ClipSource(path: clip("empty_room.avi"))
        #expect(Double(frames.count) > 80 * part && frames.count < 90)
        for frame in frames { #expect(try reference.nextFrame()?.image.bytes == frame.image.bytes) }
        #expect(source.counters.corrupt <= 1)
        #expect(source.counters.delivered + source.counters.corrupt + source.counters.missing == 90)
    }

    @Test(.enabled(if: ffmpegIsInstalled)) func `an MP4 that is cut short yields the frames before the cut, or has no index and is none`()
        async throws
    {
        let folder = try TemporaryFolder()
        let encoding = ["-i", clip("empty_room.avi"), "-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "10"]
        let (front, back) = ("\(folder.path)/front.mp4", "\(folder.path)/back.mp4")
        try await ffmpeg(encoding + ["-movflags", "+faststart", front])
        try await ffmpeg(encoding + [back])
        let whole = try contents(front)
        let source = try ClipSource(path: folder.file("cut.mp4", whole.prefix(whole.count * 3 / 4)))
        let frames = try source.allFrames()
        #expect(frames.count > 30 && frames.count < 90)
        #expect(source.counters.delivered + source.counters.corrupt + source.counters.missing == 90)
        let path = try folder.file("headless.mp4", contents(back).dropLast(10_000))
        let error = try #require(throws: CameraError.self) { try ClipSource(path: path) }
        #expect(error.clipPath == path)
    }

    @Test func `a clip cut before the end of its first frame is an error`() throws {
        let folder = try TemporaryFolder()
        let whole = try contents(clip("empty_room.avi"))
        for length in stride(from: 1, to: 3_740, by: 331) {
            let path = try folder.file("cut-\(length).avi", whole.prefix(length))
            let error = try #require(throws: CameraError.self, "\(length) bytes") { try ClipSource(path: path).allFrames() }
            #expect(error.clipPath == path)
        }
    }

    @Test(arguments: UInt64(0)..<24)
    func `a clip with flipped bytes yields frames or an error, in order, and nothing worse`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        var bytes = Array(try contents(clip("empty_room.avi")).prefix(120_000))
        // Half of the seeds hit the header, where sizes and rates are.
        let reach = seed.isMultiple(of: 2) ? bytes.count : 6_000
        for _ in 0..<Int.random(in: 1...200, using: &generator) {
            bytes[Int.random(in: 0..<reach, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        let path = try folder.file("flipped.avi", bytes)
        var last = -1.0
        do throws(CameraError) {
            let source = try ClipSource(path: path)
            while let frame = try source.nextFrame() {
                #expect(frame.time > last && frame.time.isFinite)
                #expect(frame.image.width * frame.image.height <= 7680 * 4320)
                last = frame.time
            }
            #expect(source.counters.delivered > 0)
        } catch {
            #expect(error.clipPath == path)
        }
    }
}

extension Array {
    func repeated(_ count: Int) -> [Element] { (0..<count).flatMap { _ in self } }
}

extension CameraError {
    /// The path in those cases that name a clip.
    fileprivate var clipPath: String? {
        switch self {
        case .unreadableClip(let path, _), .emptyClip(let path), .notAClip(let path, _), .noVideo(let path): path
        case .unsupportedCodec(let path, _), .unsupportedPixelFormat(let path, _), .damagedClip(let path, _, _): path
        default: nil
        }
    }
}
