import Contract
import Glibc
import HomeKit
import ServiceKit
import Settings

/// The commands that talk to lamps without a broker; what they print is data, on standard output.
struct LampCommands: Sendable {
    let settings: Settings
    let shelf: PairingShelf

    /// A lamp as a command means it.
    struct Paired: Sendable {
        var name: String
        var record: PairingRecord
        /// Where to look, the most promising first.
        var addresses: [HAPAddress]
        var choice: BulbChoice
        var minimumInterval = LampQueue.Policy().minimumInterval
        var splitsWrites = false

        var address: HAPAddress { addresses[0] }
    }

    // MARK: Commands

    func list(json: Bool) async throws {
        let pairings = try await pairings()
        let lamps = pairings.keys.sorted().map { name in
            paired(name, pairings[name]!, settings.lamps.first { $0.pairing == name })
        }
        let states = await states(of: lamps)
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

    /// Reads many lamps; those that are not where they were are looked for together.
    private func states(of lamps: [Paired]) async -> [Int: Result<LampValues, any Error>] {
        var states = await read(Dictionary(uniqueKeysWithValues: lamps.enumerated().map { ($0, $1) }))
        let lost = states.filter { _, state in
            guard case .failure(BridgeFailure.lamp(_, _, .hap(let error), _)) = state else { return false }
            return error.mayHaveMoved
        }
        guard !lost.isEmpty, settings.bridge.discovers else { return states }
        let search = try? await NetworkSearch.find { services in
            lost.keys.allSatisfy { index in services.contains { $0.has(id: lamps[index].record.accessoryID) } } ? true : nil
        }
        var found: [Int: Paired] = [:]
        for index in lost.keys {
            var lamp = lamps[index]
            let service = search?.seen.first { $0.has(id: lamp.record.accessoryID) }
            lamp.addresses = (service?.addresses ?? []).filter { !lamp.addresses.contains($0) }
            if !lamp.addresses.isEmpty { found[index] = lamp }
        }
        states.merge(await read(found)) { $1 }
        return states
    }

    private func read(_ lamps: [Int: Paired]) async -> [Int: Result<LampValues, any Error>] {
        await withTaskGroup(of: (Int, Result<LampValues, any Error>).self) { group in
            var states: [Int: Result<LampValues, any Error>] = [:]
            for (count, (index, lamp)) in lamps.enumerated() {
                // Each is a connection of its own; a house full of lamps does not need them all at once.
                if count >= 16, let (done, state) = await group.next() { states[done] = state }
                group.addTask {
                    do {
                        return (index, .success(try await withLink(to: lamp, follows: false) { link in try await read(lamp, link) }))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            for await (done, state) in group { states[done] = state }
            return states
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

    func unpair(_ name: String, forceLocal: Bool) async throws {
        let lamp = try await lamp(name)
        let pairing = settings.lamps.first { $0.id.rawValue == name }?.pairing ?? name
        var isOnLamp = false
        do throws(HAPError) {
            try await unpair(lamp)
        } catch {
            guard forceLocal else { throw BridgeFailure.unpairing(name: name, address: lamp.address, error) }
            isOnLamp = true
        }
        try await kept { () async throws(PairingStoreError) in try await shelf.remove(pairing, ifStill: lamp.record) }
        print(isOnLamp ? "forgot '\(name)'; the lamp may still hold the pairing until it is reset" : "unpaired '\(name)'")
    }

    /// Where it was, or else where it is found.
    private func unpair(_ lamp: Paired) async throws(HAPError) {
        do throws(HAPError) {
            try await HAPPairing.unpair(lamp.record, at: lamp.addresses)
        } catch {
            guard error.mayHaveMoved, settings.bridge.discovers else { throw error }
            let addresses = await NetworkSearch.addresses(of: lamp.record.accessoryID)
            guard !addresses.isEmpty else { throw error }
            try await HAPPairing.unpair(lamp.record, at: addresses)
        }
    }

    // MARK: Lamps

    func pairings() async throws -> [String: PairingRecord] {
        do throws(PairingStoreError) { return try await shelf.all() } catch { throw BridgeFailure.pairings(error) }
    }

    func kept(_ change: () async throws(PairingStoreError) -> Void) async throws {
        do throws(PairingStoreError) { try await change() } catch { throw BridgeFailure.pairings(error) }
    }

    /// A lamp of the configuration, or a pairing by its name.
    func lamp(_ name: String) async throws -> Paired {
        let pairings = try await pairings()
        let configured = settings.lamps.first { $0.id.rawValue == name }
        guard let record = pairings[configured?.pairing ?? name] else {
            if configured != nil { throw BridgeFailure.notPaired(lamp: name) }
            throw BridgeFailure.unknownLamp(name, known: Set(pairings.keys).union(settings.lamps.map(\.id.rawValue)).sorted())
        }
        return paired(name, record, configured)
    }

    /// Whether it is the name of a lamp or of a pairing.
    func isKnown(_ name: String) async throws -> Bool {
        if settings.lamps.contains(where: { $0.id.rawValue == name }) { return true }
        return try await pairings()[name] != nil
    }

    private func paired(_ name: String, _ record: PairingRecord, _ lamp: Settings.Lamp?) -> Paired {
        let host = lamp?.host.map { HAPAddress(host: $0.host, port: $0.port) }
        var paired = Paired(
            name: name, record: record, addresses: host.map { [$0, record.address] } ?? [record.address], choice: BulbChoice(lamp?.bulb))
        if let lamp { (paired.minimumInterval, paired.splitsWrites) = (lamp.minimumInterval, lamp.splitsWrites) }
        return paired
    }

    /// - Parameter follows: Whether a lamp that is not where it was is looked for on the network.
    func withLink<Value>(
        to lamp: Paired, follows: Bool = true, _ body: (LampLink) async throws -> Value
    ) async throws -> Value {
        for pause in [Duration.milliseconds(300), .seconds(1)] {
            do {
                return try await withOneLink(to: lamp, follows, body)
            } catch BridgeFailure.lamp(_, _, .hap(let error), _) where error.isUnverified {
                // Some lamps forget a session; a new one is verified anew.
            } catch BridgeFailure.lamp(_, _, .hap(.httpStatus(_, code: 503, _)), _) {
                // A connection that was just closed may still hold the only place that the lamp has.
                try await Task.sleep(for: pause)
            }
        }
        return try await withOneLink(to: lamp, follows, body)
    }

    private func withOneLink<Value>(
        to lamp: Paired, _ follows: Bool, _ body: (LampLink) async throws -> Value
    ) async throws -> Value {
        let link: LampLink
        do throws(LampLink.Fault) {
            link = try await open(lamp, follows: follows)
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

    /// Connects where the lamp was, or else where it is found; then it is known where it is.
    private func open(_ lamp: Paired, follows: Bool) async throws(LampLink.Fault) -> LampLink {
        do throws(LampLink.Fault) {
            return try await LampLink.open(lamp.record, at: lamp.addresses, choice: lamp.choice)
        } catch {
            guard follows, case .hap(let fault) = error, fault.mayHaveMoved, settings.bridge.discovers else { throw error }
            let addresses = await NetworkSearch.addresses(of: lamp.record.accessoryID).filter { !lamp.addresses.contains($0) }
            guard !addresses.isEmpty else { throw error }
            let link = try await LampLink.open(lamp.record, at: addresses, choice: lamp.choice)
            let pairing = settings.lamps.first { $0.id.rawValue == lamp.name }?.pairing ?? lamp.name
            // Where that cannot be kept now, it is found again next time.
            try? await shelf.relocate(pairing, ifStill: lamp.record, to: link.session.address)
            return link
        }
    }

    func read(_ lamp: Paired) async throws -> LampValues {
        try await withLink(to: lamp) { link in try await read(lamp, link) }
    }

    func read(_ lamp: Paired, _ link: LampLink) async throws -> LampValues {
        switch await link.perform(.read) {
        case .read(let values): return values
        case .failed(let failure): throw await Self.failure(failure, lamp, link)
        case .written, .writtenNear: preconditionFailure("a read is answered by values")
        }
    }

    /// Does a command with the rules that the service has for it.
    func perform(_ command: LampCommand, _ lamp: Paired, _ link: LampLink) async throws -> LampValues {
        var policy = LampQueue.Policy()
        (policy.minimumInterval, policy.splitsWrites) = (lamp.minimumInterval, lamp.splitsWrites)
        var queue = LampQueue(policy: policy)
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
                if case .failed(let failure) = answer, failure == .lost || failure == .unverified {
                    throw await Self.failure(failure, lamp, link)
                }
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
        case .unverified:
            .lamp(name: lamp.name, address: lamp.address, .hap(.httpStatus(.write, code: 470, status: nil)), pairing: false)
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
        guard !rows.isEmpty else { return "no lamp is paired; find one with 'handkit-bridge discover', and pair it\n" }
        return TextTable(["LAMP", "ADDRESS", "STATE"], rows.map { [$0.lamp, $0.address, $0.state?.text ?? $0.fault ?? ""] }).text
    }

    /// - Parameter moment: Printed before the values where they are one of several lines.
    func show(_ values: LampValues, _ json: Bool, at moment: WallTime? = nil) {
        if json { printJSON(values.state) } else { print((moment.map { "\($0) " } ?? "") + values.text) }
    }

    func printJSON(_ value: some Encodable) { print(String(decoding: Payload.encode(value), as: UTF8.self)) }

    /// At once, also where the output is a pipe.
    func print(_ text: String, terminator: String = "\n") {
        Swift.print(text, terminator: terminator)
        fflush(nil)
    }
}

extension HAPError {
    /// Whether the accessory may be found at another address.
    fileprivate var mayHaveMoved: Bool {
        switch self {
        case .unresolvable, .connectFailed, .timedOut(.connect), .wrongAccessory, .notAuthentic(.pairVerifyStart),
            .timedOut(.pairVerifyStart):
            true
        default: false
        }
    }
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
    var text: String { state.text }
}

extension LampState {
    /// `on 57%`, `off`, `on` for a lamp that cannot be dimmed.
    fileprivate var text: String {
        guard state == .on else { return "off" }
        return brightness.map { "on \($0)%" } ?? "on"
    }
}
