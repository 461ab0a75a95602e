import Camera
import Contract
import MQTT
import Monitoring
import ServiceKit
import Settings
import TestSupport
import Testing

@testable import Recognizer

struct HealthTests {
    private let format = SourceFormat(path: "/dev/video0", name: "camera", codec: "YUYV", width: 640, height: 480)
    private let connected = MQTTEvent.connected(MQTTConnection(version: .v5, brokerAddress: "127.0.0.1:1883"))
    private let gone = MQTTEvent.disconnected(MQTTDisconnection(reason: .lost(code: 0), retryAfter: .seconds(1)))

    @Test func `it is fine with frames and broker, and fails without either, saying which`() {
        let monitor = RecognizerMonitor(settings: Settings())
        #expect(monitor.health(at: 0).reasons == ["the camera is not open yet", "there was no connection to the broker yet"])
        monitor.cameraOpened(format, at: 10)
        monitor.happened(connected)
        #expect(monitor.health(at: 12.9).isFine)
        #expect(monitor.health(at: 14).reasons == ["no frame came for 4 s"])
        monitor.happened(gone)
        #expect(monitor.health(at: 12).reasons == ["no broker: the broker hung up"])
        monitor.happened(connected)
        monitor.cameraClosed(trouble: "the camera was unplugged")
        #expect(monitor.health(at: 12).reasons == ["the camera was unplugged"])
    }

    @Test func `a pause is no failure`() {
        let monitor = RecognizerMonitor(settings: Settings())
        monitor.happened(connected)
        monitor.paused(true)
        #expect(monitor.health(at: 100).isFine)
        monitor.paused(false)
        #expect(!monitor.health(at: 100).isFine)
    }

    @Test(.enabled(if: Paths.installed("promtool") != nil, "promtool, of Debian's package prometheus, is not installed"))
    func `Prometheus' own linter finds nothing to say about the metrics`() async throws {
        let monitor = RecognizerMonitor(settings: Settings())
        let promtool = try ChildProcess("promtool", ["check", "metrics"], input: Array(monitor.metrics.text().utf8))
        #expect(try await promtool.wait() == .exited(0), "\(promtool.lines) \(promtool.errorLines)")
        #expect(promtool.errorLines == [])
    }
}
