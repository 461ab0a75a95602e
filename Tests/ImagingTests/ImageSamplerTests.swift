import Imaging
import TestSupport
import Testing

struct ImageSamplerTests {
    @Test func `through the identity an RGB picture comes out pixel by pixel`() {
        var random = SeededGenerator(seed: 1)
        let picture = Picture(width: 7, height: 5) { _, _ in (random.byte(), random.byte(), random.byte()) }
        let tensor = sample(picture.rgb24, width: 7, height: 5)
        for y in 0..<5 {
            for x in 0..<7 { expect(tensor.pixel(x, y), is: picture[x, y], within: 1e-3) }
        }
    }

    @Test func `between two pixels stands their mean`() {
        let picture = Picture(width: 2, height: 2) { x, y in x == 0 ? (0, 40, UInt8(80 * y)) : (100, 240, UInt8(80 * y)) }
        let half = AffineMap(a: 1, b: 0, c: 0.5, d: 0, e: 1, f: 0.5)
        expect(sample(picture.rgb24, through: half, width: 1, height: 1).pixel(0, 0), is: (50, 140, 40), within: 1e-3)
        let quarter = AffineMap(a: 1, b: 0, c: 0.25, d: 0, e: 1, f: 0)
        expect(sample(picture.rgb24, through: quarter, width: 1, height: 1).pixel(0, 0), is: (25, 90, 0), within: 1e-3)
    }

    @Test func `a map that turns and mirrors takes each pixel from where it says`() {
        let picture = Picture(width: 4, height: 4) { x, y in (UInt8(10 * x), UInt8(10 * y), 200) }
        let turned = sample(picture.rgb24, through: AffineMap(a: 0, b: 1, c: 0, d: -1, e: 0, f: 3), width: 4, height: 4)
        let mirrored = sample(picture.rgb24, through: AffineMap(a: -1, b: 0, c: 3, d: 0, e: 1, f: 0), width: 4, height: 4)
        for y in 0..<4 {
            for x in 0..<4 {
                expect(turned.pixel(x, y), is: picture[y, 3 - x], within: 1e-3)
                expect(mirrored.pixel(x, y), is: picture[3 - x, y], within: 1e-3)
            }
        }
    }

    @Test(arguments: Encoded.all)
    func `a plain colour of any format and encoding is the RGB that the standard gives`(colour: Encoded) {
        for format in Encoded.formats {
            let layout = ImageLayout(width: 6, height: 4, format: format, encoding: colour.encoding)
            let image = plain(layout, colour)
            let inside = AffineMap(a: 1, b: 0, c: 1.25, d: 0, e: 1, f: 0.75)
            let tensor = sample(image, through: inside, width: 3, height: 2)
            for y in 0..<2 {
                for x in 0..<3 { expect(tensor.pixel(x, y), is: colour.rgb, within: 1, "\(format)") }
            }
        }
    }

    @Test func `gray is the same in all three channels`() {
        let image = ImageBuffer(layout: ImageLayout(width: 3, height: 1, format: .gray)) { $0.copyBytes(from: [0, 128, 255]) }
        let tensor = sample(image, width: 3, height: 1)
        for (x, value) in [UInt8(0), 128, 255].enumerated() { expect(tensor.pixel(x, 0), is: (value, value, value), within: 1e-3) }
    }

    @Test(arguments: Encoded.formats + [.rgb24, .gray])
    func `outside the picture is black, far and near`(format: PixelFormat) {
        let layout = ImageLayout(width: 5, height: 3, format: format)
        let image = ImageBuffer(layout: layout) { $0.initializeMemory(as: UInt8.self, repeating: 255) }
        for (dx, dy) in [(-5, 0), (5, 0), (0, -3), (0, 3), (-1000, 0), (0, 100_000), (-5, -3), (5, 3)] as [(Float, Float)] {
            let tensor = sample(image, through: AffineMap(a: 1, b: 0, c: dx, d: 0, e: 1, f: dy), width: 5, height: 3)
            #expect(tensor.numbers.allSatisfy { $0 == 0 }, "\(dx), \(dy)")
        }
    }

    @Test func `half a pixel beyond the edge is half as bright`() {
        let image = ImageBuffer(layout: ImageLayout(width: 4, height: 4, format: .gray)) {
            $0.initializeMemory(as: UInt8.self, repeating: 200)
        }
        for (x, y) in [(-0.5, 1), (3.5, 1), (1, -0.5), (1, 3.5)] as [(Float, Float)] {
            let tensor = sample(image, through: AffineMap(a: 0, b: 0, c: x, d: 0, e: 0, f: y), width: 1, height: 1)
            expect(tensor.pixel(0, 0), is: (100, 100, 100), within: 1e-3)
        }
    }

    @Test(
        arguments: Encoded.formats + [.rgb24, .gray],
        [.nan, .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 1e19, -1e19] as [Float])
    func `a map that leads nowhere yields black`(format: PixelFormat, number: Float) {
        let image = ImageBuffer(layout: ImageLayout(width: 5, height: 3, format: format)) {
            $0.initializeMemory(as: UInt8.self, repeating: 255)
        }
        let maps = [
            AffineMap(a: 1, b: 0, c: number, d: 0, e: 1, f: 0), AffineMap(a: 1, b: 0, c: 0, d: 0, e: 1, f: number),
            AffineMap(a: number, b: number, c: number, d: number, e: number, f: number),
        ]
        for map in maps {
            let tensor = sample(image, through: map, width: 4, height: 4)
            #expect(tensor.numbers.allSatisfy { $0.isFinite && (0...1).contains($0) })
            #expect(tensor.pixel(3, 3) == SIMD3(0, 0, 0))
        }
    }

