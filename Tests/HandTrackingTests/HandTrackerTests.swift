import Gestures
import Imaging
import Testing

@testable import HandTracking

private struct EngineFailure: Error {}

/// A tracker whose models see what a test says.
private final class Scene {
    let palmRunner = ScriptedRunner.palms()
    let landmarkRunner = ScriptedRunner.landmarks()
    var tracker: HandTracker
    /// Middles of the palms that the detector finds, in pixels of a frame of 640 × 480.
    var palms: [SIMD2<Float>] = []
    /// What the landmark model answers to a run, in order; the last one for all further runs.
    var answers: [Answer] = [Answer()]

    struct Answer {
        var presence: Float = 0.9
        var rightness: Float = 0.9
        /// Pixels of the model's 224 by which the hand is off its usual place.
        var shift = SIMD2<Float>.zero
    }

    init(_ change: (inout HandTracker.Options) -> Void = { _ in }) throws {
        var options = HandTracker.Options()
        (options.maximumHands, options.restChange, options.surpriseLimit) = (2, 0, 0)
        change(&options)
        tracker = try HandTracker(palms: palmRunner, landmarks: landmarkRunner, options: options)
        palmRunner.answer = { [unowned self] _, outputs in
            var tensors = PalmTensors()
            for (index, palm) in palms.enumerated() {
                // The frame fills the middle of the model's square: 640 pixels are 192, and 80 rows are black.
                let place = (palm + [0, 80]) * 0.3
                let cell = (column: Int(place.x / 8), row: Int(place.y / 8))
                let middle = SIMD2(Float(cell.column) * 8 + 4, Float(cell.row) * 8 + 4)
                var points = Array(repeating: place - middle, count: PalmDetection.keypointCount)
                points[PalmDetection.wrist].y += 12
                points[PalmDetection.middleMCP].y -= 12
                tensors.put(
                    Float(10 - index), at: PalmTensors.anchor(grid: 24, column: cell.column, row: cell.row), center: place - middle,
                    size: [24, 24], points: points)
            }
            outputs = [tensors.boxes, tensors.logits]
        }
        landmarkRunner.answer = { [unowned self] run, outputs in
            let answer = answers[min(run, answers.count - 1)]
            let points = Hand.Points.settled
            let numbers = (0..<21).flatMap { [points[$0].x + answer.shift.x, points[$0].y + answer.shift.y, points[$0].z] }
            outputs = [numbers, [answer.presence], [answer.rightness], numbers.map { $0 / 1000 }]
        }
    }

    func hands(at time: Double, brightness: UInt8 = 90, reduction: Int = 1) throws -> [Hand] {
        let image = ImageBuffer(layout: ImageLayout(width: 640, height: 480, format: .gray, reduction: reduction)) {
            $0.initializeMemory(as: UInt8.self, repeating: brightness)
        }
        return try tracker.hands(in: Frame(image: image, time: time, sequence: 0))
    }
}

extension Hand.Points {
    /// A hand in the model's square, placed so that the region that follows from it is that square again.
    fileprivate static let settled: Self = {
        let hand = Self(upright: .zero, palm: 70)
        let region = Region(landmarks: hand)
        return Self { index in
            let place = turn(SIMD2(hand[index].x, hand[index].y) - region.center, by: -region.rotation) * (224 / region.size) + 112
            return Landmark(x: place.x, y: place.y, z: 0)
        }
    }()
}

