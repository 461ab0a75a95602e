internal import Gestures
internal import Imaging

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The landmarks of the hand in one region.
struct LandmarkReading {
    /// Probability that the region holds a hand.
    var presence: Float
    /// Probability that it is the person's right hand, taking the picture not to be mirrored. MediaPipe takes its pictures for mirrored
    /// and therefore names the same number "Left"; labelled clips of both hands agree with this reading.
    var rightness: Float
    /// Pixels of the frame.
    var points: Hand.Points
    /// Metres about the hand's centre, turned upright as in the frame.
    var world: Hand.Points
}

/// Reads 21 landmarks out of a region with MediaPipe's hand landmark model.
struct LandmarkDetector {
    static let side = 224
    private static let numbers = Joint.allCases.count * 3
    /// MediaPipe divides the model's z by this.
    private static let depthScale: Float = 0.4

    private let runner: any TensorRunner

    init(runner: any TensorRunner) throws(HandTrackingError) {
        let expected = [[1, Self.side, Self.side, 3], [1, Self.numbers], [1, 1], [1, 1], [1, Self.numbers]]
        let actual = [runner.inputShape] + runner.outputShapes
        guard actual == expected else {
            throw .unexpectedTensors(model: "hand landmark", expected: "\(expected)", actual: "\(actual)")
        }
        self.runner = runner
    }

    func landmarks(in image: ImageBuffer, region: Region) throws -> LandmarkReading {
        let map = region.map.scaledDomain(width: Self.side, height: Self.side)
        try runner.run { ImageSampler.sample(image, through: map, width: Self.side, height: Self.side, into: $0) }
        let points = runner.withOutput(0) { numbers in
            Self.landmarks(numbers) { raw in
                let place = map(SIMD2(raw.x, raw.y))
                return Landmark(x: place.x, y: place.y, z: raw.z * region.size / (Float(Self.side) * Self.depthScale))
            }
        }
        let (sine, cosine) = (sin(region.rotation), cos(region.rotation))
        let world = runner.withOutput(3) { numbers in
            Self.landmarks(numbers) { raw in
                Landmark(x: raw.x * cosine - raw.y * sine, y: raw.x * sine + raw.y * cosine, z: raw.z)
            }
        }
        return LandmarkReading(
            presence: runner.withOutput(1) { $0[0] }, rightness: runner.withOutput(2) { $0[0] }, points: points, world: world)
    }

    private static func landmarks(_ numbers: UnsafeBufferPointer<Float>, _ place: (Landmark) -> Landmark) -> Hand.Points {
        Hand.Points { index in
            place(Landmark(x: numbers[3 * index], y: numbers[3 * index + 1], z: numbers[3 * index + 2]))
        }
    }
}
