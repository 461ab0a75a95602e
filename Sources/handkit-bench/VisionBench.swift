internal import CAllocations
internal import Camera
internal import FoundationEssentials
internal import Glibc
internal import HandTracking
internal import Imaging
internal import Inference
internal import Recognizer
internal import Settings
internal import TestSupport

/// What tracking hands costs, clip by clip, and beside it what MediaPipe's own solution costs in the same run.
struct VisionBench {
    /// Python of an environment with mediapipe 0.10.21 and OpenCV; nil leaves the peer out.
    var peerPython: String?
    var settings: Settings
    var inputs: [VisionInput]

    /// Frames at the start of a clip that are not counted: they carry one-time work of either side.
    private static let warmUp = 10

    struct Result {
        var frames = 0
        /// Milliseconds of CPU a frame.
        var decoding = 0.0
        var tracking = 0.0
        var inference = 0.0
        /// Share of frames with a hand, 0 to 1.
        var hands = 0.0
        /// Calls for memory a frame, the engine's own left out.
        var allocations = 0.0
        /// Megabytes resident at most so far in this process.
        var memory = 0.0

        /// What is compared: from a clip tracking alone, from a camera all of it.
        func compared(_ input: VisionInput) -> Double { input == .clip ? tracking : decoding + tracking }
    }

    struct PeerResult: Decodable {
        /// Milliseconds a frame, of the same work as ``Result/compared(_:)``.
        var cpuMilliseconds: Double
        var megabytes: Double

        private enum CodingKeys: String, CodingKey {
            case cpuMilliseconds = "cpu_ms"
            case megabytes = "rss_mb"
        }
    }

    func run(clips: [String]) throws -> String {
        let models = try HandModels(settings: settings.camera).runners()
        var text = ""
        for input in inputs {
            text += try run(clips, as: input, TimedRunner(models.palms), TimedRunner(models.landmarks)) + "\n"
        }
        return text
    }

    private func run(_ clips: [String], as input: VisionInput, _ palms: TimedRunner, _ landmarks: TimedRunner) throws -> String {
        var text = input == .clip ? "# the clip itself; decoding is not compared\n" : "# \(input.rawValue) 1280x720; decoding is compared\n"
        text += "clip                      frames  hands  decode ms  track ms  outside inference  allocations  peak MB"
        if peerPython != nil { text += "   MediaPipe ms  ratio  peak MB" }
        text += "\n"
        for clip in clips {
            let folder = try Paths.temporaryFolder()
            defer { Paths.remove(folder) }
            if input == .mjpeg { _ = try ffmpeg(input.conversion(of: clip) + ["\(folder)/%d.jpg"]).output() }
            let ours = try measure(try frames(of: clip, as: input, in: folder), palms, landmarks)
            let outside = ours.tracking - ours.inference
            text += pad(String(clip.split(separator: "/").last ?? ""), 26) + pad("\(ours.frames)", 8) + pad(percent(ours.hands), 7)
            text += pad(fixed(ours.decoding), 11) + pad(fixed(ours.tracking), 10)
            text += pad("\(fixed(outside)) ms = \(percent(outside / ours.tracking))", 19)
            text += pad(fixed(ours.allocations), 13) + pad(fixed(ours.memory), 10)
            if let python = peerPython {
                let peer = try measurePeer(python, clip, as: input, in: folder)
                text += pad(fixed(peer.cpuMilliseconds), 14) + pad(fixed(ours.compared(input) / peer.cpuMilliseconds), 7)
                text += fixed(peer.megabytes)
            }
            text += "\n"
        }
        return text
    }

    private func frames(of clip: String, as input: VisionInput, in folder: String) throws -> any VisionFrames {
        let rate = try ClipSource(path: clip).format.framesPerSecond ?? 30
        switch input {
        case .clip: return try ClipFrames(clip)
        case .mjpeg: return JPEGFrames(folder: folder, framesPerSecond: rate)
        case .yuyv, .nv12:
            let process = try ffmpeg(input.conversion(of: clip) + ["pipe:1"])
            return RawFrames(process, format: input == .nv12 ? .nv12 : .yuyv, framesPerSecond: rate)
        }
    }

