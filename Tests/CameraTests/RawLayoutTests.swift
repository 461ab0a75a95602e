import CV4L2
import Imaging
import Testing

@testable import Camera

struct RawLayoutTests {
    static let formats: [FourCC] = [.yuyv, .nv12, .yu12, .grey]

    @Test(arguments: formats, [(8, 4, 0), (8, 4, 6), (7, 3, 0), (7, 3, 3), (2, 2, 62)])
    func `rows are copied to their places and padding is left behind`(format: FourCC, size: (width: Int, height: Int, padding: Int)) throws
    {
        let least = format == .yuyv ? (size.width + 1) / 2 * 4 : format == .nv12 ? (size.width + 1) / 2 * 2 : size.width
        let raw = try #require(
            RawLayout(format: format, width: size.width, height: size.height, bytesPerLine: least + size.padding, encoding: .jpeg))
        // Every sample tells its plane, row and column; padding is 0xFF.
        func sample(_ plane: Int, _ row: Int, _ column: Int) -> UInt8 { UInt8((plane * 80 + row * 20 + column) % 250) }
        var source = [UInt8](repeating: 0xFF, count: raw.byteCount)
        var expected: [UInt8] = []
        for (plane, place) in raw.source.enumerated() {
            for row in 0..<raw.layout.rows(ofPlane: plane) {
                for column in 0..<raw.layout.planes[plane].stride {
                    source[place.offset + row * place.stride + column] = sample(plane, row, column)
                    expected.append(sample(plane, row, column))
                }
            }
        }
        let image = source.withUnsafeBytes { raw.image(of: $0, pool: ImagePool()) }
        let bytes = try #require(image).bytes
        // A luma row of an odd width is one shorter than NV12's row of pairs.
        #expect(bytes == expected)
    }

    @Test(arguments: formats) func `a short frame is refused and a long one is not`(format: FourCC) throws {
        let raw = try #require(RawLayout(format: format, width: 16, height: 8, bytesPerLine: 0, encoding: .jpeg))
        let bytes = [UInt8](repeating: 7, count: raw.byteCount + 5)
        bytes.withUnsafeBytes { bytes in
            #expect(raw.image(of: UnsafeRawBufferPointer(rebasing: bytes.dropLast(6)), pool: ImagePool()) == nil)
            #expect(raw.image(of: bytes, pool: ImagePool()) != nil)
            #expect(raw.image(of: UnsafeRawBufferPointer(start: nil, count: 0), pool: ImagePool()) == nil)
        }
    }

    @Test func `rows too short for the width, no size and compressed formats have no layout`() {
        #expect(RawLayout(format: .yuyv, width: 16, height: 8, bytesPerLine: 31, encoding: .jpeg) == nil)
        #expect(RawLayout(format: .yuyv, width: 0, height: 8, bytesPerLine: 32, encoding: .jpeg) == nil)
        #expect(RawLayout(format: .mjpg, width: 16, height: 8, bytesPerLine: 0, encoding: .jpeg) == nil)
    }

    static let encodings: [(colorspace: v4l2_colorspace, quantization: v4l2_quantization, matrix: v4l2_ycbcr_encoding, ColorEncoding)] = [
        (V4L2_COLORSPACE_SRGB, V4L2_QUANTIZATION_DEFAULT, V4L2_YCBCR_ENC_DEFAULT, .init(fullRange: false)),
        (V4L2_COLORSPACE_JPEG, V4L2_QUANTIZATION_DEFAULT, V4L2_YCBCR_ENC_DEFAULT, .init(fullRange: true)),
        (V4L2_COLORSPACE_SRGB, V4L2_QUANTIZATION_FULL_RANGE, V4L2_YCBCR_ENC_DEFAULT, .init(fullRange: true)),
        (V4L2_COLORSPACE_JPEG, V4L2_QUANTIZATION_LIM_RANGE, V4L2_YCBCR_ENC_601, .init(fullRange: false)),
        (V4L2_COLORSPACE_REC709, V4L2_QUANTIZATION_DEFAULT, V4L2_YCBCR_ENC_DEFAULT, .init(fullRange: false, bt709: true)),
        (V4L2_COLORSPACE_REC709, V4L2_QUANTIZATION_DEFAULT, V4L2_YCBCR_ENC_601, .init(fullRange: false)),
        (V4L2_COLORSPACE_SRGB, V4L2_QUANTIZATION_DEFAULT, V4L2_YCBCR_ENC_709, .init(fullRange: false, bt709: true)),
    ]

    @Test(arguments: encodings.indices) func `what a driver says of colours, and what it leaves unsaid, has a meaning`(index: Int) {
        let (colorspace, quantization, matrix, encoding) = Self.encodings[index]
        var format = v4l2_pix_format()
        (format.colorspace, format.quantization, format.ycbcr_enc) = (colorspace.rawValue, quantization.rawValue, matrix.rawValue)
        #expect(ColorEncoding(format) == encoding)
    }
}
