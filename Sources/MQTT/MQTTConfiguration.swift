/// A version of the protocol on the wire.
public enum MQTTVersion: Hashable, Sendable, CustomStringConvertible {
    case v5
    case v311

    public var description: String {
        switch self {
        case .v5: "5"
        case .v311: "3.1.1"
        }
    }
}

/// Where a broker listens.
public struct MQTTAddress: Hashable, Sendable {
    /// A name or an address.
    public var host: String
    public var port: UInt16

    public init(host: String, port: UInt16 = 1883) {
        (self.host, self.port) = (host, port)
    }
}

/// Where the broker is, who we are, and what the broker says on our behalf.
public struct MQTTConfiguration: Sendable {
    public enum VersionChoice: Hashable, Sendable {
        /// MQTT 5 at every connect, and MQTT 3.1.1 where the broker refuses it or hangs up on it.
        case automatic
        case only(MQTTVersion)
    }

    public struct Credentials: Sendable, CustomStringConvertible, CustomReflectable {
        public var username: String
        public var password: String?

        public init(username: String, password: String? = nil) {
            self.username = username
            self.password = password
        }

        public var description: String { "Credentials(username: \(username))" }
        public var customMirror: Mirror { Mirror(self, children: ["username": username]) }
    }

    /// An encrypted connection; the broker's certificate and host name are always checked.
    public struct TLS: Hashable, Sendable {
        /// A file of PEM certificates to trust; the system's when nil.
        public var authorityFile: String?
        /// This client's own certificate and its key, both PEM files, where the broker asks for them.
        public var identity: Identity?

        public struct Identity: Hashable, Sendable {
            public var certificateFile: String
            public var keyFile: String

            public init(certificateFile: String, keyFile: String) {
                self.certificateFile = certificateFile
                self.keyFile = keyFile
            }
        }

        public init(authorityFile: String? = nil, identity: Identity? = nil) {
            self.authorityFile = authorityFile
            self.identity = identity
        }
    }

    public var host: String
    public var port: UInt16
    /// Further nodes of the same cluster: where one fails or is lost, the next attempt is at the one after it, in a circle.
    public var alternatives: [MQTTAddress] = []
    /// Unique on the broker: a second client of the same name throws the first one out, again and again.
    public var clientID: String
    public var credentials: Credentials?
    public var tls: TLS?
    public var version: VersionChoice
    /// Seconds of silence after which either side probes the other; at least 5, the least that libmosquitto accepts.
    public var keepAlive: UInt16
    /// What the broker publishes when this client is lost.
    public var will: MQTTMessage?
    /// What this client publishes before it leaves in good order, because the broker then forgets the will.
    public var farewell: MQTTMessage?

    /// The waits between attempts.
    public var backoff: Backoff
    /// How long a connection must hold before the next loss starts the backoff's schedule anew.
    ///
    /// Without it two clients of the same name would throw each other out at the shortest wait for ever.
    public var stableAfter: Duration
    /// How long a broker may take to answer CONNECT once TCP is through.
    public var connectDeadline: Duration
    /// How long one of several nodes may take to accept TCP.
    public var reachDeadline = Duration.seconds(3)
    /// How long leaving in good order may take.
    public var farewellDeadline: Duration

    /// Messages handed over and not yet written (QoS 0) or acknowledged (QoS 1), above which publishing is refused.
    public var outgoingLimit: Int
    /// Received messages, and the bytes of their payloads, that wait to be read, above which the oldest are dropped and counted.
    public var incomingLimit: Limit

    /// Where to try, in this order.
    public var addresses: [MQTTAddress] { [MQTTAddress(host: host, port: port)] + alternatives }

    public struct Limit: Hashable, Sendable {
        public var messages: Int
        public var bytes: Int

        public init(messages: Int, bytes: Int) {
            self.messages = messages
            self.bytes = bytes
        }
    }

    public init(
        host: String, port: UInt16 = 1883, clientID: String, credentials: Credentials? = nil, tls: TLS? = nil,
        version: VersionChoice = .automatic, keepAlive: UInt16 = 15, will: MQTTMessage? = nil, farewell: MQTTMessage? = nil,
        backoff: Backoff = Backoff(), stableAfter: Duration = .seconds(10), connectDeadline: Duration = .seconds(10),
        farewellDeadline: Duration = .seconds(1), outgoingLimit: Int = 64,
        incomingLimit: Limit = Limit(messages: 1024, bytes: 16 << 20)
    ) {
        self.host = host
        self.port = port
        self.clientID = clientID
        self.credentials = credentials
        self.tls = tls
        self.version = version
        self.keepAlive = keepAlive
        self.will = will
        self.farewell = farewell
        self.backoff = backoff
        self.stableAfter = stableAfter
        self.connectDeadline = connectDeadline
        self.farewellDeadline = farewellDeadline
        self.outgoingLimit = outgoingLimit
        self.incomingLimit = incomingLimit
    }
}
