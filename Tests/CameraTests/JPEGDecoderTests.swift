import CTurboJPEG
import Foundation
import Imaging
import TestSupport
import Testing

@testable import Camera

struct JPEGDecoderTests {
    /// What TurboJPEG calls them, as ffmpeg's pixel formats.
    @Test(.enabled(if: ffmpegIsInstalled), arguments: ["still_open.jpg", "still_pinch.jpg", "still_point.jpg"])
    func `a still's planes are those that ffmpeg decodes`(name: String) async throws {
        let folder = try TemporaryFolder()
        try await ffmpeg(["-i", clip(name), "-f", "rawvideo", "-pix_fmt", "yuvj420p", "\(folder.path)/still.yuv"])
        let image = try #require(decode(try contents(clip(name))))
        #expect(image.layout == ImageLayout(width: 640, height: 480, format: .planar(horizontal: 2, vertical: 2), encoding: .jpeg))
        expectAlike(image.bytes, try contents("\(folder.path)/still.yuv"))
    }

    @Test(
        .enabled(if: ffmpegIsInstalled),
        arguments: [
            ("yuvj444p", PixelFormat.planar(horizontal: 1, vertical: 1)), ("yuvj422p", .planar(horizontal: 2, vertical: 1)),
            ("yuvj420p", .planar(horizontal: 2, vertical: 2)),
        ], [(64, 48), (63, 47), (17, 33), (1, 1)])
    func `every subsampling and odd sizes decode as ffmpeg does`(variant: (String, PixelFormat), size: (Int, Int)) async throws {
        let folder = try TemporaryFolder()
        let (path, raw) = ("\(folder.path)/small.jpg", "\(folder.path)/small.raw")
        try await ffmpeg([
            "-i", clip("still_open.jpg"), "-vf", "scale=\(size.0):\(size.1)", "-pix_fmt", variant.0, "-q:v", "2", "-update", "1", path,
        ])
        try await ffmpeg(["-i", path, "-f", "rawvideo", "-pix_fmt", variant.0, raw])
        let image = try #require(decode(contents(path)))
        #expect(image.layout.format == variant.1)
        #expect((image.width, image.height) == size)
        expectAlike(tight(image), try contents(raw))
    }

    @Test(.enabled(if: ffmpegIsInstalled))
    func `frames without Huffman tables, as cameras send them, use the standard ones`() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/standard.jpg"
        try await ffmpeg(["-i", clip("still_open.jpg"), "-huffman", "default", "-update", "1", path])
        let whole = try contents(path)
        let bare = removingSegments(whole, marker: 0xC4)
        try #require(bare.count < whole.count)
        let (bareImage, image) = (try #require(decode(bare)).bytes, try #require(decode(whole)).bytes)
        #expect(bareImage == image)
    }

