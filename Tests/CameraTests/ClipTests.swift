import Camera
import Foundation
import Imaging
import Testing

struct ClipTests {
    @Test(arguments: ["empty_room": 90, "fist_negative": 120, "lost_while_pinched": 150, "slide_return": 180])
    func `a clip yields every frame at its time`(name: String, count: Int) throws {
        let source = try ClipSource(path: clip("\(name).avi"))
        var n = 0
        while let f = try source.nextFrame() { #expect(abs(f.time - Double(n) / 30) < 1e-6); #expect(f.sequence == UInt64(n)); n += 1 }
        #expect(n == count)
    }
}
