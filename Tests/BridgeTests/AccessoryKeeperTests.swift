import Contract
import HomeKit
import MDNS
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import Bridge

/// One accessory's keeper with a real lamp, and the test in the bridge's place.
@Suite(.timeLimit(.minutes(2))) struct AccessoryKeeperTests {
    private final class Owner: AccessoryKeeper.Owner {
        private let inputs = Mutex<[LampQueue.Input]>([])
        private let requests = Mutex<Mailbox<LampQueue.Request>?>(nil)

        func connected(_ lamp: Identifier, requests: Mailbox<LampQueue.Request>) async { self.requests.withLock { $0 = requests } }
        func received(_ input: LampQueue.Input, from lamp: Identifier) async { inputs.withLock { $0.append(input) } }
        func disconnected(_ lamp: Identifier, _ trouble: LampTrouble) async { requests.withLock { $0 = nil } }

        var isConnected: Bool { requests.withLock { $0 != nil } }
        var mustReadAgain: Bool { inputs.withLock { $0.contains(.missedReports) } }
        func ask(_ request: LampQueue.Request) { requests.withLock { $0 }?.put(request) }
        var answers: Int { inputs.withLock { $0.count { if case .answered(.read) = $0 { true } else { false } } } }
    }

    @Test func `a lamp that says its database has changed is looked at again in the same session`() async throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let lamp = try await HandKitLamp.start(quirks: ["sessions=1"], isAnnounced: true)
        let record = try await HAPPairing.pair(
            at: [HAPAddress(host: "127.0.0.1", port: lamp.port)], code: try SetupCode(HandKitLamp.code))
        let shelf = PairingShelf(folder: "\(folder)/state")
        try await shelf.save(record, as: "desk")
        let discovery = try HAPDiscovery()
        let desk = try Identifier("desk")
        let keeper = AccessoryKeeper(
            pairing: "desk", members: [.init(lamp: desk, choice: .first)], address: nil, shelf: shelf, discovery: discovery)
        let owner = Owner()
        let looking = Task { await discovery.run() }
        defer { looking.cancel() }
        try await eventually("the lamp was found") { discovery.service(id: lamp.id) != nil }
        let keeping = Task { await keeper.run(for: owner) }
        defer { keeping.cancel() }
        try await eventually("the lamp was connected") { owner.isConnected }
        #expect(!owner.mustReadAgain)

        // Under another name, as after it was given one, with another c#.
        let renamed = AnnouncedService(
            instance: "Renamed \(lamp.port)", type: try #require(HAPService.type),
            host: try #require(DNSName("renamed-\(lamp.port).local")),
            port: lamp.port, text: TXTRecord(["id": lamp.id, "c#": "41", "sf": "0", "md": "Lamp", "ci": "5"]))
        let responder = try Responder(renamed, address: "127.0.0.1")
        let answering = Task { await responder.run() }
        defer { answering.cancel() }
        try await eventually("it has to be read again") { owner.mustReadAgain }
        owner.ask(.read)
        try await eventually("and was, in the one session there is") { owner.answers == 1 }
    }

    @Test func `a bulb is chosen by its number, by its name, or as the first`() throws {
        #expect(BulbChoice(nil) == .first)
        #expect(BulbChoice("12") == .accessory(12))
        #expect(BulbChoice("Attic") == .name("Attic"))
    }
}