    @Test(arguments: Encoded.formats)
    func `a gradient in YUV differs little from the same in RGB`(format: PixelFormat) {
        let picture = Picture(width: 64, height: 48) { x, y in (UInt8(3 * x), UInt8(4 * y), UInt8(255 - 2 * x)) }
        let image = picture.encoded(as: format)
        // Turned by 0.3 rad about the middle, so that no sample falls on a pixel.
        let map = AffineMap(a: 0.955, b: -0.296, c: 10.3, d: 0.296, e: 0.955, f: 2.7)
        let expected = sample(picture.rgb24, through: map, width: 40, height: 30)
        let actual = sample(image, through: map, width: 40, height: 30)
        var differences: [Float] = []
        for y in 0..<30 {
            for x in 0..<40 {
                let place = map(SIMD2(Float(x), Float(y)))
                // At the edge the two fade to black in slightly different ways.
                guard place.x >= 1, place.y >= 1, place.x <= 62, place.y <= 46 else { continue }
                let difference = actual.pixel(x, y) - expected.pixel(x, y)
                differences.append(255 * max(difference.max(), -difference.min()))
            }
        }
        // Chroma of half the resolution, and its nearest sample at that: a pixel's worth of this steep gradient, half of it on average.
        #expect((differences.max() ?? 255) < 8)
        #expect(differences.reduce(0, +) / Float(differences.count) < 3)
    }

    @Test(arguments: Encoded.formats + [.rgb24, .gray], [1, 2, 3, 5])
    func `odd and tiny pictures are read within their bounds`(format: PixelFormat, width: Int) {
        for height in [1, 2, 3] {
            let layout = ImageLayout(width: width, height: height, format: format)
            let image = ImageBuffer(layout: layout) { $0.initializeMemory(as: UInt8.self, repeating: 128) }
            for step in stride(from: Float(-1.5), through: 1.5, by: 0.25) {
                let tensor = sample(
                    image, through: AffineMap(a: 0.5, b: 0.1, c: step, d: -0.1, e: 0.5, f: step), width: 2 * width + 2,
                    height: 2 * height + 2)
                // 128 is a middle gray of every format here; what fades at the edge is darker, nothing is brighter.
                #expect(tensor.numbers.allSatisfy { (0...128.6 / 255).contains($0) })
            }
        }
    }

    @Test(arguments: Encoded.formats + [.rgb24], [2, 4, 8])
    func `a picture stored smaller than captured is sampled at the same places`(format: PixelFormat, reduction: Int) {
        /// A gradient of the captured picture, and what is left of it when each block becomes its mean.
        func picture(_ reduction: Int) -> Picture {
            Picture(width: 128 / reduction, height: 96 / reduction) { x, y in
                let middle = Float(reduction - 1) / 2
                let (x, y) = (Float(x * reduction) + middle, Float(y * reduction) + middle)
                return (UInt8((1.5 * x).rounded()), UInt8((2 * y).rounded()), 90)
            }
        }
        let (full, small) = (picture(1), picture(reduction))
        let stored = format == .rgb24 ? small.rgb24 : small.encoded(as: format)
        let image = ImageBuffer(layout: ImageLayout(width: 128, height: 96, format: format, reduction: reduction)) { memory in
            stored.withBytes { memory.copyMemory(from: $0) }
        }
        #expect((image.width, image.height, image.layout.width, image.layout.height) == (128, 96, 128 / reduction, 96 / reduction))
        let map = AffineMap(a: 0.955, b: -0.296, c: 40.3, d: 0.296, e: 0.955, f: 22.7)
        let expected = sample(full.rgb24, through: map, width: 40, height: 30)
        let actual = sample(image, through: map, width: 40, height: 30)
        // A stored chroma sample stands for up to 16 pixels, half of them on either side, of 1.5 or 2 levels each.
        let tolerance: Float = format == .rgb24 ? 1 : Float(2 + 3 * reduction)
        for y in 0..<30 {
            for x in 0..<40 {
                let difference = actual.pixel(x, y) - expected.pixel(x, y)
                #expect(255 * max(difference.max(), -difference.min()) <= tolerance, "\(x), \(y)")
            }
        }
    }

    @Test func `rows with padding and planes in another order are read where the layout says`() {
        var layout = ImageLayout(width: 3, height: 2, format: .planar(horizontal: 1, vertical: 1))
        layout.planes = [Plane(offset: 20, stride: 5), Plane(offset: 10, stride: 4), Plane(offset: 0, stride: 4)]
        layout.byteCount = 30
        let image = ImageBuffer(layout: layout) { memory in
            memory.initializeMemory(as: UInt8.self, repeating: 0)
            for y in 0..<2 {
                for x in 0..<3 { (memory[20 + 5 * y + x], memory[10 + 4 * y + x], memory[4 * y + x]) = (UInt8(50 + 10 * x + y), 128, 128) }
            }
        }
        let tensor = sample(image, width: 3, height: 2)
        for y in 0..<2 {
            for x in 0..<3 {
                let value = UInt8(50 + 10 * x + y)
                expect(tensor.pixel(x, y), is: (value, value, value), within: 1e-3)
            }
        }
    }

    @Test func `the unit square is scaled to pixels`() {
        let map = AffineMap(origin: SIMD2(10, 20), right: SIMD2(100, 10), down: SIMD2(-10, 50))
        #expect(map(SIMD2(0, 0)) == SIMD2(10, 20) && map(SIMD2(1, 0)) == SIMD2(110, 30) && map(SIMD2(0, 1)) == SIMD2(0, 70))
        #expect(map.scaledDomain(width: 4, height: 2)(SIMD2(4, 2)) == map(SIMD2(1, 1)))
    }
}
