internal import Contract
internal import Fleet
internal import Glibc
internal import HomeKit
internal import Reactor
internal import Synchronization
internal import TestSupport

/// Many HomeKit lamps in this process, each an accessory of its own, with pairings for bridges; and the ledger of what they are told.
final class LampStreet: Sendable {
    private let hosts: [AccessoryHost]
    private let box: LedgerBox

    private final class LedgerBox: Sendable {
        let ledger: Mutex<FleetLedger>

        init(_ ledger: FleetLedger) { self.ledger = Mutex(ledger) }
    }

    /// The name of a lamp, and of a camera.
    static func name(_ number: Int) -> String { "lamp-\(number)" }
    static func camera(_ number: Int) -> String { "camera-\(number)" }

    /// Starts lamps on free ports and keeps their pairings in a folder for each bridge.
    init(_ plan: FleetPlan, longestSilence: Duration, pairingsIn folder: (_ bridge: Int) -> String) async throws {
        let box = LedgerBox(FleetLedger(lamps: plan.lamps, longestSilence: longestSilence))
        self.box = box
        var hosts: [AccessoryHost] = []
        var pairings = Array(repeating: [String: PairingRecord](), count: plan.bridges)
        for number in 0..<plan.lamps {
            var identity = AccessoryIdentity.random()
            var pairing = identity.acquaint(at: HAPAddress(host: "127.0.0.1", port: 0))
            let information = AccessoryInformation(
                name: "Lamp \(number)", manufacturer: "HandKit", model: "Street", serialNumber: "\(number)", firmwareRevision: "1.0.0")
            let host = try AccessoryHost(
                AccessoryServer(identity, information), at: HAPAddress(host: "127.0.0.1", port: 0), save: { _ in },
                onReport: { report in
                    guard case .set(_, let change, _, _) = report else { return }
                    box.ledger.withLock { $0.wrote(on: change.on, brightness: change.brightness, to: number, at: .now) }
                }, onFailure: { _ in })
            await host.begin()
            pairing.address.port = host.port
            pairings[plan.bridge(of: number)][Self.name(number)] = pairing
            hosts.append(host)
        }
        self.hosts = hosts
        for (bridge, pairings) in pairings.enumerated() { try PairingStore(folder: folder(bridge)).update { $0 = pairings } }
    }

    func stop() async {
        for host in hosts { await host.stop() }
    }

    func note<Result: Sendable>(_ change: (inout sending FleetLedger) -> sending Result) -> Result { box.ledger.withLock(change) }

    /// How many lamps are on at this level.
    func count(at level: Int) async -> Int {
        var count = 0
        for host in hosts where await host.bulbs.first == BulbState(on: true, brightness: level) { count += 1 }
        return count
    }
}
