internal import Imaging

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A palm found in a frame, in pixels of the frame.
struct PalmDetection: Hashable, Sendable {
    static let wrist = 0
    static let middleMCP = 2
    static let keypointCount = 7

    var low: SIMD2<Float>
    var high: SIMD2<Float>
    /// The model's seven points; 0 is the wrist's centre, 2 the middle finger's knuckle.
    var keypoints: [SIMD2<Float>]
    /// 0 to 1.
    var score: Float
}

/// Finds palms anywhere in a frame with MediaPipe's palm detection model.
struct PalmDetector {
    static let side = 192
    private static let anchors = makeAnchors()
    private static let numbersPerBox = 4 + 2 * PalmDetection.keypointCount
    /// Score and overlap of MediaPipe's graph.
    private static let minimumScore: Float = 0.5
    private static let suppressionOverlap: Float = 0.3

    private let runner: any TensorRunner

    init(runner: any TensorRunner) throws(HandTrackingError) {
        let side = Self.side
        let expected = [[1, side, side, 3], [1, Self.anchors.count, Self.numbersPerBox], [1, Self.anchors.count, 1]]
        let actual = [runner.inputShape] + runner.outputShapes
        guard actual == expected else {
            throw .unexpectedTensors(model: "palm detection", expected: "\(expected)", actual: "\(actual)")
        }
        self.runner = runner
    }

    /// The palms in `image`, best first.
    func palms(in image: ImageBuffer) throws -> [PalmDetection] {
        // The whole frame, its aspect kept, centred in the model's square.
        let longSide = Float(max(image.width, image.height))
        let frame = SIMD2(Float(image.width), Float(image.height))
        let origin = (frame - SIMD2(repeating: longSide)) / 2
        let map = AffineMap(origin: origin, right: SIMD2(longSide, 0), down: SIMD2(0, longSide))
        try runner.run { input in
            ImageSampler.sample(
                image, through: map.scaledDomain(width: Self.side, height: Self.side), width: Self.side, height: Self.side, into: input)
        }
        let candidates = runner.withOutput(0) { boxes in
            runner.withOutput(1) { scores in Self.decode(boxes: boxes, logits: scores, map: map) }
        }
        return Self.suppress(candidates)
    }

    /// Every anchor whose score is high enough, with its numbers read relative to the anchor's centre.
    static func decode(boxes: UnsafeBufferPointer<Float>, logits: UnsafeBufferPointer<Float>, map: AffineMap) -> [PalmDetection] {
        var detections: [PalmDetection] = []
        for (index, anchor) in anchors.enumerated() {
            let score = 1 / (1 + exp(-min(max(logits[index], -100), 100)))
            guard score >= minimumScore else { continue }
            let numbers = UnsafeBufferPointer(rebasing: boxes[index * numbersPerBox..<(index + 1) * numbersPerBox])
            func pair(_ offset: Int) -> SIMD2<Float> { SIMD2(numbers[offset], numbers[offset + 1]) / Float(side) }
            let (center, half) = (pair(0) + anchor, pair(2) / 2)
            detections.append(
                PalmDetection(
                    low: map(center - half), high: map(center + half),
                    keypoints: (0..<PalmDetection.keypointCount).map { map(pair(4 + 2 * $0) + anchor) }, score: score))
        }
        return detections
    }

    /// Weighted non-maximum suppression: what overlaps the best is averaged into it by score.
    static func suppress(_ candidates: [PalmDetection]) -> [PalmDetection] {
        var remaining = candidates.sorted { $0.score > $1.score }
        var kept: [PalmDetection] = []
        while let best = remaining.first {
            func isSame(_ other: PalmDetection) -> Bool {
                intersectionOverUnion((other.low, other.high), (best.low, best.high)) > suppressionOverlap
            }
            // The best itself goes whatever its numbers are: a box that is not a number overlaps nothing, not even itself.
            remaining.removeFirst()
            let cluster = [best] + remaining.filter(isSame)
            remaining.removeAll(where: isSame)
            let weight = cluster.reduce(0) { $0 + $1.score }
            func average(_ value: (PalmDetection) -> SIMD2<Float>) -> SIMD2<Float> {
                cluster.reduce(SIMD2.zero) { $0 + value($1) * $1.score } / weight
            }
            kept.append(
                PalmDetection(
                    low: average(\.low), high: average(\.high),
                    keypoints: (0..<PalmDetection.keypointCount).map { index in average { $0.keypoints[index] } }, score: best.score))
        }
        return kept
    }

    /// Centres in the unit square: strides 8, 16, 16, 16 over 192 pixels give 24×24 cells of 2 and 12×12 cells of 6 anchors.
    private static func makeAnchors() -> [SIMD2<Float>] {
        var anchors: [SIMD2<Float>] = []
        for (grid, count) in [(24, 2), (12, 6)] {
            for cell in 0..<grid * grid {
                let center = (SIMD2(Float(cell % grid), Float(cell / grid)) + 0.5) / Float(grid)
                anchors += Array(repeating: center, count: count)
            }
        }
        return anchors
    }
}