struct HandTrackerTests {
    @Test func `with nobody in view a still picture is searched now and then, and nothing else is done`() throws {
        let scene = try Scene { $0.stillInterval = 1 }
        for frame in 0..<90 { #expect(try scene.hands(at: Double(frame) / 30).isEmpty) }
        #expect((3...5).contains(scene.tracker.work.palmInferences))
        #expect(scene.tracker.work.landmarkInferences == 0)
    }

    @Test func `with nobody in view a picture that changes is searched often`() throws {
        let scene = try Scene { ($0.restlessInterval, $0.stillInterval) = (0.1, 10) }
        for frame in 0..<90 { #expect(try scene.hands(at: Double(frame) / 30, brightness: frame % 2 == 0 ? 20 : 220).isEmpty) }
        #expect((20...31).contains(scene.tracker.work.palmInferences))
    }

    @Test func `a hand is followed under one name without a search`() throws {
        let scene = try Scene { $0.maximumHands = 1 }
        scene.palms = [[320, 240]]
        for frame in 0..<100 { #expect(try scene.hands(at: Double(frame) / 30).map(\.track) == [0]) }
        #expect(scene.tracker.work.palmInferences == 1 && scene.tracker.work.landmarkInferences == 100)
        #expect(scene.palmRunner.runs == 1 && scene.landmarkRunner.runs == 100)
    }

    @Test func `a resting hand is inferred every other frame, a moving one in each`() throws {
        for (step, inferences) in [(UInt8(0), 30), (40, 60)] {
            let scene = try Scene { $0.restChange = 8 }
            scene.palms = [[320, 240]]
            for frame in 0..<60 {
                let brightness = 60 + UInt8(frame % 4) * step
                #expect(try scene.hands(at: Double(frame) / 30, brightness: brightness).map(\.track) == [0])
            }
            #expect(scene.tracker.work.landmarkInferences == inferences)
        }
    }

    @Test(arguments: [(30.0, 0, 16), (60, 0, 16), (15, 0, 30), (30, 25, 30)])
    func `a hand that does what was foretold is inferred every other frame, unless the camera is slow or the hand jumps`(
        framesPerSecond: Double, jump: Float, inferences: Int
    ) throws {
        let scene = try Scene { ($0.surpriseLimit, $0.maximumHands) = (0.08, 1) }
        scene.palms = [[320, 240]]
        scene.answers = (0..<30).map { .init(shift: [$0 % 2 == 0 ? jump : -jump, 0]) }
        for frame in 0..<30 { #expect(try scene.hands(at: Double(frame) / framesPerSecond).map(\.track) == [0]) }
        // The third inference is the first that can be compared; from there on every other one is left out.
        #expect(scene.tracker.work.landmarkInferences == inferences)
    }

    @Test func `with nobody in view pictures may be as small as the search needs, with a hand as small as its region needs`() throws {
        let scene = try Scene()
        #expect(scene.tracker.reduction == 1)
        _ = try scene.hands(at: 0)
        // 640 pixels are three times the detector's 192.
        #expect(scene.tracker.reduction == 2)
        scene.palms = [[320, 240]]
        _ = try scene.hands(at: 1)
        // The region's 208 pixels are fewer than the model's 224.
        #expect(scene.tracker.reduction == 1)
        scene.tracker.reset()
        #expect(scene.tracker.reduction == 1)
    }

    @Test func `a hand found in a small picture is read in the next larger one, in pixels as captured`() throws {
        let scene = try Scene()
        _ = try scene.hands(at: 0)
        scene.palms = [[320, 240]]
        #expect(try scene.hands(at: 1, reduction: 2).isEmpty)
        #expect(scene.tracker.reduction == 1 && scene.tracker.work == .init(palmInferences: 2, landmarkInferences: 0))
        // One more small picture was on its way.
        #expect(try scene.hands(at: 1.03, reduction: 2).isEmpty)
        #expect(scene.tracker.work.landmarkInferences == 0)
        let hand = try #require(try scene.hands(at: 1.07).first)
        #expect(hand.track == 0)
        let expected = try Scene()
        expected.palms = [[320, 240]]
        let whole = try #require(try expected.hands(at: 0).first)
        #expect(Joint.allCases.allSatisfy { abs(hand[$0].x - whole[$0].x) < 0.1 && abs(hand[$0].y - whole[$0].y) < 0.1 })
    }

    @Test func `a source that stays small is read as it is after a while`() throws {
        let scene = try Scene { $0.lossInterval = 0.3 }
        scene.palms = [[320, 240]]
        let found = try (0..<12).map { try scene.hands(at: Double($0) / 30, reduction: 2).count }
        #expect(found == [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1] || found == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
    }

    @Test func `a palm that turns out to be none does not make every frame searched`() throws {
        let scene = try Scene { ($0.maximumHands, $0.restlessInterval, $0.stillInterval) = (1, 1, 1) }
        scene.palms = [[320, 240]]
        scene.answers = [.init(presence: 0)]
        for frame in 0..<30 { #expect(try scene.hands(at: Double(frame) / 30, reduction: frame % 2 == 0 ? 2 : 1).isEmpty) }
        #expect(scene.tracker.work.palmInferences == 1)
    }

    @Test func `landmarks are pixels of the frame`() throws {
        let scene = try Scene()
        scene.palms = [[320, 240]]
        let hand = try #require(try scene.hands(at: 0).first)
        // The palm's 80 pixels, shifted up by half of them and 2.6 times as large: 208 pixels about (320, 200).
        for joint in Joint.allCases {
            let settled = Hand.Points.settled[joint.rawValue]
            let place = SIMD2<Float>(320, 200) + (SIMD2(settled.x, settled.y) - 112) * (208.0 / 224)
            #expect(abs(hand[joint].x - place.x) < 0.1 && abs(hand[joint].y - place.y) < 0.1)
        }
        #expect(hand.presence == 0.9 && abs(hand.world[0].x - Hand.Points.settled[0].x / 1000) < 1e-4)
    }

    @Test func `a hand whose presence falls is lost, and its name is never used again`() throws {
        let scene = try Scene()
        scene.palms = [[320, 240]]
        scene.answers = [.init(), .init(presence: 0.499), .init()]
        #expect(try scene.hands(at: 0).map(\.track) == [0])
        // It is searched for at once.
        #expect(try scene.hands(at: 0.1).map(\.track) == [1])
        #expect(scene.palmRunner.runs == 2 && scene.landmarkRunner.runs == 3)
        scene.palms = []
        scene.answers = [.init(presence: 0)]
        #expect(try scene.hands(at: 0.2).isEmpty)
        #expect(try scene.hands(at: 0.3).isEmpty)
    }

    @Test(arguments: [(Float(0.5), 1), (0.49, 0), (.nan, 0)])
    func `presence exactly at the limit is a hand`(presence: Float, count: Int) throws {
        let scene = try Scene()
        scene.palms = [[320, 240]]
        scene.answers = [.init(presence: presence)]
        #expect(try scene.hands(at: 0).count == count)
    }

    @Test func `while a hand is followed, others are searched for now and then`() throws {
        let scene = try Scene { $0.searchInterval = 0.5 }
        scene.palms = [[160, 240]]
        for frame in 0..<12 { #expect(try scene.hands(at: Double(frame) / 8).count == 1) }
        // At 0, 0.5 and 1.
        #expect(scene.tracker.work.palmInferences == 3)
        scene.palms = [[160, 240], [480, 240]]
        #expect(try scene.hands(at: 1.5).map(\.track) == [0, 1])
        for frame in 13..<30 { #expect(try scene.hands(at: Double(frame) / 8).map(\.track) == [0, 1]) }
        #expect(scene.tracker.work.palmInferences == 4)
    }

    @Test(arguments: 1...4)
    func `no more hands are followed than wanted, the surest first`(maximum: Int) throws {
        let scene = try Scene { $0.maximumHands = maximum }
        scene.palms = [[80, 120], [560, 120], [80, 400], [560, 400], [320, 240]]
        let hands = try scene.hands(at: 0)
        #expect(hands.count == maximum)
        #expect(hands.map { $0[.wrist].x < 320 } == Array([true, false, true, false].prefix(maximum)))
    }

    @Test func `a palm found where a hand is followed is that hand`() throws {
        let scene = try Scene()
        scene.palms = [[320, 240], [330, 240]]
        for frame in 0..<20 { #expect(try scene.hands(at: Double(frame)).map(\.track) == [0]) }
    }

    @Test func `two tracks that slide onto one hand become one`() throws {
        let scene = try Scene()
        scene.palms = [[160, 240], [480, 240]]
        // In the second frame the second region shows a hand 320 pixels further left: the first one's.
        scene.answers = [.init(), .init(), .init(), .init(shift: [-320 * 224 / 208, 0]), .init()]
        #expect(try scene.hands(at: 0).map(\.track) == [0, 1])
        scene.palms = []
        #expect(try scene.hands(at: 0.1).map(\.track) == [0])
        #expect(try scene.hands(at: 0.2).map(\.track) == [0])
    }

    @Test(arguments: [(Float(0.9), false, Hand.Side.right), (0.1, false, .left), (0.9, true, .left), (0.1, true, .right)])
    func `the side is the person's own, in a mirror too`(rightness: Float, mirrored: Bool, side: Hand.Side) throws {
        let scene = try Scene { $0.mirrored = mirrored }
        scene.palms = [[320, 240]]
        scene.answers = [.init(rightness: rightness)]
        #expect(try scene.hands(at: 0).map(\.side) == [side])
    }

    @Test func `a doubtful frame does not turn a hand into the other`() throws {
        let scene = try Scene()
        scene.palms = [[320, 240]]
        scene.answers = [.init(), .init(), .init(rightness: 0.1), .init()]
        for frame in 0..<10 { #expect(try scene.hands(at: Double(frame) / 30).map(\.side) == [.right]) }
        scene.answers = [.init(rightness: 0.1)]
        for frame in 10..<60 { _ = try scene.hands(at: Double(frame) / 30) }
        #expect(try scene.hands(at: 2).map(\.side) == [.left])
    }

    @Test func `landmarks that are no numbers are no hand`() throws {
        let scene = try Scene()
        scene.palms = [[320, 240]]
        scene.answers = [.init(shift: [.nan, 0])]
        #expect(try scene.hands(at: 0).isEmpty)
        scene.answers = [.init(shift: [.infinity, 0])]
        #expect(try scene.hands(at: 1).isEmpty)
    }

    @Test func `a reset searches anew and names anew`() throws {
        let scene = try Scene()
        scene.palms = [[320, 240]]
        #expect(try scene.hands(at: 10).map(\.track) == [0])
        scene.tracker.reset()
        #expect(try scene.hands(at: 0).map(\.track) == [1])
        #expect(scene.tracker.work.palmInferences == 2)
    }

    @Test func `what the engine throws comes out`() throws {
        let scene = try Scene()
        scene.palmRunner.answer = { _, _ in throw EngineFailure() }
        #expect(throws: EngineFailure.self) { try scene.hands(at: 0) }
    }

    @Test func `models with other tensors are refused with what is wrong`() throws {
        let swapped = #expect(throws: HandTrackingError.self) {
            try HandTracker(palms: ScriptedRunner.landmarks(), landmarks: ScriptedRunner.palms())
        }
        #expect(
            swapped
                == .unexpectedTensors(
                    model: "palm detection", expected: "[[1, 192, 192, 3], [1, 2016, 18], [1, 2016, 1]]",
                    actual: "[[1, 224, 224, 3], [1, 63], [1, 1], [1, 1], [1, 63]]"))
        for outputs in [[], [[1, 63]], [[1, 63], [1, 1], [1, 63], [1, 1]], [[1, 63], [1, 1], [1, 1], [1, 63], [1, 1]]] as [[[Int]]] {
            let other = ScriptedRunner(input: [1, 224, 224, 3], outputs: outputs)
            let error = #expect(throws: HandTrackingError.self) { try HandTracker(palms: ScriptedRunner.palms(), landmarks: other) }
            guard case .unexpectedTensors("hand landmark", _, _)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        let small = ScriptedRunner(input: [1, 128, 128, 3], outputs: [[1, 2016, 18], [1, 2016, 1]])
        #expect(throws: HandTrackingError.self) { try HandTracker(palms: small, landmarks: ScriptedRunner.landmarks()) }
    }
}