    private func ffmpeg(_ arguments: [String]) throws(BenchError) -> PeerProcess { try PeerProcess("/usr/bin/ffmpeg", arguments) }

    private func measure(_ source: any VisionFrames, _ palms: TimedRunner, _ landmarks: TimedRunner) throws -> Result {
        var options = HandTracker.Options()
        options.maximumHands = 1
        var tracker = try HandTracker(palms: palms, landmarks: landmarks, options: options)
        func engine() -> Cost { palms.cost + landmarks.cost }
        var (decoding, tracking, inference) = (Cost(), Cost(), Cost())
        var (frames, seen) = (0, 0)
        while true {
            var start = Cost.now
            guard let frame = try source.next(reduction: tracker.reduction, start: { start = .now }) else { break }
            let (decoded, before) = (Cost.now, engine())
            let hands = try tracker.hands(in: frame)
            let done = Cost.now
            if frames >= Self.warmUp {
                decoding += decoded - start
                tracking += done - decoded
                inference += engine() - before
            }
            frames += 1
            seen += hands.isEmpty ? 0 : 1
        }
        guard frames > Self.warmUp else { throw BenchError.failed("a clip has fewer than \(Self.warmUp + 1) frames") }
        let share = 1 / Double(frames - Self.warmUp)
        return Result(
            frames: frames, decoding: 1000 * decoding.seconds * share, tracking: 1000 * tracking.seconds * share,
            inference: 1000 * inference.seconds * share, hands: Double(seen) / Double(frames),
            allocations: Double(decoding.allocations + tracking.allocations - inference.allocations) * share, memory: peakMegabytes())
    }

    private func measurePeer(
        _ python: String, _ clip: String, as input: VisionInput, in folder: String
    ) throws -> PeerResult {
        let arguments = ["Tests/Peers/mediapipe_vision.py", input.rawValue, input == .mjpeg ? folder : clip]
        let output = try PeerProcess(python, arguments + input.conversion(of: clip)).output()
        guard let line = output.split(separator: "\n").last(where: { $0.hasPrefix("{") }) else { throw BenchError.peerFailed(python) }
        let result = try JSONDecoder().decode(PeerResult.self, from: Data(line.utf8))
        guard result.cpuMilliseconds > 0 else { throw BenchError.failed("MediaPipe saw no frame of \(clip)") }
        return result
    }
}

/// What this process has used so far, or used between two moments.
private struct Cost {
    /// Seconds of CPU.
    var seconds = 0.0
    /// Calls for memory.
    var allocations = 0

    static var now: Cost { Cost(seconds: cpuSeconds(), allocations: Int(callocations_count())) }
    static func + (a: Cost, b: Cost) -> Cost { Cost(seconds: a.seconds + b.seconds, allocations: a.allocations + b.allocations) }
    static func - (a: Cost, b: Cost) -> Cost { Cost(seconds: a.seconds - b.seconds, allocations: a.allocations - b.allocations) }
    static func += (a: inout Cost, b: Cost) { a = a + b }
}

/// Measures how much of a model's run is the model's own.
private final class TimedRunner: TensorRunner {
    private let runner: any TensorRunner
    /// In the engine, without filling the input.
    private(set) var cost = Cost()

    init(_ runner: any TensorRunner) { self.runner = runner }

    var inputShape: [Int] { runner.inputShape }
    var outputShapes: [[Int]] { runner.outputShapes }

    func run(filling fill: (UnsafeMutableBufferPointer<Float>) -> Void) throws {
        var filled = Cost()
        let start = Cost.now
        try runner.run { input in
            let begin = Cost.now
            fill(input)
            filled = .now - begin
        }
        cost += .now - start - filled
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
