import Camera
import Foundation
import Imaging
import Testing

struct ClipTests {
    @Test(arguments: [
        "empty_room": 90, "fist_negative": 120, "lost_while_pinched": 150, "slide_return": 180, "pinch_hold_release_pinch": 180,
    ])
    func `a clip yields every frame at its time`(name: String, count: Int) throws {
        let source = try ClipSource(path: clip("\(name).avi"))
        let frames = try source.allFrames().map { ($0.time, $0.sequence) }
        #expect(frames.count == count)
        for (index, (time, sequence)) in frames.enumerated() {
            #expect(abs(time - Double(index) / 30) < 1e-6)
            #expect(sequence == UInt64(index))
        }
        var wholesome = SourceCounters()
        wholesome.delivered = count
        #expect(source.counters == wholesome)
        #expect(try source.nextFrame() == nil)
    }

    @Test func `a clip says what it is`() throws {
        let path = clip("empty_room.avi")
        let expected = SourceFormat(path: path, name: "avi", codec: "mjpeg", width: 640, height: 480, framesPerSecond: 30)
        let source = try ClipSource(path: path)
        #expect(source.format == expected)
        let layout = try #require(try source.nextFrame()).image.layout
        #expect(layout == ImageLayout(width: 640, height: 480, format: .planar(horizontal: 2, vertical: 2), encoding: .jpeg))
    }

    @Test(.enabled(if: ffmpegIsInstalled))
    func `a clip's pixels are those that ffmpeg decodes`() async throws {
        let folder = try TemporaryFolder()
        try await ffmpeg(["-i", clip("empty_room.avi"), "-f", "rawvideo", "-pix_fmt", "yuvj420p", "\(folder.path)/frames.yuv"])
        let expected = try Data(contentsOf: URL(filePath: "\(folder.path)/frames.yuv"), options: .alwaysMapped)
        let frames = try ClipSource(path: clip("empty_room.avi")).allFrames()
        let size = 640 * 480 * 3 / 2
        try #require(expected.count == frames.count * size)
        for (index, frame) in frames.enumerated() {
            let equal = frame.image.withBytes { bytes in
                expected.withUnsafeBytes { memcmp($0.baseAddress! + index * size, bytes.baseAddress!, size) == 0 }
            }
            #expect(equal, "frame \(index)")
        }
    }

