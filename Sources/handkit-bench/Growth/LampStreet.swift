internal import Contract
internal import Glibc
internal import HomeKit
internal import Reactor
internal import Synchronization
internal import TestSupport

/// Many HomeKit lamps in this process, each an accessory of its own, with pairings for a bridge; and what became of the levels that were
/// sent to them.
final class LampStreet: Sendable {
    /// When a level was sent to a lamp, and has not arrived.
    private struct Expectation {
        var level: Int
        var sent: ContinuousClock.Instant
    }

    private struct Record {
        var expected: [Int: Expectation] = [:]
        var delays: [Duration] = []
        var replaced = 0
    }

    private let hosts: [AccessoryHost]
    private let record: RecordBox

    private final class RecordBox: Sendable {
        let record = Mutex(Record())

        func arrived(_ lamp: Int, _ level: Int, at now: ContinuousClock.Instant) {
            record.withLock { record in
                guard let expected = record.expected[lamp], expected.level == level else { return }
                record.expected[lamp] = nil
                record.delays.append(now - expected.sent)
            }
        }
    }

    /// The name of a lamp, and of its camera.
    static func name(_ number: Int) -> String { "lamp-\(number)" }
    static func camera(_ number: Int) -> String { "camera-\(number)" }

    /// Starts lamps on free ports and keeps their pairings in a folder.
    init(lamps count: Int, pairingsIn folder: String) async throws {
        let box = RecordBox()
        record = box
        var hosts: [AccessoryHost] = []
        var pairings: [String: PairingRecord] = [:]
        for number in 0..<count {
            var identity = AccessoryIdentity.random()
            var pairing = identity.acquaint(at: HAPAddress(host: "127.0.0.1", port: 0))
            let information = AccessoryInformation(
                name: "Lamp \(number)", manufacturer: "HandKit", model: "Street", serialNumber: "\(number)", firmwareRevision: "1.0.0")
            let host = try AccessoryHost(
                AccessoryServer(identity, information), at: HAPAddress(host: "127.0.0.1", port: 0), save: { _ in },
                onReport: { report in
                    if case .set(_, let change, _, _) = report, let level = change.brightness { box.arrived(number, level, at: .now) }
                }, onFailure: { _ in })
            await host.begin()
            pairing.address.port = host.port
            pairings[Self.name(number)] = pairing
            hosts.append(host)
        }
        self.hosts = hosts
        try PairingStore(folder: folder).update { $0 = pairings }
    }

    func stop() async {
        for host in hosts { await host.stop() }
    }

    func expect(_ level: Int, of lamp: Int, sent: ContinuousClock.Instant) {
        record.record.withLock { record in
            if record.expected.updateValue(Expectation(level: level, sent: sent), forKey: lamp) != nil { record.replaced += 1 }
        }
    }

    /// What has arrived since the last call, and how many levels a later one has replaced, or have not come yet.
    func take() -> (delays: [Duration], replaced: Int, missing: Int) {
        record.record.withLock { record in
            defer { record = Record() }
            return (record.delays, record.replaced, record.expected.count)
        }
    }
}
