import Imaging
import Testing

struct ImageLayoutTests {
    @Test(
        arguments: [
            (.gray, [Plane(offset: 0, stride: 5)], 15),
            (.rgb24, [Plane(offset: 0, stride: 15)], 45),
            (.yuyv, [Plane(offset: 0, stride: 12)], 36),
            (.nv12, [Plane(offset: 0, stride: 5), Plane(offset: 15, stride: 6)], 27),
            (
                .planar(horizontal: 2, vertical: 2),
                [Plane(offset: 0, stride: 5), Plane(offset: 15, stride: 3), Plane(offset: 21, stride: 3)],
                27
            ),
            (
                .planar(horizontal: 2, vertical: 1),
                [Plane(offset: 0, stride: 5), Plane(offset: 15, stride: 3), Plane(offset: 24, stride: 3)],
                33
            ),
            (
                .planar(horizontal: 1, vertical: 1),
                [Plane(offset: 0, stride: 5), Plane(offset: 15, stride: 5), Plane(offset: 30, stride: 5)],
                45
            ),
            (
                .planar(horizontal: 4, vertical: 1),
                [Plane(offset: 0, stride: 5), Plane(offset: 15, stride: 2), Plane(offset: 21, stride: 2)],
                27
            ),
        ] as [(PixelFormat, [Plane], Int)])
    func `five by three pixels lie tight, chroma of odd sizes rounded up`(format: PixelFormat, planes: [Plane], byteCount: Int) {
        let layout = ImageLayout(width: 5, height: 3, format: format)
        #expect(layout.planes == planes)
        #expect(layout.byteCount == byteCount)
        #expect(layout.encoding == .jpeg)
    }

    @Test func `even sizes need what the formats promise`() {
        func bytes(_ format: PixelFormat) -> Int { ImageLayout(width: 640, height: 480, format: format).byteCount }
        #expect(bytes(.gray) == 307_200)
        #expect(bytes(.rgb24) == 921_600)
        #expect(bytes(.yuyv) == 614_400)
        #expect(bytes(.nv12) == 460_800)
        #expect(bytes(.planar(horizontal: 2, vertical: 2)) == 460_800)
    }

    @Test func `one pixel is a picture`() {
        #expect(ImageLayout(width: 1, height: 1, format: .yuyv).byteCount == 4)
        #expect(ImageLayout(width: 1, height: 1, format: .nv12).byteCount == 3)
        #expect(ImageLayout(width: 1, height: 1, format: .planar(horizontal: 2, vertical: 2)).byteCount == 3)
    }
}
