import Contract
import HomeKit
import ServiceKit
import Settings

/// The commands that talk to lamps without a broker; what they print is data, on standard output.
struct LampCommands: Sendable {
    let settings: Settings
    let shelf: PairingShelf

    /// A lamp as a command means it.
    private struct Paired: Sendable {
        var name: String
        var record: PairingRecord
        var address: HAPAddress
    }

    // MARK: Commands

    func list(json: Bool) async throws {
        let pairings = try await pairings()
        let lamps = pairings.keys.sorted().map { name in
            Paired(name: name, record: pairings[name]!, address: address(of: name, pairings[name]!))
        }
        let states = await withTaskGroup(of: (Int, Result<LampValues, any Error>).self) { group in
            var states: [Int: Result<LampValues, any Error>] = [:]
            for (index, lamp) in lamps.enumerated() {
                // Each is a connection of its own; a house full of lamps does not need them all at once.
                if index >= 16, let (done, state) = await group.next() { states[done] = state }
                group.addTask {
                    do { return (index, .success(try await read(lamp))) } catch { return (index, .failure(error)) }
                }
            }
            for await (done, state) in group { states[done] = state }
            return states
        }
        let rows = lamps.enumerated().map { index, lamp in
            Row(
                lamp: lamp.name, address: "\(lamp.address)", state: (try? states[index]?.get())?.state,
                fault: states[index].flatMap { if case .failure(let error) = $0 { Self.fault(error) } else { nil } })
        }
        if json {
            for row in rows { printJSON(row) }
        } else {
            print(Self.table(rows), terminator: "")
        }
    }

    func get(_ name: String, json: Bool) async throws {
        show(try await read(try await lamp(name)), json)
    }

    func set(_ name: String, _ value: String, json: Bool) async throws {
        guard let command = LampCommand(argument: value) else { throw BridgeFailure.badValue(value) }
        let lamp = try await lamp(name)
        let values = try await withLink(to: lamp) { link in try await perform(command, lamp, link) }
        show(values, json)
    }

    func pair(_ arguments: Arguments) async throws {
        let name = arguments["NAME"] ?? ""
        guard (try? Identifier(name)) != nil else { throw BridgeFailure.badName(name) }
        guard let host = arguments["host"] else { throw UsageError.missingArgument("--host HOST:PORT", help: "handkit-bridge pair --help") }
        guard let place = HostAndPort(host) else { throw BridgeFailure.badAddress(host) }
        let address = HAPAddress(host: place.host, port: place.port)
        if try await pairings()[name] != nil, !arguments.has(flag: "replace") {
            throw BridgeFailure.alreadyPaired(name: name, path: shelf.path)
        }
        // A pairing that cannot be kept would lock everybody out of the lamp.
        try await kept { () async throws(PairingStoreError) in try await shelf.rehearse() }
        let code = try await SetupCodePrompt.read(file: arguments["code-file"], isPiped: arguments.has(flag: "code-stdin"))

        let record: PairingRecord
        do throws(HAPError) {
            record = try await HAPPairing.pair(at: address, code: code)
        } catch {
            throw BridgeFailure.lamp(name: name, address: address, .hap(error), pairing: true)
        }
        do throws(PairingStoreError) {
            try await shelf.save(record, as: name)
        } catch {
            let undone = (try? await HAPPairing.unpair(record)) != nil
            throw BridgeFailure.pairingNotKept(name: name, error, undone: undone)
        }
        let values = try await read(Paired(name: name, record: record, address: address))
        print("paired '\(name)' at \(address): \(values.text)")
    }

    func unpair(_ name: String, forceLocal: Bool) async throws {
        let lamp = try await lamp(name)
        let pairing = settings.lamps.first { $0.id.rawValue == name }?.pairing ?? name
        var isOnLamp = false
        do throws(HAPError) {
            try await HAPPairing.unpair(lamp.record, at: lamp.address)
        } catch {
            guard forceLocal else { throw BridgeFailure.unpairing(name: name, address: lamp.address, error) }
            isOnLamp = true
        }
        try await kept { () async throws(PairingStoreError) in try await shelf.remove(pairing, ifStill: lamp.record) }
        print(isOnLamp ? "forgot '\(name)'; the lamp may still hold the pairing until it is reset" : "unpaired '\(name)'")
    }

    // MARK: Lamps

    private func pairings() async throws -> [String: PairingRecord] {
        do throws(PairingStoreError) { return try await shelf.all() } catch { throw BridgeFailure.pairings(error) }
    }

    private func kept(_ change: () async throws(PairingStoreError) -> Void) async throws {
        do throws(PairingStoreError) { try await change() } catch { throw BridgeFailure.pairings(error) }
    }

