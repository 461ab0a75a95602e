internal import Camera
internal import FoundationEssentials
internal import Glibc
internal import HandTracking
internal import Imaging
internal import Inference
internal import Recognizer
internal import Settings

/// What tracking hands costs, clip by clip, and beside it what MediaPipe's own solution costs in the same run.
struct VisionBench {
    /// Python of an environment with mediapipe 0.10.21 and OpenCV; nil leaves the peer out.
    var peerPython: String?
    var settings: Settings

    /// Frames at the start of a clip that are not counted: they carry one-time work of either side.
    private static let warmUp = 10

    struct Result {
        var clip: String
        var frames: Int
        /// Milliseconds of CPU a frame.
        var decoding: Double
        var tracking: Double
        var inference: Double
        /// Share of frames with a hand, 0 to 1.
        var hands: Double
        /// Megabytes resident at most so far in this process.
        var memory: Double
    }

    struct PeerResult: Decodable {
        var cpuMilliseconds: Double
        var megabytes: Double

        private enum CodingKeys: String, CodingKey {
            case cpuMilliseconds = "cpu_ms"
            case megabytes = "rss_mb"
        }
    }

    func run(clips: [String]) throws -> String {
        var text = "clip                              frames  hands  decode ms  track ms  of that outside inference  peak MB"
        if peerPython != nil { text += "   MediaPipe ms  ratio  peak MB" }
        text += "\n"
        for clip in clips {
            let ours = try measure(clip)
            let outside = (ours.tracking - ours.inference) / ours.tracking
            text += pad(String(clip.split(separator: "/").last ?? ""), 34)
            text += pad("\(ours.frames)", 8) + pad(percent(ours.hands), 7) + pad(fixed(ours.decoding), 11) + pad(fixed(ours.tracking), 10)
            text += pad("\(fixed(ours.tracking - ours.inference)) ms = \(percent(outside))", 27) + pad(fixed(ours.memory), 10)
            if let python = peerPython {
                let peer = try measurePeer(python, clip)
                text += pad(fixed(peer.cpuMilliseconds), 14) + pad(fixed(ours.tracking / peer.cpuMilliseconds), 7) + fixed(peer.megabytes)
            }
            text += "\n"
        }
        return text
    }

    private func measure(_ path: String) throws -> Result {
        let (palms, landmarks) = try HandModels(settings: settings.camera).runners()
        let (timedPalms, timedLandmarks) = (TimedRunner(palms), TimedRunner(landmarks))
        var options = HandTracker.Options()
        options.maximumHands = 1
        var tracker = try HandTracker(palms: timedPalms, landmarks: timedLandmarks, options: options)
        let source = try ClipSource(path: path)
        var (frames, counted, seen) = (0, 0, 0)
        var (decoding, tracking, inference) = (0.0, 0.0, 0.0)
        while true {
            let start = cpuSeconds()
            guard let frame = try source.nextFrame() else { break }
            let decoded = cpuSeconds()
            let before = timedPalms.inference + timedLandmarks.inference
            let hands = try tracker.hands(in: frame)
            if frames >= Self.warmUp {
                counted += 1
                decoding += decoded - start
                tracking += cpuSeconds() - decoded
                inference += timedPalms.inference + timedLandmarks.inference - before
            }
            frames += 1
            seen += hands.isEmpty ? 0 : 1
        }
        let scale = 1000 / Double(max(1, counted))
        return Result(
            clip: path, frames: frames, decoding: decoding * scale, tracking: tracking * scale, inference: inference * scale,
            hands: Double(seen) / Double(max(1, frames)), memory: peakMegabytes())
    }

    private func measurePeer(_ python: String, _ clip: String) throws -> PeerResult {
        let output = try PeerProcess(python, ["Tests/Peers/mediapipe_vision.py", clip]).output()
        guard let line = output.split(separator: "\n").last(where: { $0.hasPrefix("{") }) else { throw BenchError.peerFailed(python) }
        return try JSONDecoder().decode(PeerResult.self, from: Data(line.utf8))
    }
}

/// Measures how much of a model's run is the model's own.
private final class TimedRunner: TensorRunner {
    private let runner: any TensorRunner
    /// Seconds of CPU in the engine, without filling the input.
    private(set) var inference = 0.0

    init(_ runner: any TensorRunner) { self.runner = runner }

    var inputShape: [Int] { runner.inputShape }
    var outputShapes: [[Int]] { runner.outputShapes }

    func run(filling fill: (UnsafeMutableBufferPointer<Float>) -> Void) throws {
        var filled = 0.0
        let start = cpuSeconds()
        try runner.run { input in
            let begin = cpuSeconds()
            fill(input)
            filled = cpuSeconds() - begin
        }
        inference += cpuSeconds() - start - filled
    }

    func withOutput<Result>(_ index: Int, _ body: (UnsafeBufferPointer<Float>) throws -> Result) rethrows -> Result {
        try runner.withOutput(index, body)
    }
}

/// Seconds of CPU this process has used, all threads.
func cpuSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

private func peakMegabytes() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Double(usage.ru_maxrss) / 1024
}

func fixed(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let rest = hundredths % 100
    return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
}

private func percent(_ share: Double) -> String { "\(Int((share * 100).rounded()))%" }

func pad(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(1, width - text.count)) }
