import Imaging
import TestSupport
import Testing

extension SeededGenerator {
    mutating func byte() -> UInt8 { .random(in: .min ... .max, using: &self) }
}

/// What the sampler wrote.
struct Tensor {
    var numbers: [Float]
    var width: Int

    func pixel(_ x: Int, _ y: Int) -> SIMD3<Float> {
        let start = 3 * (y * width + x)
        return SIMD3(numbers[start], numbers[start + 1], numbers[start + 2])
    }
}

private let identity = AffineMap(a: 1, b: 0, c: 0, d: 0, e: 1, f: 0)

func sample(_ image: ImageBuffer, through map: AffineMap = identity, width: Int, height: Int) -> Tensor {
    var numbers = [Float](repeating: -1, count: width * height * 3)
    numbers.withUnsafeMutableBufferPointer { ImageSampler.sample(image, through: map, width: width, height: height, into: $0) }
    return Tensor(numbers: numbers, width: width)
}

func expect(
    _ pixel: SIMD3<Float>, is rgb: (UInt8, UInt8, UInt8), within tolerance: Float, _ note: String = "",
    at location: SourceLocation = #_sourceLocation
) {
    let difference = pixel * 255 - SIMD3(Float(rgb.0), Float(rgb.1), Float(rgb.2))
    #expect(max(difference.max(), -difference.min()) <= tolerance, "\(pixel * 255) is not \(rgb) \(note)", sourceLocation: location)
}

/// One colour as Y, U, V of an encoding and as the RGB that the encoding's standard makes of it, computed by hand from the
/// coefficients of ITU-R BT.601 and BT.709.
struct Encoded: Sendable {
    var encoding: ColorEncoding
    var yuv: (UInt8, UInt8, UInt8)
    var rgb: (UInt8, UInt8, UInt8)

    static let formats: [PixelFormat] = [
        .yuyv, .nv12, .planar(horizontal: 2, vertical: 2), .planar(horizontal: 2, vertical: 1), .planar(horizontal: 1, vertical: 1),
    ]

    private static let full601 = ColorEncoding(fullRange: true)
    private static let limited601 = ColorEncoding(fullRange: false)
    private static let full709 = ColorEncoding(fullRange: true, bt709: true)
    private static let limited709 = ColorEncoding(fullRange: false, bt709: true)

    static let all: [Encoded] = [
        // Black, white and gray of all four.
        Encoded(encoding: full601, yuv: (0, 128, 128), rgb: (0, 0, 0)),
        Encoded(encoding: full601, yuv: (255, 128, 128), rgb: (255, 255, 255)),
        Encoded(encoding: limited601, yuv: (16, 128, 128), rgb: (0, 0, 0)),
        Encoded(encoding: limited601, yuv: (235, 128, 128), rgb: (255, 255, 255)),
        Encoded(encoding: full709, yuv: (100, 128, 128), rgb: (100, 100, 100)),
        Encoded(encoding: limited709, yuv: (126, 128, 128), rgb: (128, 128, 128)),
        // The 75 % colour bars' red and blue of BT.601 and BT.709 in limited range, as published: (191, 0, 0) and (0, 0, 191).
        Encoded(encoding: limited601, yuv: (65, 100, 212), rgb: (191, 0, 0)),
        Encoded(encoding: limited601, yuv: (35, 212, 114), rgb: (0, 0, 191)),
        Encoded(encoding: limited601, yuv: (112, 72, 58), rgb: (0, 191, 0)),
        Encoded(encoding: limited709, yuv: (51, 109, 212), rgb: (191, 0, 0)),
        Encoded(encoding: limited709, yuv: (28, 212, 120), rgb: (0, 0, 191)),
        Encoded(encoding: limited709, yuv: (133, 63, 52), rgb: (0, 191, 0)),
        // 120 + 1.402·40 = 176.1, 120 − 0.344136·(−30) − 0.714136·40 = 101.8, 120 + 1.772·(−30) = 66.8
        Encoded(encoding: full601, yuv: (120, 98, 168), rgb: (176, 102, 67)),
        // 120 + 1.5748·40 = 183.0, 120 + 0.187324·30 − 0.468124·40 = 106.9, 120 − 1.8556·30 = 64.3
        Encoded(encoding: full709, yuv: (120, 98, 168), rgb: (183, 107, 64)),
        // Beyond what RGB can show: clamped.
        Encoded(encoding: full601, yuv: (255, 128, 255), rgb: (255, 164, 255)),
        Encoded(encoding: full601, yuv: (0, 0, 128), rgb: (0, 44, 0)),
    ]
}

