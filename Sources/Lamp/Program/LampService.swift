import CrashCapture
import Dispatch
import FoundationEssentials
import Glibc
import HomeKit
import MDNS
import ServiceKit

/// What a lamp is to be.
struct LampPlan: Sendable {
    var name: String
    /// Numeric; `::` is every address of the machine.
    var address: String
    var port: UInt16
    var lamps: Int
    var isAnnounced: Bool
    var quirks: Quirks
    var quirkTexts: [String]

    /// The identity at this start: a kept one with what the quirks make of it.
    func identity(_ kept: AccessoryIdentity) -> AccessoryIdentity {
        var identity = kept
        if quirks.has(.forgets) { identity.forgetControllers() }
        if quirks.has(.newInstances) || quirks[.configNumber] == "bump" { identity.bumpConfigurationNumber() }
        if quirks[.configNumber] == "wrap" { identity.configurationNumber = 1 }
        return identity
    }

    /// Other instance numbers at each start, as long as `c#` counts them.
    func instanceOffset(_ identity: AccessoryIdentity) -> UInt64 {
        quirks.has(.newInstances) ? UInt64(identity.configurationNumber) * 100 : 0
    }

    func information(_ identity: AccessoryIdentity) -> AccessoryInformation {
        AccessoryInformation(
            name: name, manufacturer: "HandKit", model: Self.model,
            serialNumber: identity.id.filter { $0 != ":" }, firmwareRevision: "1.0.0")
    }

    static let model = "HandKit Lamp"

    /// The TXT record of `_hap._tcp` (HAP's table of its keys).
    func text(_ identity: AccessoryIdentity) -> TXTRecord {
        let isUnpaired = identity.controllers.isEmpty || quirks.has(.unpairedFlag)
        let number = quirks[.configNumber] == "zero" ? 0 : identity.configurationNumber
        return TXTRecord([
            "c#": String(number), "ff": "0", "id": quirks[.txtID] ?? identity.id,
            "md": Self.model + (quirks.has(.txtNUL) ? "\0" : ""), "pv": "1.1", "s#": "1", "sf": isUnpaired ? "1" : "0",
            // 2 is a bridge, 5 a light bulb.
            "ci": lamps > 1 ? "2" : String(SetupSheet.category),
            "sh": SetupPayload.hash(setupID: identity.setupID, accessoryID: identity.id),
        ])
    }

    func announcement(_ identity: AccessoryIdentity, port: UInt16) -> AnnouncedService? {
        let label = "handkit-" + identity.id.filter { $0 != ":" }.lowercased()
        guard let type = DNSName("_hap._tcp.local"), let host = DNSName("\(label).local") else { return nil }
        return AnnouncedService(instance: name, type: type, host: host, port: port, text: text(identity))
    }
}

/// Runs one lamp: its connections, its announcement and the hand on it.
struct LampService: Service {
    /// Percent of one press of an arrow.
    private static let step = 5

    private let plan: LampPlan
    private let host: AccessoryHost
    private let responder: Responder?
    private let output: any LampOutput
    private let logger: Logger
    private let identity: AccessoryIdentity
    private let failures: AsyncStream<any Error>
    /// What is to be announced, newest only.
    private let texts: AsyncStream<TXTRecord>

    /// Opens the sockets.
    init(
        _ plan: LampPlan, _ identity: AccessoryIdentity, _ store: AccessoryStore, _ output: any LampOutput, _ logger: Logger
    ) throws(LampFailure) {
        self.plan = plan
        self.output = output
        self.logger = logger
        self.identity = identity
        guard IPAddress.bytes(plan.address) != nil else { throw .badAddress(plan.address) }
        let stage = QuirkStage(plan.quirks)
        let server = AccessoryServer(
            identity, plan.information(identity), count: plan.lamps, instanceOffset: plan.instanceOffset(identity), manners: stage)
        let (failures, failure) = AsyncStream.makeStream(of: (any Error).self, bufferingPolicy: .bufferingOldest(1))
        let (texts, text) = AsyncStream.makeStream(of: TXTRecord.self, bufferingPolicy: .bufferingNewest(1))
        self.failures = failures
        self.texts = texts
        do {
            host = try AccessoryHost(
                server, at: HAPAddress(host: plan.address, port: plan.quirks.has(.newPort) ? 0 : plan.port),
                save: { identity in
                    try store.save(identity)
                    text.yield(plan.text(identity))
                },
                onReport: { output.tell($0, bulbs: plan.lamps) },
                onFailure: { failure.yield($0) })
        } catch {
            throw .listening(error)
        }
        guard plan.isAnnounced, let service = plan.announcement(identity, port: host.port) else {
            responder = nil
            return
        }
        do {
            responder = try Responder(service, address: plan.address, extraAddresses: [plan.quirks[.announces]].compactMap(\.self))
        } catch {
            throw .announcing(error)
        }
    }

    func run() async throws {
        let (keys, key) = AsyncStream.makeStream(of: Key.self, bufferingPolicy: .bufferingOldest(64))
        await host.begin()
        leaveBreadcrumb("lamp listening")
        output.ready(
            LampFacts(name: plan.name, identity: identity, port: host.port, bulbs: plan.lamps, quirks: plan.quirkTexts))
        let keyboard = Keyboard { key.yield($0) }
        let toggle = SignalToggle { key.yield(.toggle) }
        defer {
            toggle.end()
            keyboard?.restore()
            output.end()
        }
        let result = try await cancelledByShutdown { try await serve(keys) }
        await host.stop()
        if case .some(.some(let error)) = result { throw error }
    }

    /// Runs until a key or a failure ends it; returns that failure.
    private func serve(_ keys: AsyncStream<Key>) async throws -> LampFailure? {
        try await withThrowingTaskGroup(of: LampFailure??.self) { group in
            if let responder {
                group.addTask {
                    await responder.run()
                    return .none
                }
                group.addTask { [texts] in
                    for await text in texts { await responder.update(text: text) }
                    return .none
                }
            }
            group.addTask { [failures] in
                for await failure in failures {
                    guard let error = failure as? PairingStoreError else { break }
                    return .some(.store(error))
                }
                return .none
            }
            group.addTask {
                for await key in keys {
                    guard key != .quit else { return .some(nil) }
                    await press(key)
                }
                return .none
            }
            var result: LampFailure?
            while let ended = try await group.next() {
                guard case .some(let failure) = ended else { continue }
                result = failure
                break
            }
            group.cancelAll()
            while try await group.next() != nil {}
            return result
        }
    }

    private func press(_ key: Key) async {
        guard let state = await host.bulbs.first else { return }
        switch key {
        case .toggle: await host.change(bulb: 0, BulbChange(on: !state.on))
        case .brighter: await host.change(bulb: 0, BulbChange(on: true, brightness: min(100, state.brightness + Self.step)))
        case .darker: await host.change(bulb: 0, BulbChange(brightness: max(1, state.brightness - Self.step)))
        case .quit: break
        }
    }
}

/// Calls a handler for each SIGUSR1, as long as it lives.
private final class SignalToggle: Sendable {
    // Dispatch sources may be cancelled from any thread.
    private nonisolated(unsafe) let source: any DispatchSourceSignal

    init(_ onSignal: @escaping @Sendable () -> Void) {
        signal(SIGUSR1, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: DispatchQueue(label: "SIGUSR1"))
        source.setEventHandler(handler: onSignal)
        source.resume()
    }

    func end() { source.cancel() }
}
