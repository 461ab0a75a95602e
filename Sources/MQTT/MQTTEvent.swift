/// What a client tells its owner, in the order in which it happened.
public enum MQTTEvent: Hashable, Sendable {
    /// A broker let us in; it knows nothing of us, so everything has to be published anew. Subscriptions are renewed by the client.
    case connected(MQTTConnection)
    /// A connection ended, or an attempt at one failed.
    case disconnected(MQTTDisconnection)
    /// The broker acknowledged these subscriptions.
    case subscribed([TopicFilter])
    /// The broker refused a subscription; it is asked again on the next connect.
    case subscriptionRefused(TopicFilter, MQTTReasonCode)
    case message(MQTTMessage)
    /// A message given to ``MQTTClient/send(_:)`` was accepted and then not delivered.
    case undelivered(TopicName, MQTTPublishError)
    /// Events that waited to be read were too many, and so many of the oldest, messages first, were dropped.
    case dropped(count: Int)
}

/// A connection that a broker accepted.
public struct MQTTConnection: Hashable, Sendable {
    /// The protocol in use: MQTT 3.1.1 carries no properties.
    public var version: MQTTVersion
    /// The address that answered, as `127.0.0.1:1883` or `[::1]:1883`.
    public var brokerAddress: String

    public init(version: MQTTVersion, brokerAddress: String) {
        self.version = version
        self.brokerAddress = brokerAddress
    }
}

/// How a connection, or an attempt at one, ended.
public struct MQTTDisconnection: Hashable, Sendable {
    public var reason: MQTTDisconnectReason
    /// When the next attempt comes; nil after a requested end.
    public var retryAfter: Duration?

    public init(reason: MQTTDisconnectReason, retryAfter: Duration?) {
        self.reason = reason
        self.retryAfter = retryAfter
    }
}

public enum MQTTDisconnectReason: Error, Hashable, Sendable {
    /// This side left.
    case requested
    /// The host has no address.
    case hostNotFound(host: String)
    /// TCP could not connect; the code is an `errno`.
    case unreachable(host: String, port: UInt16, code: Int32)
    /// TLS failed: an untrusted certificate, a wrong host name, an unreadable file. The detail is OpenSSL's.
    case tls(detail: String)
    /// TCP is through, but the broker did not answer CONNECT in time.
    case noAnswer
    /// User name and password are wrong (MQTT 3.1.1 and some brokers say so too when they mean ``notAuthorized``, and the reverse).
    case badCredentials
    /// The broker knows who we are, or that we are nobody, and does not let us in.
    case notAuthorized
    case clientIDRejected
    /// Another client of the same id came, and the broker says so (MQTT 5; Mosquitto 2.0 does not, see ``hungUpRepeatedly``).
    case clientIDTakenOver
    /// The broker let us in and hung up soon after, three times in a row or more: most often because another client of the same id came.
    case hungUpRepeatedly
    /// The broker speaks none of the versions allowed.
    case versionRefused
    /// The broker refused the connection for another reason.
    case refused(MQTTReasonCode)
    /// The broker ended the connection and said why (MQTT 5 only).
    case ended(MQTTReasonCode)
    /// The connection broke; the code is an `errno`, or 0 where the broker simply hung up.
    case lost(code: Int32)
    /// The broker did not answer a ping.
    case keepAliveExpired
    /// The broker sent what is no MQTT, or libmosquitto failed; the code is libmosquitto's `mosq_err_t`.
    case protocolFault(code: Int32)
}

/// A reason code of MQTT 5 (MQTT 5.0, 2.4), also used for the refusals of MQTT 3.1.1, which libmosquitto numbers 1…5.
public struct MQTTReasonCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public var rawValue: Int32

    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    public var description: String { "0x" + String(rawValue, radix: 16) }
}

/// Why a message was not published.
public enum MQTTPublishError: Error, Hashable, Sendable {
    /// There is no connection; the message is forgotten, not queued.
    case offline
    /// Too many messages are on their way already (``MQTTConfiguration/outgoingLimit``).
    case congested
    /// The connection ended before the acknowledgement; the message may or may not have arrived.
    case connectionLost
    /// The acknowledgement did not come in time; the message may still arrive.
    case timedOut
    /// The task was cancelled while it waited; the message may still arrive.
    case cancelled
    /// The broker took the message and refused it, for lack of permission for example (MQTT 5 only).
    case refused(MQTTReasonCode)
    /// The message cannot be sent at all: too big for the broker, or text with characters MQTT does not allow. The code is `mosq_err_t`.
    case invalid(code: Int32)
}

extension MQTTDisconnectReason {
    /// The meaning of a refusing CONNACK, of MQTT 3.1.1 (1…5) or MQTT 5 (0x80 and above).
    init(refusal code: Int32) {
        self =
            switch code {
            case 1, 0x84: .versionRefused
            case 2, 0x85: .clientIDRejected
            case 4, 0x86: .badCredentials
            case 5, 0x87: .notAuthorized
            default: .refused(MQTTReasonCode(rawValue: code))
            }
    }
}
