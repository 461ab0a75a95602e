public import MDNS

/// An accessory as it makes itself known on the network.
public struct HAPService: Hashable, Sendable {
    public static let type = DNSName("_hap._tcp.local")

    /// Printable, and empty where the accessory has no printable one.
    public var name: String
    /// The pairing identifier in upper case, `AA:BB:CC:DD:EE:FF`; nil where the accessory does not say a valid one.
    public var id: String?
    public var model: String?
    /// `c#`: another number than before means that the accessory database has changed. Some accessories send 0, or begin anew.
    public var configuration: UInt64?
    /// `s#`.
    public var state: UInt64?
    /// `sf`: 1 not paired, 2 no Wi-Fi yet, 4 a problem.
    public var status: UInt64
    /// `ff`: 1 Apple's authentication chip, 2 software authentication.
    public var features: UInt64
    /// `ci`: 5 is a light bulb.
    public var category: UInt64?
    /// `sh`, see ``SetupPayload/matches(hash:accessoryID:)``.
    public var setupHash: String?
    /// Where to try it, the most promising first; link-local ones with their scope.
    public var addresses: [HAPAddress]

    /// What it says of itself. Some accessories say so while they are paired, so nothing may be forgotten because of it.
    public var isPaired: Bool { status & 1 == 0 }

    public var pairingMethod: PairSetupMethod { features & 3 == 0 ? .plain : .withAuthentication }

    /// - Parameter networks: Those of this machine, which decide about the order of the addresses.
    public init(_ service: BrowsedService, networks: [LocalNetwork]) {
        func text(_ key: String) -> String? { service.text[key].map(String.init(identifier:)).flatMap { $0.isEmpty ? nil : $0 } }
        func number(_ key: String) -> UInt64? { text(key).flatMap { UInt64($0.filter { $0 != " " }) } }
        name = String(identifier: Array(service.instance.utf8))
        id = text("id").flatMap(Self.identifier)
        model = text("md")
        configuration = number("c#")
        state = number("s#")
        status = number("sf") ?? 0
        features = number("ff") ?? 0
        category = number("ci")
        setupHash = text("sh")
        addresses = AddressOrder(networks: networks).hosts(service.addresses).map { HAPAddress(host: $0, port: service.port) }
    }

    /// An identifier in its one spelling; nil where the text is none.
    static func identifier(_ text: String) -> String? {
        let parts = text.uppercased().split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6, parts.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy { $0.isASCII && $0.isHexDigit } }) else {
            return nil
        }
        return parts.joined(separator: ":")
    }

    /// Whether a person means it by this name, in whatever case and with what is not shown of it.
    public func isCalled(_ text: String) -> Bool { name.lowercased() == String(identifier: Array(text.utf8)).lowercased() }

    /// Whether a pairing identifier is this accessory's, in whatever case.
    public func has(id other: String) -> Bool { id != nil && id == Self.identifier(other) }
}

/// Which of an accessory's addresses to try first.
///
/// Accessories announce addresses that nobody reaches: those they gave themselves before the router gave them one, those of networks they
/// have left, the unspecified one. What cannot be an accessory's is left out.
struct AddressOrder {
    var networks: [LocalNetwork]

    func hosts(_ addresses: Set<BrowsedService.Address>) -> [String] {
        var seen: Set<String> = []
        return addresses.compactMap { address in rank(address).map { (key: key(address, rank: $0), address: address) } }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .compactMap { text($0.address) }
            .filter { seen.insert($0).inserted }
    }

    /// By rank, IPv4 first, and beyond that always the same.
    private func key(_ address: BrowsedService.Address, rank: Int) -> [Int] {
        [rank, address.bytes.count] + address.bytes.map(Int.init) + [Int(address.interface)]
    }

    /// Smaller is better; nil for what is no accessory's.
    private func rank(_ address: BrowsedService.Address) -> Int? {
        let bytes = address.bytes
        let isV4 = bytes.count == 4
        guard isV4 || bytes.count == 16, bytes.contains(where: { $0 != 0 }) else { return nil }
        let isMulticast = isV4 ? bytes[0] >= 224 : bytes[0] == 0xFF
        let isLoopback = isV4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        guard !isMulticast else { return nil }
        if isLoopback { return networks.contains { $0.isLoopback && $0.interface == address.interface } ? 0 : nil }
        if isLinkLocal(bytes) { return 3 }
        if networks.contains(where: { !$0.isLoopback && $0.contains(bytes) }) { return 0 }
        return isV4 ? 1 : 2
    }

    private func isLinkLocal(_ bytes: [UInt8]) -> Bool {
        bytes.count == 4 ? bytes[0] == 169 && bytes[1] == 254 : bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }

    private func text(_ address: BrowsedService.Address) -> String? {
        guard let text = IPAddress.text(address.bytes) else { return nil }
        guard address.bytes.count == 16, isLinkLocal(address.bytes) else { return text }
        return "\(text)%\(NetworkInterface.name(of: address.interface) ?? String(address.interface))"
    }
}
