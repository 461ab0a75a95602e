import Camera
import FoundationEssentials
import Imaging
import TestSupport
import Testing

@testable import Preview

/// Pictures are encoded in every layout, written to a file, and read back by FFmpeg.
struct PictureEncoderTests {
    /// Left half dark and grey, right half bright and of a colour, in full range.
    private static func fill(_ layout: ImageLayout) -> ImageBuffer {
        ImageBuffer(layout: layout) { memory in
            func scale(_ value: Int, luma: Bool) -> UInt8 {
                guard !layout.encoding.fullRange else { return UInt8(value) }
                return UInt8(16 + value * (luma ? 219 : 224) / 255)
            }
            for index in memory.indices { memory[index] = scale(128, luma: false) }
            for y in 0..<layout.height {
                for x in 0..<layout.width {
                    let isRight = x >= layout.width / 2
                    let luma = scale(isRight ? 200 : 50, luma: true)
                    switch layout.format {
                    case .rgb24:
                        for channel in 0..<3 { memory[y * layout.planes[0].stride + 3 * x + channel] = isRight ? 200 : 50 }
                    case .yuyv: memory[y * layout.planes[0].stride + 2 * x] = luma
                    default: memory[layout.planes[0].offset + y * layout.planes[0].stride + x] = luma
                    }
                }
            }
        }
    }

    @Test(arguments: [
        PixelFormat.gray, .rgb24, .yuyv, .nv12, .planar(horizontal: 1, vertical: 1), .planar(horizontal: 2, vertical: 1),
        .planar(horizontal: 2, vertical: 2), .planar(horizontal: 4, vertical: 4),
    ])
    func `a picture of any layout, range and odd size comes back as it was`(format: PixelFormat) throws {
        for isFullRange in [true, false] {
            for (width, height) in [(64, 48), (61, 47)] {
                let layout = ImageLayout(width: width, height: height, format: format, encoding: ColorEncoding(fullRange: isFullRange))
                var encoder = PictureEncoder()
                let encoded = encoder.encode(Self.fill(layout))
                let jpeg = try #require(encoded)
                let folder = try Paths.temporaryFolder()
                defer { Paths.remove(folder) }
                try Data(jpeg).write(to: URL(filePath: "\(folder)/picture.jpg"))
                let frame = try #require(try ClipSource(path: "\(folder)/picture.jpg").nextFrame())
                #expect(frame.image.width == width && frame.image.height == height)
                frame.image.withBytes { bytes in
                    let plane = frame.image.layout.planes[0]
                    func luma(_ x: Int, _ y: Int) -> Int { Int(bytes[plane.offset + y * plane.stride + x]) }
                    #expect(abs(luma(8, height / 2) - 50) < 8, "\(format) \(isFullRange)")
                    #expect(abs(luma(width - 8, height / 2) - 200) < 8, "\(format) \(isFullRange)")
                }
            }
        }
    }
}
