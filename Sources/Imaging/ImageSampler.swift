/// Cuts a region out of a picture as the RGB tensor a model wants, straight from the camera's own planes.
///
/// Only the pixels that the tensor needs are read and converted, so a picture is never turned into RGB as a whole.
public enum ImageSampler {
    /// Fills `output` with `height`×`width`×3 numbers from 0 to 1, rows first, each pixel R, G, B.
    ///
    /// `map` leads to pixels of the picture as it was captured. Samples bilinearly; what lies outside the picture is black. As in MediaPipe's CPU path, pixel (u, v) of the tensor is taken at
    /// `map(u, v)` in units of source pixels whose integer coordinates are the samples themselves.
    ///
    /// - Precondition: `output` holds at least `height * width * 3` numbers.
    public static func sample(
        _ image: ImageBuffer, through map: AffineMap, width: Int, height: Int, into output: UnsafeMutableBufferPointer<Float>
    ) {
        precondition(output.count >= width * height * 3, "the tensor is smaller than the region")
        guard let output = output.baseAddress else { return }
        let layout = image.layout
        let map = map.reducedRange(by: layout.reduction)
        image.withBytes { bytes in
            guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            let target = Target(output: output, width: width, height: height)
            switch layout.format {
            case .rgb24:
                fill(target, through: map, reading: RGBReader(layout: layout, base: base))
            case .gray:
                fill(target, through: map, reading: GrayReader(layout: layout, base: base))
            case .yuyv:
                let plane = layout.planes[0]
                fill(
                    target, through: map,
                    reading: YUVReader(
                        luma: Component(base + plane.offset, plane.stride, step: 2, layout.width, layout.height),
                        u: Component(base + plane.offset + 1, plane.stride, step: 4, (layout.width + 1) / 2, layout.height),
                        v: Component(base + plane.offset + 3, plane.stride, step: 4, (layout.width + 1) / 2, layout.height),
                        horizontal: 2, vertical: 1, encoding: layout.encoding))
            case .nv12:
                let (luma, chroma) = (layout.planes[0], layout.planes[1])
                let (width, height) = ((layout.width + 1) / 2, (layout.height + 1) / 2)
                fill(
                    target, through: map,
                    reading: YUVReader(
                        luma: Component(base + luma.offset, luma.stride, step: 1, layout.width, layout.height),
                        u: Component(base + chroma.offset, chroma.stride, step: 2, width, height),
                        v: Component(base + chroma.offset + 1, chroma.stride, step: 2, width, height),
                        horizontal: 2, vertical: 2, encoding: layout.encoding))
            case .planar(let horizontal, let vertical):
                let planes = layout.planes
                let (width, height) = ((layout.width + horizontal - 1) / horizontal, (layout.height + vertical - 1) / vertical)
                fill(
                    target, through: map,
                    reading: YUVReader(
                        luma: Component(base + planes[0].offset, planes[0].stride, step: 1, layout.width, layout.height),
                        u: Component(base + planes[1].offset, planes[1].stride, step: 1, width, height),
                        v: Component(base + planes[2].offset, planes[2].stride, step: 1, width, height),
                        horizontal: horizontal, vertical: vertical, encoding: layout.encoding))
            }
        }
    }

    private struct Target {
        var output: UnsafeMutablePointer<Float>
        var width: Int
        var height: Int
    }

    @inline(__always)
    private static func fill<Reader: PixelReader>(_ target: Target, through map: AffineMap, reading reader: Reader) {
        for row in 0..<target.height {
            let output = target.output + row * target.width * 3
            let (startX, startY) = (map.b * Float(row) + map.c, map.e * Float(row) + map.f)
            let inside = columnsInside(map, startX, startY, reader, count: target.width)
            for column in 0..<inside.lowerBound {
                store(reader.rgb(atX: map.a * Float(column) + startX, y: map.d * Float(column) + startY), output + column * 3)
            }
            // Only where there are such columns is the map known to fit fixed point.
            if !inside.isEmpty {
                reader.fillInside(
                    output + inside.lowerBound * 3, count: inside.count,
                    x: FixedPoint(map.a * Float(inside.lowerBound) + startX), y: FixedPoint(map.d * Float(inside.lowerBound) + startY),
                    stepX: FixedPoint(map.a), stepY: FixedPoint(map.d))
            }
            for column in inside.upperBound..<target.width {
                store(reader.rgb(atX: map.a * Float(column) + startX, y: map.d * Float(column) + startY), output + column * 3)
            }
        }
    }

