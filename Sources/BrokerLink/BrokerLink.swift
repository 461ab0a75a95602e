public import Contract
public import MQTT
public import ServiceKit
public import Settings

/// A service's connection to the broker: says `online` through its owner, and `offline` for it when it is lost or leaves.
///
/// As the first member of a ``ServiceGroup`` it ends last, after those that still have something to publish.
public struct BrokerLink: Service {
    public let client: MQTTClient

    /// - Parameters:
    ///   - role: `recognizer` or `bridge`; part of the client id.
    ///   - id: Of the camera or the bridge; part of the client id.
    ///   - availability: Where the broker says `offline` when this client is lost, and this client when it leaves.
    public init(settings: Settings.MQTT, role: String, id: Identifier, availability: TopicName) {
        let offline = MQTTMessage(topic: availability, text: Availability.offline.rawValue, qos: .atLeastOnce, retain: true)
        let clientID = settings.clientID(role: role, id: id, instance: .random(in: .min ... .max))
        client = MQTTClient(MQTTConfiguration(settings, clientID: clientID, will: offline))
    }

    public func run() async throws {
        await withShutdownHandler {
            await client.run()
        } onShutdown: { [client] in
            client.shutdown()
        }
    }
}

extension MQTTMessage {
    /// What a program's crash topic holds, see ``Contract/CrashDiagnostic``.
    public static func crash(_ payload: [UInt8], _ topic: TopicName) -> MQTTMessage {
        MQTTMessage(topic: topic, payload: payload, qos: .atLeastOnce, retain: true)
    }
}

extension MQTTConfiguration {
    /// - Parameter will: What the broker says when this client is lost, and this client when it leaves; nil for one that only listens.
    public init(_ settings: Settings.MQTT, clientID: String, will: MQTTMessage? = nil) {
        self.init(
            host: settings.host, port: settings.port, clientID: clientID, keepAlive: settings.keepAlive, will: will, farewell: will)
        alternatives = settings.fallbacks.map { MQTTAddress(host: $0.host, port: $0.port) }
        if let username = settings.username { credentials = Credentials(username: username, password: settings.password?.revealed) }
        if let tls = settings.tls {
            var identity: TLS.Identity?
            if let certificate = tls.certificateFile, let key = tls.keyFile {
                identity = TLS.Identity(certificateFile: certificate, keyFile: key)
            }
            self.tls = TLS(authorityFile: tls.authorityFile, identity: identity)
        }
        version =
            switch settings.version {
            case .auto: .automatic
            case .v5: .only(.v5)
            case .v311: .only(.v311)
            }
    }
}