    /// A lamp of the configuration, or a pairing by its name.
    private func lamp(_ name: String) async throws -> Paired {
        let pairings = try await pairings()
        let configured = settings.lamps.first { $0.id.rawValue == name }
        guard let record = pairings[configured?.pairing ?? name] else {
            if configured != nil { throw BridgeFailure.notPaired(lamp: name) }
            throw BridgeFailure.unknownLamp(name, known: Set(pairings.keys).union(settings.lamps.map(\.id.rawValue)).sorted())
        }
        let host = configured?.host.map { HAPAddress(host: $0.host, port: $0.port) }
        return Paired(name: name, record: record, address: host ?? record.address)
    }

    private func address(of pairing: String, _ record: PairingRecord) -> HAPAddress {
        let host = settings.lamps.first { $0.pairing == pairing }?.host
        return host.map { HAPAddress(host: $0.host, port: $0.port) } ?? record.address
    }

    private func withLink<Value>(to lamp: Paired, _ body: (LampLink) async throws -> Value) async throws -> Value {
        let link: LampLink
        do throws(LampLink.Fault) {
            link = try await LampLink.open(lamp.record, at: lamp.address)
        } catch {
            throw BridgeFailure.lamp(name: lamp.name, address: lamp.address, error, pairing: false)
        }
        do {
            let value = try await body(link)
            await link.session.close()
            return value
        } catch {
            await link.session.close()
            throw error
        }
    }

    private func read(_ lamp: Paired) async throws -> LampValues {
        try await withLink(to: lamp) { link in
            switch await link.perform(.read) {
            case .read(let values): return values
            case .failed(let failure): throw await Self.failure(failure, lamp, link)
            case .written: preconditionFailure("a read is answered by values")
            }
        }
    }

    /// Does a command with the rules that the service has for it.
    private func perform(_ command: LampCommand, _ lamp: Paired, _ link: LampLink) async throws -> LampValues {
        var queue = LampQueue()
        let lifetime = Duration.seconds(10)
        var actions = queue.handle(.connected, at: .now)
        actions += queue.handle(.command(command, origin: .set, expires: .now + lifetime), at: .now)
        while true {
            var answer: LampQueue.Answer?
            for action in actions {
                switch action {
                case .send(let request): answer = await link.perform(request)
                case .done(_, _, let values): return values
                case .dropped(_, _, let reason): throw BridgeFailure.commandDropped(lamp: lamp.name, reason)
                case .state: break
                }
            }
            if let answer {
                if answer == .failed(.lost) { throw await Self.failure(.lost, lamp, link) }
                actions = queue.handle(.answered(answer), at: .now)
            } else {
                try await Task.sleep(until: queue.deadline ?? .now, clock: .continuous)
                actions = queue.handle(.wake, at: .now)
            }
        }
    }

    private static func failure(_ failure: LampQueue.Failure, _ lamp: Paired, _ link: LampLink) async -> BridgeFailure {
        switch failure {
        case .busy: .lamp(name: lamp.name, address: lamp.address, .hap(.busy), pairing: false)
        case .refused(let status): .commandDropped(lamp: lamp.name, .refused(status: status))
        case .lost: .lamp(name: lamp.name, address: lamp.address, .hap(await link.session.end ?? .closed(errno: nil)), pairing: false)
        }
    }

    // MARK: Output

    private struct Row: Encodable {
        var lamp: String
        var address: String
        var state: LampState?
        var fault: String?
    }

    private static func fault(_ error: any Error) -> String {
        guard let report = FailureReport.reports(for: error).first else { return "\(error)" }
        return FailureReport(report.what, remedy: report.remedy).description
    }

    private static func table(_ rows: [Row]) -> String {
        guard !rows.isEmpty else { return "no lamp is paired; pair one with 'handkit-bridge pair NAME --host ADDRESS:PORT'\n" }
        let cells = [("LAMP", "ADDRESS", "STATE")] + rows.map { ($0.lamp, $0.address, $0.state?.text ?? $0.fault ?? "") }
        let widths = (cells.map(\.0.count).max() ?? 0, cells.map(\.1.count).max() ?? 0)
        func padded(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: width + 2 - text.count) }
        return cells.map { padded($0.0, widths.0) + padded($0.1, widths.1) + $0.2 + "\n" }.joined()
    }

    private func show(_ values: LampValues, _ json: Bool) {
        if json { printJSON(values.state) } else { print(values.text) }
    }

    private func printJSON(_ value: some Encodable) { print(String(decoding: Payload.encode(value), as: UTF8.self)) }

    private func print(_ text: String, terminator: String = "\n") { Swift.print(text, terminator: terminator) }
}

extension LampCommand {
    /// What `set` takes.
    init?(argument: String) {
        switch argument {
        case "on": self = .power(true)
        case "off": self = .power(false)
        case "toggle": self = .toggle
        default:
            guard let level = Int(argument), (0...100).contains(level) else { return nil }
            self = .level(level)
        }
    }
}

extension LampValues {
    fileprivate var text: String { state.text }
}

extension LampState {
    /// `on 57%`, `off`, `on` for a lamp that cannot be dimmed.
    fileprivate var text: String {
        guard state == .on else { return "off" }
        return brightness.map { "on \($0)%" } ?? "on"
    }
}
