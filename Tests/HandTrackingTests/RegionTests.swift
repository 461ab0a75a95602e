import Gestures
import Imaging
import TestSupport
import Testing

@testable import HandTracking

private func near(_ a: SIMD2<Float>, _ b: SIMD2<Float>, _ tolerance: Float = 0.01) -> Bool {
    abs(a.x - b.x) <= tolerance && abs(a.y - b.y) <= tolerance
}

struct RegionTests {
    @Test func `an upright region's corners are where they look`() {
        let map = Region(center: [100, 200], size: 50, rotation: 0).map
        #expect(near(map([0, 0]), [75, 175]) && near(map([1, 0]), [125, 175]) && near(map([0, 1]), [75, 225]))
        #expect(near(map([0.5, 0.5]), [100, 200]))
    }

    @Test func `a positive rotation turns a region clockwise on the screen`() {
        let map = Region(center: [0, 0], size: 2, rotation: .pi / 2).map
        // What is up in the region lies to the right in the frame.
        #expect(near(map([0.5, 0]), [1, 0]) && near(map([1, 0.5]), [0, 1]))
    }

    /// A palm as the detector would report it, its hand pointing along `angle` clockwise from up.
    private func palm(_ angle: Float) -> PalmDetection {
        let wrist = SIMD2<Float>(300, 300)
        let middle = wrist + turn([0, -80], by: angle)
        var keypoints = Array(repeating: SIMD2<Float>(300, 300), count: PalmDetection.keypointCount)
        (keypoints[PalmDetection.wrist], keypoints[PalmDetection.middleMCP]) = (wrist, middle)
        return PalmDetection(low: [250, 220], high: [350, 320], keypoints: keypoints, score: 0.9)
    }

    @Test(arguments: [-3.1, -2, -1, -0.3, 0, 0.3, 1, 2, 3.1] as [Float])
    func `a palm's region is turned so that the hand points up in it, reaches half a palm on and is 2.6 times as large`(angle: Float) {
        let region = Region(palm: palm(angle))
        #expect(abs(region.rotation - angle) < 1e-4)
        #expect(abs(region.size - 260) < 0.01)
        // Half of the palm's 100 pixels, towards the fingers.
        #expect(near(region.center, SIMD2(300, 270) + turn([0, -50], by: angle), 0.05))
    }

    @Test func `turning the landmarks turns the region with them`() {
        let points = Hand.Points(upright: [300, 300], palm: 80)
        let reference = Region(landmarks: points)
        #expect(abs(reference.rotation) < 0.2)
        for angle in stride(from: Float(-3), through: 3, by: 0.5) {
            let region = Region(landmarks: points.turned(by: angle, about: [300, 300]))
            var difference = region.rotation - reference.rotation - angle
            difference -= 2 * .pi * (difference / (2 * .pi)).rounded()
            #expect(abs(difference) < 1e-3)
        }
        // Right angles keep the box about the points too.
        for turns in 1..<4 {
            let angle = Float(turns) * .pi / 2
            let region = Region(landmarks: points.turned(by: angle, about: [300, 300]))
            let expected = SIMD2<Float>(300, 300) + turn(reference.center - [300, 300], by: angle)
            #expect(near(region.center, expected, 0.5) && abs(region.size - reference.size) < 0.5)
        }
    }

    @Test func `scaling and shifting the landmarks scales and shifts the region`() {
        let reference = Region(landmarks: Hand.Points(upright: [300, 300], palm: 80))
        let other = Region(landmarks: Hand.Points(upright: [100, 500], palm: 160))
        #expect(abs(other.size - 2 * reference.size) < 0.01 && abs(other.rotation - reference.rotation) < 1e-5)
        #expect(near(other.center - [100, 500], (reference.center - [300, 300]) * 2, 0.02))
    }

    @Test func `a hand's region holds the whole stretched hand`() {
        for angle in stride(from: Float(-3), through: 3, by: 0.25) {
            let points = Hand.Points(upright: [300, 300], palm: 80).turned(by: angle, about: [300, 300])
            let region = Region(landmarks: points)
            for index in 0..<21 {
                let offset = turn(SIMD2(points[index].x, points[index].y) - region.center, by: -region.rotation)
                #expect(abs(offset.x) < region.size / 2 && abs(offset.y) < region.size / 2)
            }
        }
    }

    @Test(
        arguments: [
            Region(center: [.nan, 0], size: 10, rotation: 0), Region(center: [0, .infinity], size: 10, rotation: 0),
            Region(center: [0, 0], size: .nan, rotation: 0), Region(center: [0, 0], size: 0.5, rotation: 0),
            Region(center: [0, 0], size: -10, rotation: 0), Region(center: [0, 0], size: 10, rotation: .nan),
        ])
    func `a region without a finite area is none`(region: Region) {
        #expect(region.isDegenerate)
    }

    @Test func `overlap is what two regions share of both`() {
        let region = Region(center: [0, 0], size: 10, rotation: 0)
        #expect(!region.isDegenerate)
        #expect(region.overlap(with: region) == 1)
        #expect(abs(region.overlap(with: Region(center: [5, 0], size: 10, rotation: 0)) - 1.0 / 3) < 1e-5)
        #expect(region.overlap(with: Region(center: [10, 0], size: 10, rotation: 0)) == 0)
        #expect(region.overlap(with: Region(center: [100, 100], size: 10, rotation: 0)) == 0)
        #expect(abs(region.overlap(with: Region(center: [0, 0], size: 5, rotation: 0)) - 0.25) < 1e-5)
    }
}