    @inline(__always)
    private static func store(_ rgb: SIMD3<Float>, _ output: UnsafeMutablePointer<Float>) {
        output[0] = rgb.x
        output[1] = rgb.y
        output[2] = rgb.z
    }

    /// The columns of one row whose four neighbours all lie in the picture, with a pixel to spare for rounding.
    @inline(__always)
    private static func columnsInside(
        _ map: AffineMap, _ startX: Float, _ startY: Float, _ reader: some PixelReader, count: Int
    ) -> Range<Int> {
        var (low, high) = (Float(0), Float(count))
        for (start, step, limit) in [(startX, map.a, Float(reader.width - 3)), (startY, map.d, Float(reader.height - 3))] {
            guard limit >= 1, start.isFinite, step.isFinite, abs(step) < FixedPoint.limit else { return 0..<0 }
            if abs(step) < 1e-6 {
                guard start >= 1, start <= limit else { return 0..<0 }
                continue
            }
            let (first, last) = ((1 - start) / step, (limit - start) / step)
            low = max(low, min(first, last))
            high = min(high, max(first, last))
        }
        guard low < high else { return 0..<0 }
        let range = (Int(low.rounded(.up)), Int(high.rounded(.down)))
        return range.0 < range.1 ? range.0..<range.1 : 0..<0
    }
}

/// A number with 16 bits behind the point.
private struct FixedPoint {
    /// What fits with room for the sum over a row.
    static let limit: Float = 64

    var bits: Int

    @inline(__always)
    init(_ value: Float) { bits = Int(value * 65536) }
}

/// Reads one colour, each part from 0 to 1, between the samples of a picture.
private protocol PixelReader {
    var width: Int { get }
    var height: Int { get }
    /// At any point, the picture's surroundings included.
    func rgb(atX x: Float, y: Float) -> SIMD3<Float>
    /// Colours of `count` points on a line, all of them well inside the picture: the fast path that nearly every pixel takes.
    func fillInside(_ output: UnsafeMutablePointer<Float>, count: Int, x: FixedPoint, y: FixedPoint, stepX: FixedPoint, stepY: FixedPoint)
}

/// One grid of bytes: a colour component of a picture.
private struct Component {
    let base: UnsafePointer<UInt8>
    let stride: Int
    let step: Int
    let width: Int
    let height: Int

    init(_ base: UnsafePointer<UInt8>, _ stride: Int, step: Int, _ width: Int, _ height: Int) {
        (self.base, self.stride, self.step, self.width, self.height) = (base, stride, step, width, height)
    }

    /// Bilinear in 0…255; samples outside the grid count as `border`.
    @inline(__always)
    func value(_ x: Float, _ y: Float, border: Float) -> Float {
        let (column, row) = (x.rounded(.down), y.rounded(.down))
        // Written so that NaN and everything far outside ends here too, before the conversion to Int could trap.
        guard column >= -1, row >= -1, column < Float(width), row < Float(height) else { return border }
        let (i, j) = (Int(column), Int(row))
        let (fx, fy) = (x - column, y - row)
        if i >= 0, j >= 0, i + 1 < width, j + 1 < height {
            let top = base + (j * stride + i * step)
            let bottom = top + stride
            let upper = Float(top[0]) + fx * (Float(top[step]) - Float(top[0]))
            let lower = Float(bottom[0]) + fx * (Float(bottom[step]) - Float(bottom[0]))
            return upper + fy * (lower - upper)
        }
        let upper = (1 - fx) * sample(i, j, border) + fx * sample(i + 1, j, border)
        let lower = (1 - fx) * sample(i, j + 1, border) + fx * sample(i + 1, j + 1, border)
        return (1 - fy) * upper + fy * lower
    }

