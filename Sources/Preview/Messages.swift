internal import FoundationEssentials
public import Gestures

/// What the recogniser made of one frame, as far as a watcher sees it.
public struct Moment: Sendable {
    /// Seconds on the source's clock.
    public var time: Double
    public var hands: [Hand]
    public var diagnosis: Diagnosis?
    /// 0 to 100 %.
    public var brightness: Double
    public var fingers: Int
    /// How much of the arming gesture is done, 0 to 1; 1 when gestures act.
    public var arming: Double
    public var framesPerSecond: Double
    /// Seconds that recognising the frame took.
    public var duration: Double

    public init(
        time: Double, hands: [Hand], diagnosis: Diagnosis?, brightness: Double, fingers: Int, arming: Double, framesPerSecond: Double,
        duration: Double
    ) {
        (self.time, self.hands, self.diagnosis, self.brightness) = (time, hands, diagnosis, brightness)
        (self.fingers, self.arming, self.framesPerSecond, self.duration) = (fingers, arming, framesPerSecond, duration)
    }
}

/// One frame's numbers, sent for every frame.
struct FrameMessage: Encodable {
    var t: Double
    var fps: Double
    var ms: Double
    var hands: Int
    var fingers: Int
    var brightness: Double
    var arming: Double
    /// Absent without a hand.
    var gap: Double?
    var reach: Double?
    var pinch: String?
    var dwell: Double?
    var slide: String?

    init(_ moment: Moment) {
        t = moment.time.rounded(3)
        fps = moment.framesPerSecond.rounded(1)
        ms = (moment.duration * 1000).rounded(1)
        (hands, fingers) = (moment.hands.count, moment.fingers)
        (brightness, arming) = (moment.brightness.rounded(1), moment.arming.rounded(2))
        guard let diagnosis = moment.diagnosis else { return }
        (gap, reach) = (diagnosis.gap.rounded(3), diagnosis.reach.rounded(3))
        (pinch, dwell, slide) = (diagnosis.pinch.rawValue, diagnosis.dwell.rounded(2), diagnosis.slide.rawValue)
    }
}

/// The hands of the picture that it is sent with.
struct OverlayMessage: Encodable {
    struct Item: Encodable {
        var side: String
        var presence: Double
        /// Whether it is the hand that acts.
        var acts: Bool
        /// 21 × x and y, from 0 to 1 in the picture as it is sent.
        var points: [[Double]]
    }

    var t: Double
    var hands: [Item]

    init(_ moment: Moment, width: Int, height: Int) {
        t = moment.time.rounded(3)
        hands = moment.hands.map { hand in
            let points = Joint.allCases.map { joint in
                [(Double(hand[joint].x) / Double(width)).rounded(4), (Double(hand[joint].y) / Double(height)).rounded(4)]
            }
            return Item(
                side: hand.side.rawValue, presence: Double(hand.presence).rounded(2), acts: hand.track == moment.diagnosis?.track,
                points: points)
        }
    }
}

/// What changes rarely.
struct StatusMessage: Encodable, Equatable {
    var camera: String
    var version: String
    var enabled = true
    /// Nil when connected.
    var brokerTrouble: String?
    /// Nil while the camera is open.
    var cameraTrouble: String?
    /// The camera's own name and mode.
    var source: String?
    /// Degrees clockwise by which the picture is to be turned to stand upright.
    var rotation = 0
    /// Whether the picture shows the person as a mirror does.
    var mirrored: Bool
}

struct PublishedMessage: Encodable {
    var topic: String
    var payload: String
    /// False where there was no broker to take it.
    var sent: Bool
}

struct TargetMessage: Encodable {
    var on: Bool
    var brightness: Int
}

func json(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { preconditionFailure("the page's messages can always be encoded") }
    return Array(data)
}

/// A server-sent event.
func event(_ name: String, _ value: some Encodable) -> [UInt8] {
    Array("event: \(name)\ndata: ".utf8) + json(value) + [0x0a, 0x0a]
}

extension Double {
    /// To that many decimals; what is no number is 0, for JSON has none.
    func rounded(_ decimals: Int) -> Double {
        guard isFinite else { return 0 }
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        return (self * scale).rounded() / scale + 0
    }
}
