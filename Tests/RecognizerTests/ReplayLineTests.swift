import Gestures
import Testing

@testable import Recognizer

struct ReplayLineTests {
    @Test func `events are the contract's lines`() {
        #expect(
            Replay.line(.toggle(hand: .right, confidence: 0.9712), time: 1.23449)
                == "{\"t\":1.234,\"event\":\"toggle\",\"hand\":\"right\",\"confidence\":0.97}\n")
        #expect(
            Replay.line(.brightness(value: 57.349, phase: .changed, displacement: 0.12), time: 2.345)
                == "{\"t\":2.345,\"event\":\"brightness\",\"value\":57.3,\"phase\":\"changed\",\"displacement\":0.12}\n")
        #expect(
            Replay.line(.brightness(value: 0, phase: .ended, displacement: -0.00001), time: 0)
                == "{\"t\":0.0,\"event\":\"brightness\",\"value\":0.0,\"phase\":\"ended\",\"displacement\":0.0}\n")
    }

    @Test func `hands are 21 points, normalised to the frame, and the same in metres`() {
        let points = Hand.Points { Landmark(x: 64 * Float($0), y: 48, z: -6.4) }
        let world = Hand.Points { Landmark(x: 0.01 * Float($0), y: -0.02, z: 0.00001) }
        let hand = Hand(track: 3, side: .left, presence: 0.98765, points: points, world: world)
        let landmarks = (0..<21).map { "[\(Double($0) / 10),0.1,-0.01]" }.joined(separator: ",")
        let metres = (0..<21).map { "[\(Double($0) / 100),-0.02,0.0]" }.joined(separator: ",")
        #expect(
            Replay.line([hand], frame: 12, time: 0.4, width: 640, height: 480)
                == "{\"t\":0.4,\"frame\":12,\"hands\":[{\"hand\":\"left\",\"presence\":0.988,"
                + "\"landmarks\":[\(landmarks)],\"world\":[\(metres)]}]}\n")
        #expect(Replay.line([], frame: 0, time: 0, width: 640, height: 480) == "{\"t\":0.0,\"frame\":0,\"hands\":[]}\n")
    }
}