    @Test(arguments: ["still_open.jpg", "still_pinch.jpg", "still_point.jpg"], [2, 4, 8])
    func `decoded smaller, a pixel is the mean of those it stands for`(name: String, reduction: Int) throws {
        let bytes = try contents(clip(name))
        let (whole, small) = (try #require(decode(bytes)), try #require(decode(bytes, reduction: reduction)))
        #expect((small.width, small.height, small.layout.reduction) == (640, 480, reduction))
        #expect((small.layout.width, small.layout.height) == (640 / reduction, 480 / reduction))
        for (from, to) in zip(whole.layout.planes, small.layout.planes) {
            let (wholeBytes, smallBytes) = (whole.bytes, small.bytes)
            let isLuma = to.offset == 0
            let (width, height) = (small.layout.width / (isLuma ? 1 : 2), small.layout.height / (isLuma ? 1 : 2))
            var difference = 0
            for y in 0..<height {
                for x in 0..<width {
                    var sum = 0
                    for row in 0..<reduction {
                        let start = from.offset + (y * reduction + row) * from.stride + x * reduction
                        sum += wholeBytes[start..<start + reduction].reduce(0) { $0 + Int($1) }
                    }
                    difference += abs(Int(smallBytes[to.offset + y * to.stride + x]) - sum / (reduction * reduction))
                }
            }
            #expect(Double(difference) / Double(width * height) < 1.5)
        }
    }

    @Test(
        .enabled(if: ffmpegIsInstalled), arguments: ["yuvj444p", "yuvj422p", "yuvj420p"],
        [(640, 480), (63, 47), (17, 33), (1, 1)])
    func `every subsampling and odd sizes decode smaller within their planes`(format: String, size: (Int, Int)) async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/small.jpg"
        try await ffmpeg([
            "-i", clip("still_open.jpg"), "-vf", "scale=\(size.0):\(size.1)", "-pix_fmt", format, "-q:v", "2", "-update", "1", path,
        ])
        let bytes = try contents(path)
        let whole = try #require(decode(bytes))
        func mean(_ image: ImageBuffer) -> Double {
            let bytes = image.bytes
            let luma = (0..<image.layout.height).flatMap {
                bytes[$0 * image.layout.planes[0].stride..<$0 * image.layout.planes[0].stride + image.layout.width]
            }
            return Double(luma.reduce(0) { $0 + Int($1) }) / Double(luma.count)
        }
        for reduction in [2, 4, 8] {
            let small = try #require(decode(bytes, reduction: reduction))
            #expect((small.width, small.height) == size)
            #expect(
                small.layout.width == (size.0 + reduction - 1) / reduction && small.layout.height == (size.1 + reduction - 1) / reduction)
            #expect(abs(mean(small) - mean(whole)) < 8, "1/\(reduction)")
        }
    }

    @Test func `one decoder turns from size to size`() throws {
        let whole = try contents(clip("still_open.jpg"))
        var decoder = JPEGDecoder()
        let pool = ImagePool()
        for reduction in [1, 4, 4, 1, 2, 8, 1] {
            let image = whole.withUnsafeBytes { decoder.decode($0, reduction: reduction, pool: pool) }
            let expected = decode(whole, reduction: reduction)?.bytes
            #expect(image?.layout.reduction == reduction)
            #expect(image?.bytes == expected)
        }
    }

    @Test func `padding behind the end and stray bytes between segments do no harm`() throws {
        let whole = try contents(clip("still_open.jpg"))
        let image = try #require(decode(whole)).bytes
        let padded = decode(whole + [UInt8](repeating: 0, count: 4_096))?.bytes
        let strayed = decode(Array(whole.prefix(2)) + [0, 0, 0] + whole.dropFirst(2))?.bytes
        #expect(padded == image)
        #expect(strayed == image)
    }

    @Test func `a picture cut short anywhere is refused`() throws {
        let whole = try contents(clip("still_open.jpg"))
        for length in stride(from: 0, to: whole.count - 1, by: 97) {
            #expect(decode(Array(whole.prefix(length))) == nil, "\(length) bytes")
            // Even if the end marker is there.
            #expect(decode(Array(whole.prefix(length)) + [0xFF, 0xD9]) == nil, "\(length) bytes and an end")
        }
    }

    @Test(arguments: UInt64(0)..<16) func `flipped and random bytes never do worse than a refusal`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let whole = try contents(clip("still_open.jpg"))
        var decoder = JPEGDecoder()
        let pool = ImagePool()
        for _ in 0..<12 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...20, using: &generator) {
                bytes[Int.random(in: 2..<(seed.isMultiple(of: 2) ? 700 : bytes.count), using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            let image = bytes.withUnsafeBytes { decoder.decode($0, pool: pool) }
            if let image { #expect(image.width * image.height <= 7680 * 4320) }
        }
    }

    @Test func `a decoder is as good as new after each broken picture`() throws {
        let whole = try contents(clip("still_open.jpg"))
        let image = try #require(decode(whole)).bytes
        var decoder = JPEGDecoder()
        let pool = ImagePool()
        var refused = 0
        for position in stride(from: 2, to: 700, by: 7) {
            var broken = whole
            broken[position] ^= 0xFF
            if broken.withUnsafeBytes({ decoder.decode($0, pool: pool) }) == nil { refused += 1 }
            let isWhole = whole.withUnsafeBytes { decoder.decode($0, pool: pool) }?.bytes == image
            #expect(isWhole, "after the byte at \(position)")
        }
        #expect(refused > 10)
    }

    @Test(.enabled(if: ffmpegIsInstalled)) func `a gray picture has no chroma`() async throws {
        let folder = try TemporaryFolder()
        let width: Int32 = 33
        let luma: [UInt8] = (0..<33 * 17).map { (index: Int) -> UInt8 in UInt8(50 + index % 33 * 4) }
        let path = try folder.file("gray.jpg", grayJPEG(luma, width: width))
        try await ffmpeg(["-i", path, "-f", "rawvideo", "-pix_fmt", "gray", "\(folder.path)/gray.raw"])
        let image = try #require(decode(contents(path)))
        #expect(image.layout == ImageLayout(width: 33, height: 17, format: .gray))
        expectAlike(image.bytes, try contents("\(folder.path)/gray.raw"))
    }
}

private func decode(_ bytes: [UInt8], reduction: Int = 1) -> ImageBuffer? {
    var decoder = JPEGDecoder()
    return bytes.withUnsafeBytes { decoder.decode($0, reduction: reduction, pool: ImagePool()) }
}

/// A gray picture, which ffmpeg's encoder does not make.
private func grayJPEG(_ luma: [UInt8], width: Int32) -> [UInt8] {
    let handle = tjInitCompress()
    var (jpeg, size): (UnsafeMutablePointer<UInt8>?, UInt) = (nil, 0)
    let format = Int32(TJPF_GRAY.rawValue)
    tjCompress2(
        handle, luma, width, width, Int32(luma.count) / width, format, &jpeg, &size, Int32(TJSAMP_GRAY.rawValue), 90, 0)
    defer {
        tjFree(jpeg)
        tjDestroy(handle)
    }
    return Array(UnsafeBufferPointer(start: jpeg, count: Int(size)))
}

/// The planes without the padding of their rows.
private func tight(_ image: ImageBuffer) -> [UInt8] {
    let wanted = ImageLayout(width: image.width, height: image.height, format: image.layout.format, encoding: image.layout.encoding)
    let bytes = image.bytes
    var result: [UInt8] = []
    for (from, to) in zip(image.layout.planes, wanted.planes) {
        let end = wanted.planes.first { $0.offset > to.offset }?.offset ?? wanted.byteCount
        for row in 0..<(end - to.offset) / to.stride { result += bytes[(from.offset + row * from.stride)...].prefix(to.stride) }
    }
    return result
}

/// Two decoders may round the inverse cosine transform differently, by one or two steps here and there.
private func expectAlike(_ actual: [UInt8], _ expected: [UInt8]) {
    #expect(actual.count == expected.count)
    let differences = zip(actual, expected).map { abs(Int($0) - Int($1)) }
    #expect(differences.max() ?? .max <= 3)
    #expect(Double(differences.reduce(0, +)) / Double(max(1, differences.count)) < 0.1)
}

/// A JPEG without its segments of one kind.
private func removingSegments(_ bytes: [UInt8], marker: UInt8) -> [UInt8] {
    var result = Array(bytes.prefix(2))
    var position = 2
    while bytes[position] == 0xFF, bytes[position + 1] != 0xDA {
        let end = position + 2 + Int(bytes[position + 2]) << 8 + Int(bytes[position + 3])
        if bytes[position + 1] != marker { result += bytes[position..<end] }
        position = end
    }
    return result + bytes[position...]
}
