import Imaging
import Testing

@testable import HandTracking

/// The tensors of a palm detection model in which nothing is found until it is put there.
struct PalmTensors {
    var boxes = [Float](repeating: 0, count: 2016 * 18)
    var logits = [Float](repeating: -100, count: 2016)

    /// The number of the first anchor of a cell: two in each of 24 × 24, then six in each of 12 × 12.
    static func anchor(grid: Int, column: Int, row: Int) -> Int {
        grid == 24 ? 2 * (24 * row + column) : 1152 + 6 * (12 * row + column)
    }

    /// Puts a palm at an anchor; all numbers are pixels of the model's square of 192, the points relative to the anchor.
    mutating func put(_ logit: Float, at anchor: Int, center: SIMD2<Float>, size: SIMD2<Float>, points: [SIMD2<Float>]) {
        logits[anchor] = logit
        let numbers = [center.x, center.y, size.x, size.y] + points.flatMap { [$0.x, $0.y] }
        for (offset, number) in numbers.enumerated() { boxes[18 * anchor + offset] = number }
    }

    func decoded(_ map: AffineMap = AffineMap(a: 192, b: 0, c: 0, d: 0, e: 192, f: 0)) -> [PalmDetection] {
        boxes.withUnsafeBufferPointer { boxes in
            logits.withUnsafeBufferPointer { PalmDetector.decode(boxes: boxes, logits: $0, map: map) }
        }
    }
}

private func near(_ a: SIMD2<Float>, _ b: SIMD2<Float>, _ tolerance: Float = 0.01) -> Bool {
    abs(a.x - b.x) <= tolerance && abs(a.y - b.y) <= tolerance
}

struct PalmDetectorTests {
    private let points = (0..<7).map { SIMD2<Float>(Float($0), Float(-2 * $0)) }

    @Test(
        arguments: [
            (24, 0, 0, SIMD2(4, 4)), (24, 23, 0, SIMD2(188, 4)), (24, 5, 7, SIMD2(44, 60)), (24, 23, 23, SIMD2(188, 188)),
            (12, 0, 0, SIMD2(8, 8)), (12, 11, 3, SIMD2(184, 56)), (12, 11, 11, SIMD2(184, 184)),
        ] as [(Int, Int, Int, SIMD2<Float>)])
    func `an anchor's numbers are read relative to the middle of its cell`(grid: Int, column: Int, row: Int, middle: SIMD2<Float>) throws {
        var tensors = PalmTensors()
        let first = PalmTensors.anchor(grid: grid, column: column, row: row)
        let last = first + (grid == 24 ? 1 : 5)
        for anchor in [first, last] { tensors.put(3, at: anchor, center: [3, -5], size: [20, 30], points: points) }
        let detections = tensors.decoded()
        #expect(detections.count == 2)
        for detection in detections {
            #expect(near(detection.low, middle + [3 - 10, -5 - 15]) && near(detection.high, middle + [3 + 10, -5 + 15]))
            #expect(zip(detection.keypoints, points).allSatisfy { near($0, middle + $1) })
            #expect(abs(detection.score - 0.9526) < 0.0001)
        }
    }

    @Test func `the frame's map takes the model's square to pixels`() throws {
        var tensors = PalmTensors()
        tensors.put(1, at: PalmTensors.anchor(grid: 12, column: 6, row: 6), center: [-8, -8], size: [48, 48], points: points)
        // 640 × 480 in a square: 80 rows above and below.
        let palm = try #require(tensors.decoded(AffineMap(a: 640, b: 0, c: 0, d: 0, e: 640, f: -80)).first)
        #expect(near(palm.low, [240, 160]) && near(palm.high, [400, 320]))
    }

    @Test func `a score of one half is enough, less is not, and no logit is too large`() {
        var tensors = PalmTensors()
        for (anchor, logit) in [Float(-0.001), 0, 0.001, 1000, -1000, .infinity, -.infinity, .nan].enumerated() {
            tensors.put(logit, at: anchor, center: .zero, size: [20, 20], points: points)
        }
        #expect(
            tensors.decoded().map(\.score).sorted() == [0.5, Float(0.50025), 1, 1].map { $0 == Float(0.50025) ? 1 / (1 + 0.9990005) : $0 })
    }

    @Test func `nothing in the tensors is no palm`() {
        #expect(PalmTensors().decoded().isEmpty)
        #expect(PalmDetector.suppress([]).isEmpty)
    }

    private func palm(_ x: Float, _ score: Float, width: Float = 100) -> PalmDetection {
        PalmDetection(
            low: [x, 0], high: [x + width, 100], keypoints: Array(repeating: [x + width / 2, 50], count: PalmDetection.keypointCount),
            score: score)
    }

    @Test func `what overlaps the best is averaged into it by score`() throws {
        let kept = PalmDetector.suppress([palm(0, 0.6), palm(10, 0.9)])
        let only = try #require(kept.first)
        #expect(kept.count == 1)
        #expect(near(only.low, [6, 0]) && near(only.high, [106, 100]))
        #expect(only.keypoints.allSatisfy { near($0, [56, 50]) })
        #expect(only.score == 0.9)
    }

    @Test func `palms apart stay apart, the best first`() {
        let kept = PalmDetector.suppress([palm(0, 0.6), palm(300, 0.9), palm(600, 0.7)])
        #expect(kept.map(\.score) == [0.9, 0.7, 0.6])
        // An overlap of 50 in 150 is a third, of 53 in 147 a little more; the limit is 0.3.
        #expect(PalmDetector.suppress([palm(0, 0.6), palm(60, 0.9)]).count == 2)
        #expect(PalmDetector.suppress([palm(0, 0.6), palm(50, 0.9)]).count == 1)
    }

    @Test func `equal and empty boxes do not loop for ever`() {
        #expect(PalmDetector.suppress(Array(repeating: palm(0, 0.6), count: 5)).count == 1)
        #expect(PalmDetector.suppress([palm(0, 0.6, width: 0), palm(0, 0.7, width: 0)]).count == 2)
        #expect(PalmDetector.suppress([palm(.nan, 0.6), palm(0, 0.7)]).count == 2)
    }

    @Test func `the whole frame is shown to the model with black above and below`() throws {
        let runner = ScriptedRunner.palms()
        runner.answer = { _, outputs in outputs[1] = PalmTensors().logits }
        let image = ImageBuffer(layout: ImageLayout(width: 64, height: 32, format: .gray)) {
            $0.initializeMemory(as: UInt8.self, repeating: 255)
        }
        #expect(try PalmDetector(runner: runner).palms(in: image).isEmpty)
        func row(_ number: Int) -> ArraySlice<Float> { runner.input[(number * 192 + 3) * 3..<(number * 192 + 180) * 3] }
        #expect(row(0).allSatisfy { $0 == 0 } && row(191).allSatisfy { $0 == 0 } && row(40).allSatisfy { $0 == 0 })
        #expect(row(96).allSatisfy { $0 > 0.99 } && row(60).allSatisfy { $0 > 0.99 } && row(130).allSatisfy { $0 > 0.99 })
    }
}
