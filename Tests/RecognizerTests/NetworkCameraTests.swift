import TestSupport
import Testing

/// The whole recognizer with a camera in the network that dies and comes back.
struct NetworkCameraTests {
    private func camera(_ options: String...) throws -> ChildProcess {
        let stills = ["still_open.jpg", "still_pinch.jpg"].map { "\(Paths.root)/Tests/Clips/\($0)" }
        let credentials = ["--credentials", "anna:hush-hush", "--rate", "10"]
        return try ChildProcess("python3", ["\(Paths.root)/Tests/Peers/mjpeg_camera.py"] + stills + credentials + options)
    }

    @Test func `a camera that dies is offline with a reason, and online again when it is back, and its password is nowhere`() async throws {
        let broker = try await Mosquitto()
        let messages = try await broker.subscribe("handkit/#")
        let first = try camera()
        let port = try await first.line("its port") { !$0.isEmpty }
        let recognizer = try ChildProcess(
            Paths.program("handkit-recognizer"), ["run", "--log-format", "text"],
            environment: [
                "HANDKIT_MQTT_HOST": "127.0.0.1", "HANDKIT_MQTT_PORT": "\(broker.port)", "HANDKIT_LOG_LEVEL": "debug",
                "HANDKIT_CAMERA_MODELS": "\(Paths.prefix)/models", "HANDKIT_CAMERA_SOURCE": "http://127.0.0.1:\(port)/hush-hush.mjpg",
                "HANDKIT_CAMERA_USERNAME": "anna", "HANDKIT_CAMERA_PASSWORD": "hush-hush",
            ])
        func count(_ line: String) -> Int { messages.lines.count { $0 == line } }
        let (online, offline) = ("handkit/camera/camera/availability online", "handkit/camera/camera/availability offline")
        try await eventually("it is online", within: .seconds(60)) { count(online) == 1 }
        let before = count(offline)
        first.signal(9)
        try await eventually("it is offline", within: .seconds(30)) { count(offline) > before }
        try await eventually("the state says why", within: .seconds(30)) {
            messages.lines.contains { $0.contains("/state ") && $0.contains("\"problem\":\"http://127.0.0.1:\(port)/…: ") }
        }
        #expect(recognizer.ending == nil)
        let closing = try await recognizer.line("what was lost on the way") { $0.contains("camera closed") }
        #expect(closing.contains("frames=") && !closing.contains("frames=0 "))
        let second = try camera("--port", port)
        try await eventually("it is online again", within: .seconds(60)) { count(online) == 2 }
        _ = try await recognizer.line("that it is back") { $0.contains("the camera is back") }
        #expect(recognizer.errorLines.count { $0.contains("camera lost") } <= 2)
        let said = String(decoding: recognizer.errorOutput + recognizer.output + messages.output, as: UTF8.self)
        #expect(!said.contains("hush"))
        _ = second.id
    }
}
