import Testing

@testable import Imaging

struct ImageRotationTests {
    /// 3×2 numbers, and the same turned by 90, 180 and 270 degrees clockwise.
    static let turned: [(rotation: Rotation, width: Int, height: Int, bytes: [UInt8])] = [
        (.none, 3, 2, [1, 2, 3, 4, 5, 6]),
        (.quarter, 2, 3, [4, 1, 5, 2, 6, 3]),
        (.half, 3, 2, [6, 5, 4, 3, 2, 1]),
        (.threeQuarters, 2, 3, [3, 6, 2, 5, 1, 4]),
    ]

    private func picture(_ width: Int, _ height: Int, _ format: PixelFormat, _ bytes: [UInt8]) -> ImageBuffer {
        ImageBuffer(layout: ImageLayout(width: width, height: height, format: format)) { $0.copyBytes(from: bytes) }
    }

    private func bytes(_ image: ImageBuffer) -> [UInt8] { image.withBytes { [UInt8]($0) } }

    @Test(arguments: turned.indices) func `a gray picture is turned clockwise`(index: Int) {
        let (rotation, width, height, expected) = Self.turned[index]
        let image = picture(3, 2, .gray, [1, 2, 3, 4, 5, 6]).turned(rotation, pool: ImagePool())
        #expect((image.width, image.height) == (width, height))
        #expect(bytes(image) == expected)
    }

    @Test func `colours go with their pixels`() {
        let rgb = picture(2, 1, .rgb24, [1, 2, 3, 4, 5, 6]).turned(.quarter, pool: ImagePool())
        #expect((rgb.width, rgb.height) == (1, 2) && bytes(rgb) == [1, 2, 3, 4, 5, 6])
        #expect(bytes(picture(2, 1, .rgb24, [1, 2, 3, 4, 5, 6]).turned(.half, pool: ImagePool())) == [4, 5, 6, 1, 2, 3])
        let nv12 = picture(4, 2, .nv12, [1, 2, 3, 4, 5, 6, 7, 8] + [10, 20, 11, 21])
        #expect(bytes(nv12.turned(.quarter, pool: ImagePool())) == [5, 1, 6, 2, 7, 3, 8, 4] + [10, 20, 11, 21])
        #expect(bytes(nv12.turned(.half, pool: ImagePool())) == [8, 7, 6, 5, 4, 3, 2, 1] + [11, 21, 10, 20])
        #expect(bytes(nv12.turned(.threeQuarters, pool: ImagePool())) == [4, 8, 3, 7, 2, 6, 1, 5] + [11, 21, 10, 20])
    }

    @Test func `YUYV becomes planes, and chroma that was shared sideways is shared downwards`() {
        // Y U Y V, two rows of two pixels.
        let yuyv = picture(2, 2, .yuyv, [1, 50, 2, 60, 3, 51, 4, 61])
        let half = yuyv.turned(.half, pool: ImagePool())
        #expect(half.layout.format == .planar(horizontal: 2, vertical: 1))
        #expect(bytes(half) == [4, 3, 2, 1] + [51, 50] + [61, 60])
        let quarter = yuyv.turned(.quarter, pool: ImagePool())
        #expect(quarter.layout.format == .planar(horizontal: 1, vertical: 2))
        #expect(bytes(quarter) == [3, 1, 4, 2] + [51, 50] + [61, 60])
        let planar = picture(2, 2, .planar(horizontal: 2, vertical: 1), [1, 2, 3, 4] + [50, 51] + [60, 61])
        #expect(bytes(planar.turned(.quarter, pool: ImagePool())) == [3, 1, 4, 2] + [51, 50] + [61, 60])
    }

    @Test(
        arguments: Rotation.allCases,
        [PixelFormat.gray, .rgb24, .nv12, .planar(horizontal: 2, vertical: 2), .planar(horizontal: 4, vertical: 1)])
    func `turning on to a whole turn gives the picture back, odd sizes too`(rotation: Rotation, format: PixelFormat) {
        let layout = ImageLayout(width: 7, height: 5, format: format)
        let original = ImageBuffer(layout: layout) { memory in for index in memory.indices { memory[index] = UInt8(index % 251) } }
        let pool = ImagePool()
        let rest = Rotation(degrees: 360 - rotation.rawValue)
        let image = original.turned(rotation, pool: pool).turned(rest, pool: pool)
        #expect(image.layout == layout && bytes(image) == bytes(original))
        #expect(rotation + rest == .none)
    }

    @Test(arguments: Rotation.allCases) func `a picture stored smaller than captured stays so`(rotation: Rotation) {
        let layout = ImageLayout(width: 7, height: 5, format: .planar(horizontal: 2, vertical: 2), reduction: 2)
        let image = ImageBuffer(layout: layout) { $0.initializeMemory(as: UInt8.self, repeating: 9) }
        let turned = image.turned(rotation, pool: ImagePool())
        #expect((turned.width, turned.height) == (rotation.isSideways ? (5, 7) : (7, 5)))
        #expect((turned.layout.width, turned.layout.height, turned.layout.reduction) == (rotation.isSideways ? (3, 4, 2) : (4, 3, 2)))
    }

    @Test func `degrees of any size are a quarter`() {
        #expect(
            [0, 90, 180, 270, 360, -90, 450, 89, 46, 44].map { Rotation(degrees: $0).rawValue } == [0, 90, 180, 270, 0, 270, 90, 90, 90, 0])
    }
}
