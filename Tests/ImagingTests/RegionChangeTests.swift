import Imaging
import TestSupport
import Testing

struct RegionChangeTests {
    /// 96 × 96 pixels from (100, 50): three a cell's side.
    private let map = AffineMap(origin: [100, 50], right: [96, 0], down: [0, 96])

    private func picture(
        _ format: PixelFormat = .gray, width: Int = 320, height: Int = 240, _ brightness: (Int, Int) -> UInt8 = { _, _ in 100 }
    ) -> ImageBuffer {
        ImageBuffer(layout: ImageLayout(width: width, height: height, format: format)) { memory in
            memory.initializeMemory(as: UInt8.self, repeating: 0)
            let (step, start) = format == .yuyv ? (2, 0) : format == .rgb24 ? (3, 1) : (1, 0)
            for y in 0..<height {
                for x in 0..<width { memory[(y * width + x) * step + start] = brightness(x, y) }
            }
        }
    }

    /// What the region makes of `second` after `first`.
    private func difference(_ first: ImageBuffer, _ second: ImageBuffer, through map: AffineMap? = nil) -> Double? {
        var change = RegionChange()
        change.remember(first, through: map ?? self.map)
        return change.difference(second)
    }

    @Test func `before anything is remembered there is no difference to tell`() {
        var change = RegionChange()
        #expect(change.difference(picture()) == nil)
    }

    @Test(arguments: [PixelFormat.gray, .yuyv, .rgb24, .nv12, .planar(horizontal: 2, vertical: 2)])
    func `the same picture differs by nothing, a brighter one by as many levels`(format: PixelFormat) {
        let textured = picture(format) { x, y in UInt8((7 * x + 13 * y) % 200) }
        #expect(difference(textured, textured) == 0)
        #expect(difference(textured, picture(format) { x, y in UInt8((7 * x + 13 * y) % 200 + 12) }) == 12)
    }

    @Test func `what changes outside the region does not count`() {
        let elsewhere = picture { x, y in (100..<196).contains(x) && (50..<146).contains(y) ? 100 : 250 }
        #expect(difference(picture(), elsewhere) == 0)
    }

    @Test func `the third-largest change counts, so that one pixel's noise does not`() {
        /// Cells of a row that change as a whole, by 90, 60, 30 and 10 levels.
        func changed(_ cells: Int) -> ImageBuffer {
            let levels: [UInt8] = [190, 160, 130, 110]
            return picture { x, y in
                let (column, row) = ((x - 100) / 3, (y - 50) / 3)
                return x >= 100 && y >= 50 && row == 5 && column < cells ? levels[column] : 100
            }
        }
        #expect((0...4).map { difference(picture(), changed($0)) } == [0, 0, 0, 30, 30])
    }

    @Test func `a darker place counts as a brighter one`() {
        let darker = picture { x, y in (120..<160).contains(x) && (70..<110).contains(y) ? 45 : 100 }
        #expect(difference(picture(), darker) == 55)
    }

    @Test func `the reference stays until it is replaced, so that slow changes add up`() {
        var change = RegionChange()
        change.remember(picture(), through: map)
        let differences = (UInt8(101)...110).map { level in change.difference(picture { _, _ in level }) }
        #expect(differences == (1...10).map(Double.init))
        change.remember(picture { _, _ in 110 }, through: map)
        #expect(change.difference(picture { _, _ in 110 }) == 0)
    }

    @Test func `a sensor's noise of four levels stays below what a resting hand may change by`() throws {
        var random = SeededGenerator(seed: 9)
        func noisy() -> ImageBuffer {
            picture { _, _ in UInt8(min(max(100 + 4 * random.normal(), 0), 255)) }
        }
        // The cells' own noise is 4/3 levels, its difference 1.9; the third of 1,024 such lies at three times that.
        for _ in 0..<5 { #expect((3...8).contains(try #require(difference(noisy(), noisy())))) }
    }

    @Test func `a region that is partly or wholly outside the picture is read as black there`() {
        let corner = AffineMap(origin: [-48, -48], right: [96, 0], down: [0, 96])
        #expect(difference(picture(), picture { _, _ in 120 }, through: corner) == 20)
        let outside = AffineMap(origin: [5000, 0], right: [96, 0], down: [0, 96])
        #expect(difference(picture(), picture { _, _ in 250 }, through: outside) == 0)
        for number in [Float.nan, .infinity, 1e30] {
            let nowhere = AffineMap(a: number, b: 0, c: number, d: 0, e: 1, f: 0)
            #expect(difference(picture(), picture { _, _ in 250 }, through: nowhere) == 0)
        }
    }

    @Test func `a picture stored smaller than captured is read at the same places`() {
        func half(_ bright: UInt8) -> ImageBuffer {
            let layout = ImageLayout(width: 320, height: 240, format: .gray, reduction: 2)
            return ImageBuffer(layout: layout) { memory in
                for y in 0..<120 {
                    for x in 0..<160 { memory[y * 160 + x] = (60..<80).contains(x) && (35..<55).contains(y) ? bright : 100 }
                }
            }
        }
        #expect(difference(picture(), half(100)) == 0)
        #expect(difference(picture { x, y in (120..<160).contains(x) && (70..<110).contains(y) ? 140 : 100 }, half(140)) == 0)
        #expect(difference(half(100), half(140)) == 40)
        let beside = AffineMap(origin: [200, 50], right: [96, 0], down: [0, 96])
        #expect(difference(half(100), half(140), through: beside) == 0)
    }
}