    /// Bilinear, the grid's edge continued outwards.
    @inline(__always)
    func clampedValue(_ x: Float, _ y: Float) -> Float {
        let cx = min(max(x, 0), Float(width - 1))
        let cy = min(max(y, 0), Float(height - 1))
        let (i, j) = (Int(cx), Int(cy))
        let (fx, fy) = (cx - Float(i), cy - Float(j))
        let top = base + (j * stride + i * step)
        let right = i + 1 < width ? step : 0
        let bottom = top + (j + 1 < height ? stride : 0)
        let upper = Float(top[0]) + fx * (Float(top[right]) - Float(top[0]))
        let lower = Float(bottom[0]) + fx * (Float(bottom[right]) - Float(bottom[0]))
        return upper + fy * (lower - upper)
    }

    /// Bilinear in 0…65280 at a point whose four neighbours exist; the weights have 8 bits.
    @inline(__always)
    func inside(_ x: Int, _ y: Int) -> Int32 {
        let top = base + ((y >> 16) &* stride &+ (x >> 16) &* step)
        let bottom = top + stride
        let (fx, fy) = (Int32(truncatingIfNeeded: (x >> 8) & 0xff), Int32(truncatingIfNeeded: (y >> 8) & 0xff))
        let upper = Int32(top[0]) &* (256 &- fx) &+ Int32(top[step]) &* fx
        let lower = Int32(bottom[0]) &* (256 &- fx) &+ Int32(bottom[step]) &* fx
        return (upper &* (256 &- fy) &+ lower &* fy) >> 8
    }

    @inline(__always)
    private func sample(_ i: Int, _ j: Int, _ border: Float) -> Float {
        i >= 0 && j >= 0 && i < width && j < height ? Float(base[j * stride + i * step]) : border
    }
}

private struct GrayReader: PixelReader {
    let luma: Component

    init(layout: ImageLayout, base: UnsafePointer<UInt8>) {
        luma = Component(base + layout.planes[0].offset, layout.planes[0].stride, step: 1, layout.width, layout.height)
    }

    var width: Int { luma.width }
    var height: Int { luma.height }

    @inline(__always)
    func rgb(atX x: Float, y: Float) -> SIMD3<Float> { SIMD3(repeating: luma.value(x, y, border: 0) * (1 / 255)) }

    @inline(__always)
    func fillInside(_ output: UnsafeMutablePointer<Float>, count: Int, x: FixedPoint, y: FixedPoint, stepX: FixedPoint, stepY: FixedPoint) {
        var (output, x, y) = (output, x.bits, y.bits)
        for _ in 0..<count {
            let light = Float(luma.inside(x, y)) * (1 / 65280)
            output[0] = light
            output[1] = light
            output[2] = light
            output += 3
            x &+= stepX.bits
            y &+= stepY.bits
        }
    }
}

private struct RGBReader: PixelReader {
    let red: Component
    let green: Component
    let blue: Component

    init(layout: ImageLayout, base: UnsafePointer<UInt8>) {
        let (start, stride) = (base + layout.planes[0].offset, layout.planes[0].stride)
        red = Component(start, stride, step: 3, layout.width, layout.height)
        green = Component(start + 1, stride, step: 3, layout.width, layout.height)
        blue = Component(start + 2, stride, step: 3, layout.width, layout.height)
    }

    @inline(__always)
    func rgb(atX x: Float, y: Float) -> SIMD3<Float> {
        SIMD3(red.value(x, y, border: 0), green.value(x, y, border: 0), blue.value(x, y, border: 0)) * (1 / 255)
    }

    var width: Int { red.width }
    var height: Int { red.height }

