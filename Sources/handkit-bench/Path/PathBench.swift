internal import Contract
internal import FoundationEssentials
internal import Glibc
internal import ServiceKit
internal import TestSupport

/// What the whole way from a frame to a lamp takes and costs, and beside it the same with what Python offers: MediaPipe, paho-mqtt and
/// aiohomekit, on the same clip, broker and HAP-python lamp in the same run.
struct PathBench {
    /// Python with mediapipe 0.10.21, OpenCV, paho-mqtt and aiohomekit 4.0.1; nil leaves the peer out.
    var peerPython: String?
    /// Folder of the programs.
    var programs: String
    var clip: String
    /// How long is measured, after `warmUp`.
    var measured = Duration.seconds(40)
    var warmUp = Duration.seconds(8)

    struct Figures {
        var events = 0
        /// Events that no write of the lamp could be told for; a newer one took the place of most.
        var withoutWrite = 0
        /// From the message's arrival at the bridge to the lamp's answer.
        var answered: Spread
        /// From the frame's time to the lamp's setter.
        var frameToLamp: Spread
        /// Percent of one core.
        var recognizerCPU: Double
        var bridgeCPU: Double
        /// Megabytes.
        var recognizerMemory: Double
        var bridgeMemory: Double
    }

    /// An event of a camera; times are seconds of the monotonic clock.
    private struct Event {
        var time: Double
        /// Nil for a toggle.
        var brightness: Int?
    }

    func run() async throws -> String {
        let broker = try await Mosquitto()
        let ours = try await measureOurs(broker)
        var theirs: Figures?
        if let peerPython { theirs = try await measurePeers(broker, peerPython) }
        return Self.table(ours, theirs)
    }

    // MARK: Both sides

    private func measureOurs(_ broker: Mosquitto) async throws -> Figures {
        let lamp = try await HAPLamp.start(isAnnounced: true)
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let configuration = "\(folder)/handkit.yaml"
        // Each step of a slide is written, as the peer does; where a lamp is written less often, an event waits for its turn.
        try Paths.write(
            """
            mqtt: { host: 127.0.0.1, port: \(broker.port) }
            camera: { id: ours }
            bridge: { state: \(folder)/state }
            lamps: { lamp: { min_interval_ms: 0 } }
            log: { level: debug }
            """, to: configuration)
        let pairing = try ChildProcess(
            "\(programs)/handkit-bridge",
            ["pair", "lamp", "--host", "\(lamp.host):\(lamp.port)", "--code-stdin", "--config", configuration],
            input: Array("\(HAPLamp.code)\n".utf8))
        guard try await pairing.wait() == .exited(0) else { throw BenchError.failed("pairing: \(pairing.errorLines)") }
        let bridge = try ChildProcess("\(programs)/handkit-bridge", ["run", "--config", configuration, "--log-format", "json"])
        try await bridge.line("that the lamp is connected") { $0.contains("lamp connected") }
        let listener = try await broker.subscribe("handkit/camera/ours/+")
        let recognizer = try ChildProcess(
            "\(programs)/handkit-recognizer",
            ["run", "--source", clip, "--loop", "--config", configuration, "--log-format", "json"])
        return try await measure(
            recognizer, bridge, listener, lamp, event: Self.ours,
            answers: { since in
                bridge.signal(SIGTERM)
                try await bridge.wait()
                return bridge.errorLines.compactMap { Self.answer($0, since: since) }
            })
    }

    private func measurePeers(_ broker: Mosquitto, _ python: String) async throws -> Figures {
        let lamp = try await HAPLamp.start(isAnnounced: true)
        let script = "\(Paths.root)/Tests/Peers/python_path.py"
        let bridge = try ChildProcess(python, [script, "bridge", "--port", "\(broker.port)", "--id", lamp.id, "--code", HAPLamp.code])
        try await bridge.line("that it is ready") { $0.contains("ready") }
        let listener = try await broker.subscribe("handkit/camera/python/+")
        let recognizer = try ChildProcess(python, [script, "recognize", clip, "--port", "\(broker.port)"])
        return try await measure(
            recognizer, bridge, listener, lamp, event: Self.theirs,
            answers: { since in
                struct Report: Decodable {
                    var took: [[Double]]
                }
                bridge.signal(SIGTERM)
                let line = try await bridge.line("what it took") { $0.contains("took") }
                let report = try JSONDecoder().decode(Report.self, from: Data(line.utf8))
                return report.took.filter { $0[0] >= since }.map { $0[1] }
            })
    }