/// A picture of one colour.
func plain(_ layout: ImageLayout, _ colour: Encoded) -> ImageBuffer {
    let (y, u, v) = colour.yuv
    return ImageBuffer(layout: layout) { memory in
        func fill(_ plane: Int, _ count: Int, _ pattern: [UInt8]) {
            for index in 0..<count { memory[layout.planes[plane].offset + index] = pattern[index % pattern.count] }
        }
        switch layout.format {
        case .yuyv: fill(0, layout.byteCount, [y, u, y, v])
        case .nv12:
            fill(0, layout.planes[1].offset, [y])
            fill(1, layout.byteCount - layout.planes[1].offset, [u, v])
        case .planar:
            fill(0, layout.planes[1].offset, [y])
            fill(1, layout.planes[2].offset - layout.planes[1].offset, [u])
            fill(2, layout.byteCount - layout.planes[2].offset, [v])
        case .gray, .rgb24: fill(0, layout.byteCount, [y])
        }
    }
}

/// A picture in RGB from which the other formats are made.
struct Picture {
    let width: Int
    let height: Int
    private var pixels: [(UInt8, UInt8, UInt8)] = []

    init(width: Int, height: Int, _ colour: (Int, Int) -> (UInt8, UInt8, UInt8)) {
        (self.width, self.height) = (width, height)
        for y in 0..<height {
            for x in 0..<width { pixels.append(colour(x, y)) }
        }
    }

    subscript(x: Int, y: Int) -> (UInt8, UInt8, UInt8) { pixels[y * width + x] }

    var rgb24: ImageBuffer {
        ImageBuffer(layout: ImageLayout(width: width, height: height, format: .rgb24)) { memory in
            memory.copyBytes(from: pixels.flatMap { [$0.0, $0.1, $0.2] })
        }
    }

    /// Full-range BT.601, each chroma sample the mean of the pixels it stands for.
    func encoded(as format: PixelFormat) -> ImageBuffer {
        let layout = ImageLayout(width: width, height: height, format: format, encoding: .jpeg)
        func byte(_ value: Double) -> UInt8 { UInt8(min(max(value.rounded(), 0), 255)) }
        func luma(_ x: Int, _ y: Int) -> Double {
            let (r, g, b) = self[x, y]
            return 0.299 * Double(r) + 0.587 * Double(g) + 0.114 * Double(b)
        }
        func chroma(_ column: Int, _ row: Int, _ horizontal: Int, _ vertical: Int) -> (UInt8, UInt8) {
            var (u, v, count) = (0.0, 0.0, 0.0)
            for y in row * vertical..<min((row + 1) * vertical, height) {
                for x in column * horizontal..<min((column + 1) * horizontal, width) {
                    u += (Double(self[x, y].2) - luma(x, y)) / 1.772
                    v += (Double(self[x, y].0) - luma(x, y)) / 1.402
                    count += 1
                }
            }
            return (byte(u / count + 128), byte(v / count + 128))
        }
        return ImageBuffer(layout: layout) { memory in
            for y in 0..<height {
                for x in 0..<width {
                    let planes = layout.planes
                    switch format {
                    case .gray, .rgb24: continue
                    case .yuyv:
                        memory[y * planes[0].stride + 2 * x] = byte(luma(x, y))
                        let (u, v) = chroma(x / 2, y, 2, 1)
                        memory[y * planes[0].stride + 4 * (x / 2) + 1] = u
                        memory[y * planes[0].stride + 4 * (x / 2) + 3] = v
                    case .nv12:
                        memory[y * planes[0].stride + x] = byte(luma(x, y))
                        let (u, v) = chroma(x / 2, y / 2, 2, 2)
                        let start = planes[1].offset + y / 2 * planes[1].stride + 2 * (x / 2)
                        (memory[start], memory[start + 1]) = (u, v)
                    case .planar(let horizontal, let vertical):
                        memory[y * planes[0].stride + x] = byte(luma(x, y))
                        let (u, v) = chroma(x / horizontal, y / vertical, horizontal, vertical)
                        memory[planes[1].offset + y / vertical * planes[1].stride + x / horizontal] = u
                        memory[planes[2].offset + y / vertical * planes[2].stride + x / horizontal] = v
                    }
                }
            }
        }
    }
}