    @inline(__always)
    func fillInside(_ output: UnsafeMutablePointer<Float>, count: Int, x: FixedPoint, y: FixedPoint, stepX: FixedPoint, stepY: FixedPoint) {
        var (output, x, y) = (output, x.bits, y.bits)
        for _ in 0..<count {
            output[0] = Float(red.inside(x, y)) * (1 / 65280)
            output[1] = Float(green.inside(x, y)) * (1 / 65280)
            output[2] = Float(blue.inside(x, y)) * (1 / 65280)
            output += 3
            x &+= stepX.bits
            y &+= stepY.bits
        }
    }
}

private struct YUVReader: PixelReader {
    let luma: Component
    let u: Component
    let v: Component
    let shiftX: Int
    let shiftY: Int
    let scaleX: Float
    let scaleY: Float
    let black: Float
    let lumaGain: Float
    let redV: Float
    let greenU: Float
    let greenV: Float
    let blueU: Float

    init(luma: Component, u: Component, v: Component, horizontal: Int, vertical: Int, encoding: ColorEncoding) {
        (self.luma, self.u, self.v) = (luma, u, v)
        (shiftX, shiftY) = (horizontal.trailingZeroBitCount, vertical.trailingZeroBitCount)
        (scaleX, scaleY) = (1 / Float(horizontal), 1 / Float(vertical))
        black = encoding.fullRange ? 0 : 16
        lumaGain = (encoding.fullRange ? 1 : 255 / 219) / 255
        let chromaGain: Float = (encoding.fullRange ? 1 : 255 / 224) / 255
        // Kr, Kb of ITU-R BT.601 and BT.709; the factors of Cr and Cb follow from them.
        let (kr, kb): (Float, Float) = encoding.bt709 ? (0.2126, 0.0722) : (0.299, 0.114)
        let kg = 1 - kr - kb
        redV = 2 * (1 - kr) * chromaGain
        blueU = 2 * (1 - kb) * chromaGain
        greenU = -2 * kb * (1 - kb) / kg * chromaGain
        greenV = -2 * kr * (1 - kr) / kg * chromaGain
    }

    var width: Int { luma.width }
    var height: Int { luma.height }

    @inline(__always)
    func fillInside(_ output: UnsafeMutablePointer<Float>, count: Int, x: FixedPoint, y: FixedPoint, stepX: FixedPoint, stepY: FixedPoint) {
        var (output, x, y) = (output, x.bits, y.bits)
        let (gain, offset) = (lumaGain / 256, -black * lumaGain)
        for _ in 0..<count {
            let light = Float(luma.inside(x, y)) * gain + offset
            // The chroma sample that covers the pixel: its neighbours are too alike for the models to tell.
            let (column, row) = ((x &+ 0x8000) >> (16 &+ shiftX), (y &+ 0x8000) >> (16 &+ shiftY))
            let cb = Float(u.base[row &* u.stride &+ column &* u.step]) - 128
            let cr = Float(v.base[row &* v.stride &+ column &* v.step]) - 128
            output[0] = min(max(light + redV * cr, 0), 1)
            output[1] = min(max(light + greenU * cb + greenV * cr, 0), 1)
            output[2] = min(max(light + blueU * cb, 0), 1)
            output += 3
            x &+= stepX.bits
            y &+= stepY.bits
        }
    }

    @inline(__always)
    func rgb(atX x: Float, y: Float) -> SIMD3<Float> {
        guard x > -1, y > -1, x < Float(luma.width), y < Float(luma.height) else { return .zero }
        // Outside counts as the picture's own black; its chroma fades with the luma, close enough over one pixel.
        let light = (luma.value(x, y, border: black) - black) * lumaGain
        // Chroma samples lie between the luma samples they belong to (JPEG, MPEG-1).
        let (cx, cy) = ((x + 0.5) * scaleX - 0.5, (y + 0.5) * scaleY - 0.5)
        let cb = u.clampedValue(cx, cy) - 128
        let cr = v.clampedValue(cx, cy) - 128
        let color = SIMD3(light + redV * cr, light + greenU * cb + greenV * cr, light + blueU * cb)
        return color.clamped(lowerBound: .zero, upperBound: .one)
    }
}