    private func measure(
        _ recognizer: ChildProcess, _ bridge: ChildProcess, _ listener: ChildProcess, _ lamp: HAPLamp,
        event: (_ line: Substring) -> Event?, answers: (_ since: Double) async throws -> [Double]
    ) async throws -> Figures {
        try await eventually("the lamp was written") { !lamp.writes.isEmpty || recognizer.ending != nil }
        guard recognizer.ending == nil else { throw BenchError.failed("the recognizer ended: \(recognizer.errorLines.suffix(3))") }
        try await Task.sleep(for: warmUp)
        let since = monotonicSeconds()
        let cpu = try await ProcessCost.percent(of: [recognizer.id, bridge.id]) { try await Task.sleep(for: measured) }
        let until = monotonicSeconds()
        let memory = try [recognizer.id, bridge.id].map { try ProcessCost(of: $0).resident }
        recognizer.signal(SIGTERM)
        // What was on its way is still written.
        try await Task.sleep(for: .seconds(1))
        let durations = try await answers(since)

        let events = listener.lines.compactMap { event($0[...]) }.filter { (since...until).contains($0.time) }
        let writes = lamp.writes
        let delays = events.compactMap { event in
            writes.first { write in
                guard write.time >= event.time, write.time < event.time + 1 else { return false }
                return event.brightness.map { write.brightness == $0 } ?? (write.on != nil)
            }.map { 1000 * ($0.time - event.time) }
        }
        return Figures(
            events: events.count, withoutWrite: events.count - delays.count, answered: Spread(milliseconds: durations),
            frameToLamp: Spread(milliseconds: delays), recognizerCPU: cpu[0], bridgeCPU: cpu[1], recognizerMemory: memory[0],
            bridgeMemory: memory[1])
    }

    // MARK: What they say

    /// A line `topic payload` of our recognizer.
    private static func ours(_ line: Substring) -> Event? {
        guard let space = line.firstIndex(of: " ") else { return nil }
        let payload = Array(line[line.index(after: space)...].utf8)
        let wallToMonotonic = monotonicSeconds() - Double(WallTime.now().millisecondsSinceEpoch) / 1000
        func time(_ stamp: Timestamp) -> Double { Double(stamp.millisecondsSinceEpoch) / 1000 + wallToMonotonic }
        if line[..<space].hasSuffix("/toggle") {
            return (try? Payload.decode(ToggleEvent.self, from: payload)).map { Event(time: time($0.ts)) }
        }
        guard line[..<space].hasSuffix("/brightness"), let event = try? Payload.decode(BrightnessEvent.self, from: payload) else {
            return nil
        }
        return Event(time: time(event.ts), brightness: max(1, Int(event.value.rounded())))
    }

    /// The same of the peer.
    private static func theirs(_ line: Substring) -> Event? {
        struct Message: Decodable {
            var time: Double
            var value: Double?
        }
        guard let brace = line.firstIndex(of: "{"), let message = try? JSONDecoder().decode(Message.self, from: Data(line[brace...].utf8))
        else { return nil }
        return Event(time: message.time, brightness: message.value.map { max(1, Int($0.rounded(.toNearestOrEven))) })
    }

    /// Milliseconds from a log line of our bridge.
    private static func answer(_ line: String, since: Double) -> Double? {
        struct Record: Decodable {
            struct Fields: Decodable {
                var took: String?
            }
            var time: String
            var fields: Fields
        }
        guard let record = try? JSONDecoder().decode(Record.self, from: Data(line.utf8)), let took = record.fields.took,
            let microseconds = Double(took.prefix { $0.isNumber }), let time = Timestamp(record.time)
        else { return nil }
        let age = Double(WallTime.now().millisecondsSinceEpoch - time.millisecondsSinceEpoch) / 1000
        return monotonicSeconds() - age >= since ? microseconds / 1000 : nil
    }

    // MARK: Output

    private static func table(_ ours: Figures, _ theirs: Figures?) -> String {
        let rows: [(String, (Figures) -> Double)] = [
            ("message received to PUT answered, median ms", \.answered.median), ("the same, p95 ms", \.answered.p95),
            ("frame to the lamp's setter, median ms", \.frameToLamp.median), ("the same, p95 ms", \.frameToLamp.p95),
            ("CPU of the recognizer, %", \.recognizerCPU), ("CPU of the bridge, %", \.bridgeCPU),
            ("CPU of both, %", { $0.recognizerCPU + $0.bridgeCPU }), ("memory of the recognizer, MB", \.recognizerMemory),
            ("memory of the bridge, MB", \.bridgeMemory), ("memory of both, MB", { $0.recognizerMemory + $0.bridgeMemory }),
            ("events", { Double($0.events) }), ("events that a newer one replaced", { Double($0.withoutWrite) }),
        ]
        let head = pad("", 46) + pad("HandKit", 10) + (theirs == nil ? "" : pad("Python", 10) + "ratio") + "\n"
        return head
            + rows.map { name, value in
                pad(name, 46) + pad(fixed(value(ours)), 10)
                    + (theirs.map { pad(fixed(value($0)), 10) + fixed(value($0) == 0 ? 0 : value(ours) / value($0)) } ?? "") + "\n"
            }.joined()
    }
}

func monotonicSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
