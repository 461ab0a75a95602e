internal import CrashCapture
public import MQTT
public import ServiceKit

/// Logs how the connection to the broker fares: each way in which attempts fail once until there is a connection again.
public struct BrokerLog: Sendable {
    private let logger: Logger
    /// What was told since the last connection; each node of a cluster may fail in its own way.
    private var told = FirstTimes(capacity: 32)

    public init(logger: Logger) { self.logger = logger }

    /// Logs what of `event` concerns the connection itself; messages are the owner's.
    public mutating func happened(_ event: MQTTEvent) {
        switch event {
        case .connected(let connection):
            told = FirstTimes(capacity: 32)
            leaveBreadcrumb("broker connected")
            logger.info("connected to the broker", ["broker": connection.brokerAddress, "mqtt": connection.version])
        case .disconnected(let disconnection):
            guard disconnection.reason != .requested, told.isFirst("\(disconnection.reason)") else { return }
            leaveBreadcrumb("broker lost")
            logger.warning("no connection to the broker, trying again for ever", ["reason": disconnection.reason.report])
        case .subscriptionRefused(let filter, let code):
            logger.warning("the broker refuses a subscription, check its access list", ["filter": filter, "code": code])
        case .undelivered(let topic, let error):
            logger.warning("a message was not delivered", ["topic": topic, "reason": "\(error)"])
        case .dropped(let count):
            logger.warning("too many messages arrived at once, the oldest were dropped", ["count": count])
        case .subscribed, .message:
            break
        }
    }
}

extension MQTTDisconnectReason {
    /// What went wrong, where, and what to do, in a person's words.
    public var report: FailureReport {
        switch self {
        case .requested:
            FailureReport("this side left")
        case .hostNotFound(let host):
            FailureReport("no such host", at: host, remedy: "check mqtt.host")
        case .unreachable(let host, let port, let code):
            FailureReport(
                "no broker answers (\(systemMessage(code)))", at: "\(host):\(port)", remedy: "is it running? check mqtt.host and mqtt.port")
        case .tls(let detail):
            FailureReport("TLS failed: \(detail)", remedy: "check the certificate's host name and mqtt.tls")
        case .noAnswer:
            FailureReport("what answers there does not speak MQTT", remedy: "check mqtt.port; with TLS set mqtt.tls")
        case .badCredentials:
            FailureReport("user name or password is wrong", remedy: "check mqtt.username and mqtt.password_file")
        case .notAuthorized:
            FailureReport("the broker does not let this client in", remedy: "set mqtt.username and mqtt.password_file")
        case .clientIDRejected:
            FailureReport("the broker refuses the client id", remedy: "set mqtt.client_id to one it allows")
        case .clientIDTakenOver:
            FailureReport("another client with the same id came", remedy: "give each program an id of its own, see mqtt.client_id")
        case .hungUpRepeatedly:
            FailureReport("the broker hangs up again and again, as on a client whose id another one uses", remedy: "see mqtt.client_id")
        case .versionRefused:
            FailureReport("the broker speaks none of the MQTT versions allowed", remedy: "set mqtt.protocol to auto")
        case .refused(let code):
            FailureReport("the broker refuses the connection with code \(code)", remedy: "see the broker's log")
        case .ended(let code):
            FailureReport("the broker ended the connection with code \(code)", remedy: "see the broker's log")
        case .lost(let code):
            FailureReport(code == 0 ? "the broker hung up" : "the connection broke (\(systemMessage(code)))")
        case .keepAliveExpired:
            FailureReport("the broker did not answer a ping")
        case .protocolFault(let code):
            FailureReport("libmosquitto failed with code \(code)")
        }
    }
}
