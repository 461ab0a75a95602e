internal import Glibc
internal import HomeKit
internal import Reactor

/// Measures a controller where a bridge does its work: on the event loop, with no thread between the caller and the socket.
actor ControllerBench {
    private enum Failure: Error {
        case noBrightness
        case refused(HAPStatus)
    }

    private static let (setups, verifies, writes) = (10, 50, 1000)
    /// Writes at 30 a second.
    private static let paced = 300

    nonisolated var unownedExecutor: UnownedSerialExecutor { EventLoop.shared.asUnownedSerialExecutor() }

    /// Pairs, verifies and writes often; leaves the lamp unpaired.
    /// - Returns: JSON: milliseconds of `setup`, `verify` and `put`, percent of a core `cpu`, megabytes `memory`.
    func run(at address: HAPAddress, code: SetupCode) async throws -> String {
        // What it looks for on the network is part of a controller's memory, as it is of the peer's.
        let discovery = try HAPDiscovery()
        let looking = Task(executorPreference: EventLoop.shared) { await discovery.run() }
        defer { looking.cancel() }
        var record = try await HAPPairing.pair(at: [address], code: code)
        var durations: [Duration] = []
        for _ in 0..<Self.setups {
            try await HAPPairing.unpair(record)
            let start = ContinuousClock.now
            record = try await HAPPairing.pair(at: [address], code: code)
            durations.append(.now - start)
        }
        let setup = spread(durations)

        durations = []
        for _ in 0..<Self.verifies {
            let start = ContinuousClock.now
            let session = try await HAPSession.open(record)
            durations.append(.now - start)
            await session.close()
        }
        let verify = spread(durations)

        let session = try await HAPSession.open(record)
        guard let brightness = Lightbulb.all(in: try await session.accessories()).first?.brightness?.id else { throw Failure.noBrightness }
        durations = []
        for count in 0..<Self.writes {
            let start = ContinuousClock.now
            try await write(count, brightness, session)
            durations.append(.now - start)
        }
        let put = spread(durations)

        let (start, before) = (ContinuousClock.now, cpuSeconds())
        for count in 0..<Self.paced {
            try await write(count, brightness, session)
            await EventLoop.shared.sleep(until: start + .seconds(Double(count + 1) / 30))
        }
        let cpu = 100 * (cpuSeconds() - before) / ((ContinuousClock.now - start) / .seconds(1))
        let memory = residentMegabytes()
        await session.close()
        try await HAPPairing.unpair(record)
        return "{\"setup\":\(setup),\"verify\":\(verify),\"put\":\(put),\"cpu\":\(cpu),\"memory\":\(memory)}"
    }

    private func write(_ count: Int, _ brightness: CharacteristicID, _ session: HAPSession) async throws {
        let result = try await session.write([CharacteristicWrite(brightness, .integer(Int64(count % 100 + 1)))])
        guard result[0].status == .success else { throw Failure.refused(result[0].status) }
    }

    private func spread(_ durations: [Duration]) -> String {
        let sorted = durations.sorted()
        func at(_ share: Double) -> Double { sorted[Int(share * Double(sorted.count - 1))] / .milliseconds(1) }
        return "{\"median\":\(at(0.5)),\"p95\":\(at(0.95))}"
    }

    private func cpuSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The second field of `/proc/self/statm`, in pages.
    private func residentMegabytes() -> Double {
        let descriptor = open("/proc/self/statm", O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = read(descriptor, &bytes, bytes.count)
        let fields = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        let pages = fields.count > 1 ? Double(fields[1]) ?? 0 : 0
        return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
    }
}
