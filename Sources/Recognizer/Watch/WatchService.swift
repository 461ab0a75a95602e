internal import BrokerLink
internal import Contract
internal import Glibc
internal import MQTT
internal import ServiceKit

/// Shows in the terminal what a camera says on the broker, from any machine that reaches it.
struct WatchService: Service {
    let topics: Topics
    let camera: Identifier
    let client: MQTTClient

    func run() async throws {
        let filter = topics.camera(camera, .state).split(separator: "/").dropLast().joined(separator: "/") + "/#"
        client.subscribe([MQTTSubscription(try TopicFilter(filter))])
        let wish = MQTTMessage(
            topic: try TopicName(topics.cameraRequest(.refresh)), payload: Payload.encode(CameraWish(camera: camera)),
            qos: .atLeastOnce)
        try await cancelledByShutdown {
            var view = WatchView(camera: camera)
            var screen = Screen()
            for await event in client.events {
                var line: String?
                switch event {
                case .connected:
                    view.brokerTrouble = nil
                    // Of a cluster, this node may not have what the camera said to another one.
                    try? client.send(wish)
                case .disconnected(let disconnection):
                    let trouble = disconnection.reason.report.description
                    if view.brokerTrouble != trouble { line = "\(localTime())  no broker: \(trouble)" }
                    view.brokerTrouble = trouble
                case .message(let message):
                    guard case .camera(camera, let leaf) = topics.address(of: message.topic.string) else { break }
                    line = view.received(leaf, message.payload, at: localTime())
                case .subscribed, .subscriptionRefused, .undelivered, .dropped: break
                }
                screen.show(view, line: line)
            }
        }
    }
}

/// Standard output: drawn over again in a terminal, line after line elsewhere.
private struct Screen: Sendable {
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private var shown: [String] = []
    private var output = StandardOutput()

    mutating func show(_ view: WatchView, line: String?) {
        guard isTerminal else {
            if let line { output.write(line + "\n") }
            return
        }
        var size = winsize()
        let width = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
        let lines = view.screen(width: width)
        guard lines != shown else { return }
        // Up to where the view began, then each line anew with what was behind it erased.
        let up = shown.isEmpty ? "" : "\u{1B}[\(shown.count)A"
        output.write(up + lines.map { "\r\($0)\u{1B}[K\n" }.joined())
        shown = lines
    }
}

private func localTime() -> String {
    var seconds = time(nil)
    var parts = tm()
    localtime_r(&seconds, &parts)
    return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
}
