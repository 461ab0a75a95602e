import MDNS
import Testing

@testable import HomeKit

private func service(
    _ text: KeyValuePairs<String, String> = ["id": "aa:bb:cc:dd:ee:ff"], instance: String = "Desk",
    _ addresses: [([UInt8], UInt32)] = [([192, 0, 2, 7], 2)]
) -> BrowsedService {
    BrowsedService(
        instance: instance, host: DNSName("lamp.local")!, port: 51826, text: TXTRecord(text),
        addresses: Set(addresses.map { BrowsedService.Address(bytes: $0.0, interface: $0.1) }))
}

private let home = [
    LocalNetwork(address: [127, 0, 0, 1], mask: [255, 0, 0, 0], interface: 1, isLoopback: true),
    LocalNetwork(address: [192, 0, 2, 2], mask: [255, 255, 255, 0], interface: 2, isLoopback: false),
    LocalNetwork(
        address: [0xFD] + [UInt8](repeating: 0, count: 14) + [2], mask: [UInt8](repeating: 255, count: 8) + [UInt8](repeating: 0, count: 8),
        interface: 2, isLoopback: false),
]

@Suite struct `An accessory on the network` {
    @Test func `is understood in whatever case its keys are`() {
        let found = HAPService(
            service(["ID": "aa:bb:cc:dd:ee:ff", "MD": "Bulb", "C#": "7", "Sf": "1", "FF": "2", "ci": "5", "sh": "u8Fb5A=="]), networks: home
        )
        #expect(found.id == "AA:BB:CC:DD:EE:FF" && found.model == "Bulb" && found.configuration == 7 && found.category == 5)
        #expect(!found.isPaired && found.pairingMethod == .withAuthentication && found.setupHash == "u8Fb5A==")
        #expect(found.has(id: "aa:bb:CC:dd:ee:ff") && !found.has(id: "AA:BB:CC:DD:EE:FE"))
    }

    @Test(arguments: ["", "AA:BB:CC", "AA:BB:CC:DD:EE:GG", "AA:BB:CC:DD:EE:FF:00", "AABBCCDDEEFF"])
    func `with an id that is none is still there, and is nobody in particular`(id: String) {
        let found = HAPService(service(["id": id, "md": "Gateway"]), networks: home)
        #expect(found.id == nil && found.model == "Gateway" && !found.has(id: id))
    }

    @Test func `whose model ends in a NUL, or whose name would move a terminal's cursor, is shown without`() {
        let found = HAPService(
            service(["id": "aa:bb:cc:dd:ee:ff", "md": "VELUX gateway\u{0}"], instance: "Desk\u{1B}[2J\r\n"), networks: home)
        #expect(found.model == "VELUX gateway")
        #expect(found.name == "Desk[2J")
    }

    @Test func `is meant by its name in whatever case, and with what is not shown of it`() {
        let family = "👨\u{200D}👩\u{200D}👧 Tür “2.0”"
        let found = HAPService(service(["id": "aa:bb:cc:dd:ee:ff"], instance: family), networks: home)
        #expect(found.isCalled(family) && found.isCalled(found.name) && found.isCalled(found.name.uppercased()))
        #expect(!found.isCalled("👨👩👧 Tür"))
    }

    @Test func `is tried first where it is near, and last where its address was its own idea`() {
        let near6 = [0xFD] + [UInt8](repeating: 0, count: 14) + [9]
        let far6: [UInt8] = [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]
        let link: [UInt8] = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [7]
        let found = HAPService(
            service(
                ["id": ""], [(link, 1), ([169, 254, 3, 4], 2), (far6, 2), ([10, 9, 8, 7], 2), (near6, 2), ([192, 0, 2, 7], 2)]),
            networks: home)
        #expect(
            found.addresses.map(\.host) == ["192.0.2.7", "fd00::9", "10.9.8.7", "2001:db8::1", "169.254.3.4", "fe80::7%lo"])
        #expect(found.addresses.allSatisfy { $0.port == 51826 })
    }

    @Test func `is not tried at addresses that are nobody's`() {
        let unspecified = [UInt8](repeating: 0, count: 16)
        let loopback = [UInt8](repeating: 0, count: 15) + [1]
        let found = HAPService(
            service(["id": ""], [([0, 0, 0, 0], 2), (unspecified, 2), ([224, 0, 0, 251], 2), ([127, 0, 0, 1], 2), (loopback, 2)]),
            networks: home)
        #expect(found.addresses.isEmpty)
    }

    @Test func `of this machine is tried on its loopback`() {
        let found = HAPService(service(["id": ""], [([127, 0, 0, 1], 1)]), networks: home)
        #expect(found.addresses == [HAPAddress(host: "127.0.0.1", port: 51826)])
    }

    @Test func `is recognised by the QR code that belongs to it, among many`() throws {
        let payload = try SetupPayload("X-HM://00522H1VM7OSX")
        let hash = SetupPayload.hash(setupID: "7OSX", accessoryID: "AA:BB:CC:DD:EE:FF")
        #expect(payload.matches(hash: hash, accessoryID: "aa:bb:cc:dd:ee:ff"))
        #expect(!payload.matches(hash: hash, accessoryID: "AA:BB:CC:DD:EE:FE"))
    }
}

