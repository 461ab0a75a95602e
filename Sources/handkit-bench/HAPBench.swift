internal import FoundationEssentials
internal import Glibc
internal import HomeKit

/// What controlling a lamp costs, and beside it what aiohomekit takes for the same, with the same HAP-python lamp in the same run.
struct HAPBench {
    /// Python of an environment with HAP-python 5.2.0 and aiohomekit 4.0.1.
    var python: String
    /// The bridge whose memory is measured.
    var bridge: String
    var setups = 10
    var verifies = 50
    var writes = 1000
    /// Writes at 30 a second.
    var paced = 300

    private static let code = "031-45-154"

    /// Milliseconds.
    struct Spread: Decodable {
        var median: Double
        var p95: Double

        init(_ durations: [Duration]) {
            let sorted = durations.sorted()
            func at(_ share: Double) -> Double { sorted[Int(share * Double(sorted.count - 1))] / .milliseconds(1) }
            (median, p95) = (at(0.5), at(0.95))
        }
    }

    struct Figures: Decodable {
        var setup: Spread
        var verify: Spread
        var put: Spread
        /// Percent of one core at 30 writes a second.
        var cpu: Double
        /// Megabytes resident.
        var memory: Double
    }

    func run() async throws -> String {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let lamp = try startLamp(folder)
        let ours = try await measure(at: HAPAddress(host: "127.0.0.1", port: lamp.port), folder)
        let peer = try PeerProcess(
            python,
            [
                "Tests/Peers/aiohomekit_controller.py", "bench", "--id", lamp.id, "--code", Self.code, "--setups", "\(setups)",
                "--verifies",
                "\(verifies)", "--writes", "\(writes)", "--paced", "\(paced)",
            ])
        let theirs = try JSONDecoder().decode(Figures.self, from: Data(try peer.output().utf8))
        return Self.table(ours, theirs)
    }

    // MARK: The lamp

    private struct Lamp {
        var process: PeerProcess
        var id: String
        var port: UInt16
    }

    private func startLamp(_ folder: String) throws -> Lamp {
        struct Ready: Decodable {
            var mac: String
            var port: UInt16
        }
        let port = try freePort()
        let process = try PeerProcess(
            python, ["Tests/Peers/hap_lamp.py", "--port", "\(port)", "--code", Self.code, "--state", "\(folder)/lamp.json", "--mdns"])
        guard let line = process.line(), let ready = try? JSONDecoder().decode(Ready.self, from: Data(line.utf8)) else {
            throw BenchError.peerFailed("hap_lamp.py")
        }
        process.ignoreOutput()
        return Lamp(process: process, id: ready.mac, port: ready.port)
    }

    // MARK: Our controller

    private func measure(at address: HAPAddress, _ folder: String) async throws -> Figures {
        let code = try SetupCode(Self.code)
        let clock = ContinuousClock()
        var durations: [Duration] = []
        var record = try await HAPPairing.pair(at: [address], code: code)
        for _ in 0..<setups {
            try await HAPPairing.unpair(record)
            let start = clock.now
            record = try await HAPPairing.pair(at: [address], code: code)
            durations.append(clock.now - start)
        }
        let setup = Spread(durations)

        durations = []
        for _ in 0..<verifies {
            let start = clock.now
            let session = try await HAPSession.open(record)
            durations.append(clock.now - start)
            await session.close()
        }
        let verify = Spread(durations)

        let session = try await HAPSession.open(record)
        guard let brightness = Lightbulb.all(in: try await session.accessories()).first?.brightness?.id else {
            throw BenchError.failed("the lamp has no brightness")
        }
        func write(_ count: Int) async throws {
            let result = try await session.write([CharacteristicWrite(brightness, .integer(Int64(count % 100 + 1)))])
            guard result[0].status == .success else { throw BenchError.failed("a write was refused") }
        }
        durations = []
        for count in 0..<writes {
            let start = clock.now
            try await write(count)
            durations.append(clock.now - start)
        }
        let put = Spread(durations)

        let (start, before) = (clock.now, cpuSeconds())
        for count in 0..<paced {
            try await write(count)
            try await Task.sleep(until: start + .seconds(Double(count + 1) / 30), clock: .continuous)
        }
        let cpu = 100 * (cpuSeconds() - before) / ((clock.now - start) / .seconds(1))
        await session.close()
        let memory = try await bridgeMemory(record, folder)
        try await HAPPairing.unpair(record)
        return Figures(setup: setup, verify: verify, put: put, cpu: cpu, memory: memory)
    }

    /// The whole bridge, connected with the lamp, discovery and MQTT client included.
    private func bridgeMemory(_ record: PairingRecord, _ folder: String) async throws -> Double {
        try PairingStore(folder: "\(folder)/state").save(record, as: "lamp")
        let process = try PeerProcess(
            bridge, ["run"], environment: ["HANDKIT_BRIDGE_STATE": "\(folder)/state", "HANDKIT_MQTT_PORT": "\(try freePort())"])
        try await Task.sleep(for: .seconds(5))
        let status = try String(contentsOfFile: "/proc/\(process.id)/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
        else { throw BenchError.failed("the bridge ended") }
        return kilobytes / 1024
    }

    // MARK: Output

    private static func table(_ ours: Figures, _ theirs: Figures) -> String {
        let rows: [(String, Double, Double)] = [
            ("pair-setup, median ms", ours.setup.median, theirs.setup.median), ("pair-setup, p95 ms", ours.setup.p95, theirs.setup.p95),
            ("TCP and pair-verify, median ms", ours.verify.median, theirs.verify.median),
            ("TCP and pair-verify, p95 ms", ours.verify.p95, theirs.verify.p95), ("PUT, median ms", ours.put.median, theirs.put.median),
            ("PUT, p95 ms", ours.put.p95, theirs.put.p95), ("CPU at 30 writes/s, %", ours.cpu, theirs.cpu),
            ("resident memory, MB", ours.memory, theirs.memory),
        ]
        let head = pad("", 34) + pad("HandKit", 10) + pad("aiohomekit", 12) + "ratio\n"
        return head
            + rows.map { name, ours, theirs in pad(name, 34) + pad(fixed(ours), 10) + pad(fixed(theirs), 12) + fixed(ours / theirs) + "\n" }
            .joined()
    }
}

private func temporaryFolder() throws -> String {
    var template = Array("/tmp/handkit-bench-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw BenchError.failed("no temporary folder") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// A TCP port of the loopback that nobody listens on at this moment.
private func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
        }
    }
    guard isBound else { throw BenchError.failed("no free port") }
    return UInt16(bigEndian: address.sin_port)
}