    /// Name of the variant, ffmpeg's arguments, its raw pixel format, and the layout expected.
    static let variants: [(String, [String], String, PixelFormat, ColorEncoding)] = [
        ("h264.mp4", ["-c:v", "libx264", "-pix_fmt", "yuv420p"], "yuv420p", .planar(horizontal: 2, vertical: 2), .init(fullRange: false)),
        (
            "h264-bt709.mkv",
            ["-c:v", "libx264", "-vf", "scale=out_color_matrix=bt709:out_range=tv,format=yuv444p", "-colorspace", "bt709"], "yuv444p",
            .planar(horizontal: 1, vertical: 1), .init(fullRange: false, bt709: true)
        ),
        ("mpeg4.avi", ["-c:v", "mpeg4", "-bf", "2"], "yuv420p", .planar(horizontal: 2, vertical: 2), .init(fullRange: false)),
        ("422.avi", ["-c:v", "mjpeg", "-pix_fmt", "yuvj422p"], "yuvj422p", .planar(horizontal: 2, vertical: 1), .jpeg),
        ("odd.avi", ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-s", "319x241"], "yuvj420p", .planar(horizontal: 2, vertical: 2), .jpeg),
        ("gray.mkv", ["-c:v", "ffv1", "-pix_fmt", "gray"], "gray", .gray, .init(fullRange: true)),
        ("nv12.nut", ["-c:v", "rawvideo", "-pix_fmt", "nv12"], "nv12", .nv12, .init(fullRange: false)),
        ("yuyv.nut", ["-c:v", "rawvideo", "-pix_fmt", "yuyv422"], "yuyv422", .yuyv, .init(fullRange: false)),
        ("rgb.nut", ["-c:v", "rawvideo", "-pix_fmt", "rgb24"], "rgb24", .rgb24, .init(fullRange: true)),
    ]

    @Test(.enabled(if: ffmpegIsInstalled), arguments: variants.indices)
    func `other containers, codecs and pixel formats decode as ffmpeg does`(index: Int) async throws {
        let (name, arguments, raw, format, encoding) = Self.variants[index]
        let folder = try TemporaryFolder()
        let (video, frames) = ("\(folder.path)/\(name)", "\(folder.path)/frames.raw")
        try await ffmpeg(["-i", clip("empty_room.avi"), "-frames:v", "12"] + arguments + [video])
        try await ffmpeg(["-i", video, "-f", "rawvideo", "-pix_fmt", raw, frames])
        let source = try ClipSource(path: video)
        let decoded = try source.allFrames()
        #expect(decoded.count == 12)
        #expect(decoded.allSatisfy { $0.image.layout.format == format && $0.image.layout.encoding == encoding })
        #expect(decoded.enumerated().allSatisfy { abs($1.time - Double($0) / 30) < 2e-3 })
        // AVI stores no presentation times, so one of reordered frames has none.
        #expect(source.counters.repairedTimes <= (name == "mpeg4.avi" ? 1 : 0))
        let expected = try contents(frames)
        let size = try #require(decoded.first).image.layout.byteCount
        try #require(expected.count == 12 * size)
        for (index, frame) in decoded.enumerated() {
            #expect(frame.image.bytes == Array(expected[(index * size)...].prefix(size)), "frame \(index)")
        }
    }

    @Test(.enabled(if: ffmpegIsInstalled), arguments: [0, 90, 180, 270])
    func `a clip turned by the reported rotation stands as ffmpeg shows it`(tag: Int) async throws {
        let folder = try TemporaryFolder()
        let (plain, video, shown) = ("\(folder.path)/plain.mp4", "\(folder.path)/rotated.mp4", "\(folder.path)/shown.raw")
        try await ffmpeg(["-i", clip("empty_room.avi"), "-frames:v", "1", "-c:v", "libx264", "-pix_fmt", "yuv420p", plain])
        try await ffmpeg(["-i", plain, "-c", "copy", "-metadata:s:v:0", "rotate=\(tag)", video])
        try await ffmpeg(["-i", video, "-f", "rawvideo", "-pix_fmt", "yuv420p", shown])
        let source = try ClipSource(path: video)
        #expect(source.format.rotation % 180 == tag % 180)
        let image = try #require(try source.nextFrame()).image
        #expect((image.width, image.height) == (640, 480))
        let luma = Array(image.bytes.prefix(640 * 480))
        #expect(
            turnedClockwise(luma, width: 640, height: 480, degrees: source.format.rotation) == Array(try contents(shown).prefix(640 * 480)))
    }

    @Test(.enabled(if: ffmpegIsInstalled))
    func `several decoder threads yield the same frames as one`() async throws {
        let folder = try TemporaryFolder()
        let video = "\(folder.path)/h264.mp4"
        try await ffmpeg(["-i", clip("empty_room.avi"), "-frames:v", "24", "-c:v", "libx264", "-pix_fmt", "yuv420p", video])
        let single = try ClipSource(path: video, threads: 1).allFrames()
        let several = try ClipSource(path: video, threads: 0).allFrames()
        #expect(single.count == 24)
        #expect(single.map(\.time) == several.map(\.time))
        #expect(single.map(\.image.bytes) == several.map(\.image.bytes))
    }

    @Test func `an interrupted clip yields nothing more`() throws {
        let interruption = Interruption()
        let source = try ClipSource(path: clip("empty_room.avi"), interruption: interruption)
        #expect(try source.nextFrame() != nil)
        interruption.interrupt()
        #expect(try source.nextFrame() == nil)
    }

    @Test func `a stream of frames that are let go lives in one frame's memory`() throws {
        let source = try ClipSource(path: clip("empty_room.avi"))
        var addresses: Set<UnsafeRawPointer?> = []
        while let frame = try source.nextFrame() { addresses.insert(frame.image.withBytes(\.baseAddress)) }
        #expect(addresses.count <= 2)
    }
}

/// A plane of bytes turned by a multiple of 90 degrees.
private func turnedClockwise(_ plane: [UInt8], width: Int, height: Int, degrees: Int) -> [UInt8] {
    if degrees == 0 { return plane }
    var turned: [UInt8] = []
    for x in 0..<width {
        for y in (0..<height).reversed() { turned.append(plane[y * width + x]) }
    }
    return turnedClockwise(turned, width: height, height: width, degrees: degrees - 90)
}