@Suite struct `A list of pairings` {
    @Test func `is read with separators and without them`() throws {
        let entries: [(TLV8.Kind, [UInt8])] = [
            (.identifier, Array("one".utf8)), (.publicKey, [1, 2]), (.permissions, [1]), (.separator, []), (.identifier, Array("two".utf8)),
            (.publicKey, [3]), (.permissions, [0]),
        ]
        let expected = [
            ControllerPairing(id: "one", publicKey: [1, 2], isAdministrator: true),
            ControllerPairing(id: "two", publicKey: [3], isAdministrator: false),
        ]
        func items(_ entries: [(TLV8.Kind, [UInt8])]) -> TLV8 { TLV8(items: entries.map { TLV8.Item(type: $0.0.rawValue, value: $0.1) }) }
        #expect(try ControllerPairing.all(in: items(entries)) == expected)
        #expect(try ControllerPairing.all(in: items(entries.filter { $0.0 != .separator })) == expected)
        #expect(try ControllerPairing.all(in: TLV8((.state, [2]))).isEmpty)
    }
}

@Suite struct `A pairing file of aiohomekit` {
    private func entry(_ change: (inout [String: String]) -> Void = { _ in }) -> [UInt8] {
        // Key pair of RFC 8032, 7.1, test 1.
        var fields = [
            "AccessoryPairingID": "\"aa:bb:cc:dd:ee:ff\"", "AccessoryLTPK": "\"\(String(repeating: "ab", count: 32))\"",
            "iOSPairingId": "\"decc6fa3-de3e-41c9-adba-ef7409821bfc\"",
            "iOSDeviceLTSK": "\"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60\"",
            "iOSDeviceLTPK": "\"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a\"", "AccessoryIP": "\"192.0.2.7\"",
            "AccessoryIPs": "[\"192.0.2.7\"]", "AccessoryPort": "51826", "Connection": "\"IP\"",
        ]
        change(&fields)
        return Array("{\(fields.map { "\"\($0)\":\($1)" }.joined(separator: ","))}".utf8)
    }

    private func file(_ change: (inout [String: String]) -> Void = { _ in }) -> [UInt8] {
        Array("{\"Desk lamp\":".utf8) + entry(change) + Array("}".utf8)
    }

    @Test func `is taken over as it is, identifiers byte for byte`() throws {
        let record = try #require(try AIOHomeKitFile.decode(file())["Desk lamp"])
        #expect(record.accessoryID == "aa:bb:cc:dd:ee:ff" && record.controllerID == "decc6fa3-de3e-41c9-adba-ef7409821bfc")
        #expect(record.address == HAPAddress(host: "192.0.2.7", port: 51826))
        #expect(try AIOHomeKitFile.decode(AIOHomeKitFile.encode(["x": record]))["x"] == record)
    }

    @Test func `is understood as one entry, with the port as text, and without the list of addresses`() throws {
        #expect(try AIOHomeKitFile.decode(entry()).keys.first == "aa:bb:cc:dd:ee:ff")
        let old = try AIOHomeKitFile.decode(
            file {
                $0["AccessoryPort"] = "\"51826\""
                $0["AccessoryIPs"] = nil
                $0["Connection"] = nil
            })
        #expect(old["Desk lamp"]?.address.port == 51826)
    }

    @Test(arguments: ["AccessoryPairingID", "AccessoryLTPK", "iOSPairingId", "iOSDeviceLTSK", "AccessoryPort"])
    func `that lacks something is refused with what it lacks`(key: String) {
        #expect(throws: AIOHomeKitFile.Fault.badField(alias: "Desk lamp", key: key)) { try AIOHomeKitFile.decode(file { $0[key] = nil }) }
    }

    @Test func `whose keys do not belong together, or that is over Bluetooth, is refused`() {
        #expect(throws: AIOHomeKitFile.Fault.badField(alias: "Desk lamp", key: "iOSDeviceLTPK")) {
            try AIOHomeKitFile.decode(file { $0["iOSDeviceLTPK"] = "\"\(String(repeating: "00", count: 32))\"" })
        }
        #expect(throws: AIOHomeKitFile.Fault.notIP(alias: "Desk lamp")) { try AIOHomeKitFile.decode(file { $0["Connection"] = "\"BLE\"" }) }
        #expect(throws: AIOHomeKitFile.Fault.notAPairingFile) { try AIOHomeKitFile.decode(Array("[1]".utf8)) }
    }
}
