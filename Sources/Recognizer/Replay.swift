internal import Camera
internal import Gestures
internal import Imaging
internal import ServiceKit

/// Recognises a clip as fast as the machine can and prints what it holds, one JSON object a line.
struct Replay {
    var printsLandmarks: Bool
    var printsDiagnosis = false
    var output: any TextOutputStream & Sendable

    mutating func run(_ source: any FrameSource, through recognition: inout Recognition) throws {
        var number = 0
        var time = 0.0
        while let frame = try source.nextFrame() {
            let observation = try recognition.observe(frame)
            time = frame.time
            if printsLandmarks {
                output.write(Self.line(observation.hands, frame: number, time: time, width: frame.image.width, height: frame.image.height))
            }
            if printsDiagnosis, let diagnosis = observation.diagnosis { output.write(Self.line(diagnosis, time: time)) }
            write(observation.events, at: time)
            number += 1
        }
        write(recognition.interrupt(at: time).events, at: time)
    }

    private mutating func write(_ events: [GestureEvent], at time: Double) {
        for event in events { output.write(Self.line(event, time: time)) }
    }

    static func line(_ event: GestureEvent, time: Double) -> String {
        switch event {
        case .toggle(let hand, let confidence):
            "{\"t\":\(time.rounded(3)),\"event\":\"toggle\",\"hand\":\"\(hand.rawValue)\",\"confidence\":\(confidence.rounded(2))}\n"
        case .brightness(let value, let phase, let displacement):
            "{\"t\":\(time.rounded(3)),\"event\":\"brightness\",\"value\":\(value.rounded(1)),\"phase\":\"\(phase.rawValue)\",\"displacement\":\(displacement.rounded(4))}\n"
        }
    }

    static func line(_ diagnosis: Diagnosis, time: Double) -> String {
        let (gap, reach, dwell) = (diagnosis.gap.rounded(3), diagnosis.reach.rounded(3), diagnosis.dwell.rounded(2))
        return
            "{\"t\":\(time.rounded(3)),\"diagnosis\":{\"gap\":\(gap),\"reach\":\(reach),\"pinch\":\"\(diagnosis.pinch.rawValue)\",\"dwell\":\(dwell),\"slide\":\"\(diagnosis.slide.rawValue)\"}}\n"
    }

    /// x and y normalised to the frame, z too, by the width as MediaPipe does; `world` in metres about the hand's centre.
    static func line(_ hands: [Hand], frame: Int, time: Double, width: Int, height: Int) -> String {
        let items = hands.map { hand in
            let landmarks = Joint.allCases.map { joint in
                let point = hand[joint]
                let (x, y) = (Double(point.x) / Double(width), Double(point.y) / Double(height))
                return "[\(x.rounded(5)),\(y.rounded(5)),\((Double(point.z) / Double(width)).rounded(5))]"
            }
            let world = Joint.allCases.map { joint in
                let point = hand.world[joint.rawValue]
                return "[\(Double(point.x).rounded(4)),\(Double(point.y).rounded(4)),\(Double(point.z).rounded(4))]"
            }
            let presence = Double(hand.presence).rounded(3)
            return
                "{\"hand\":\"\(hand.side.rawValue)\",\"presence\":\(presence),\"landmarks\":[\(landmarks.joined(separator: ","))],\"world\":[\(world.joined(separator: ","))]}"
        }
        return "{\"t\":\(time.rounded(3)),\"frame\":\(frame),\"hands\":[\(items.joined(separator: ","))]}\n"
    }
}

extension Double {
    /// To that many decimals; a zero is never negative.
    func rounded(_ decimals: Int) -> Double {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        return (self * scale).rounded() / scale + 0
    }
}
