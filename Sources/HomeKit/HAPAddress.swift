/// Where an accessory listens.
public struct HAPAddress: Hashable, Sendable, Codable, CustomStringConvertible {
    /// An IPv4 or IPv6 address (link-local ones with their scope: `fe80::1%eth0`) or a host name.
    public var host: String
    public var port: UInt16

    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// How long a controller waits for an accessory at each step.
public struct HAPTimeouts: Sendable, Equatable {
    /// Until one address has accepted the TCP connection.
    public var connect: Duration
    /// The same where other addresses are left to try.
    public var connectAmongSeveral: Duration
    /// For the whole of pair-verify.
    public var verify: Duration
    /// For the answer to one request.
    public var request: Duration
    /// For the answer to one step of pair-setup: small chips compute on SRP for many seconds.
    public var pairSetup: Duration

    public init(
        connect: Duration = .seconds(5), connectAmongSeveral: Duration = .seconds(2), verify: Duration = .seconds(8),
        request: Duration = .seconds(8),
        pairSetup: Duration = .seconds(40)
    ) {
        self.connect = connect
        self.connectAmongSeveral = connectAmongSeveral
        self.verify = verify
        self.request = request
        self.pairSetup = pairSetup
    }
}
