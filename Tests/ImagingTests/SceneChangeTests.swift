import Imaging
import TestSupport
import Testing

struct SceneChangeTests {
    private func picture(_ width: Int = 640, _ height: Int = 480, _ brightness: (Int, Int) -> UInt8) -> ImageBuffer {
        ImageBuffer(layout: ImageLayout(width: width, height: height, format: .gray)) { memory in
            for y in 0..<height {
                for x in 0..<width { memory[y * width + x] = brightness(x, y) }
            }
        }
    }

    /// Whether each picture differs from those before.
    private func changes(_ images: [ImageBuffer]) -> [Bool] {
        var scene = SceneChange()
        return images.map { scene.differs($0) }
    }

    @Test func `the first picture is a change, the same again is none`() {
        let image = picture { x, y in UInt8((x + y) & 0xff) }
        #expect(changes([image, image, image]) == [true, false, false])
    }

    @Test func `a forgotten picture is a change again`() {
        var scene = SceneChange()
        let image = picture { _, _ in 80 }
        var seen = [scene.differs(image), scene.differs(image)]
        scene.forget()
        seen += [scene.differs(image), scene.differs(image)]
        #expect(seen == [true, false, true, false])
    }

    @Test func `a hand that comes and goes is a change each time`() {
        let empty = picture { _, _ in 80 }
        let hand = picture { x, y in (300..<380).contains(x) && (200..<300).contains(y) ? 180 : 80 }
        #expect(changes([empty, hand, hand, empty, empty, hand, empty]) == [true, true, false, true, false, true, true])
    }

    @Test func `a sensor's noise is no change`() {
        var random = SeededGenerator(seed: 4)
        let still = picture(160, 120) { _, _ in 100 }
        let noisy = (0..<10).map { _ in picture(160, 120) { _, _ in UInt8(min(max(100 + 8 * random.normal(), 0), 255)) } }
        #expect(changes([still] + noisy) == [true] + noisy.map { _ in false })
    }

    @Test func `slow changes add up until they count`() {
        let dawn = (UInt8(100)..<140).map { level in picture(160, 120) { _, _ in level } }
        #expect((3...5).contains(changes(dawn).count { $0 }))
    }

    @Test(arguments: Encoded.formats + [.gray, .rgb24], [(1, 1), (3, 5), (47, 35), (640, 480)])
    func `any format and size is read within its bounds`(format: PixelFormat, size: (Int, Int)) {
        let layout = ImageLayout(width: size.0, height: size.1, format: format)
        let images = [UInt8(40), 40, 200, 200].map { level in
            ImageBuffer(layout: layout) { $0.initializeMemory(as: UInt8.self, repeating: level) }
        }
        #expect(changes(images) == [true, false, true, false])
    }
}
