import BrokerLink
import MQTT
import Testing

struct BrokerWordingTests {
    @Test(
        arguments: [
            (.hostNotFound(host: "brocker"), "brocker: no such host; check mqtt.host"),
            (
                .unreachable(host: "127.0.0.1", port: 1883, code: 111),
                "127.0.0.1:1883: no broker answers (connection refused); is it running? check mqtt.host and mqtt.port"
            ),
            (.badCredentials, "user name or password is wrong; check mqtt.username and mqtt.password_file"),
            (.notAuthorized, "the broker does not let this client in; set mqtt.username and mqtt.password_file"),
            (.clientIDTakenOver, "another client with the same id came; give each program an id of its own, see mqtt.client_id"),
            (.versionRefused, "the broker speaks none of the MQTT versions allowed; set mqtt.protocol to auto"),
            (.lost(code: 0), "the broker hung up"), (.lost(code: 104), "the connection broke (connection reset by peer)"),
        ] as [(MQTTDisconnectReason, String)])
    func `a lost broker is told as what, where and what to do`(reason: MQTTDisconnectReason, line: String) {
        #expect("\(reason.report)" == line)
    }

    @Test(
        arguments: [
            .requested, .tls(detail: "certificate\nverify failed"), .noAnswer, .clientIDRejected, .hungUpRepeatedly, .keepAliveExpired,
            .protocolFault(code: 9),
        ] as [MQTTDisconnectReason])
    func `every reason is worded in one line`(reason: MQTTDisconnectReason) {
        let line = "\(reason.report)"
        #expect(line.split(whereSeparator: \.isNewline).count == 1)
        #expect(!line.contains("MQTTDisconnectReason") && !line.contains("Optional("))
    }
}
