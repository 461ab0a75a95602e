import Glibc
import TestSupport
import Testing

/// Two programs with the same id on one broker.
@Suite(.serialized, .timeLimit(.minutes(5))) struct NamesakeTests {
    private func start(_ program: String, _ broker: Mosquitto, _ folder: String, _ more: String = "") throws -> ChildProcess {
        let file = "\(folder)/\(program)-\(more.isEmpty ? "a" : "b").yaml"
        try Paths.write(
            "mqtt: { host: 127.0.0.1, port: \(broker.port)\(more) }\ncamera: { id: desk }\nbridge: { state: \(folder), discovery: false }\n",
            to: file)
        let source = program == "handkit-recognizer" ? ["--source", "\(Paths.root)/Tests/Clips/empty_room.avi", "--loop"] : []
        return try ChildProcess(Paths.program(program), ["run", "--config", file, "--log-format", "text"] + source)
    }

    @Test(arguments: [("handkit-bridge", "bridge/bridge"), ("handkit-recognizer", "camera/desk")])
    func `the later one says so and ends, and the first stays online`(program: String, topic: String) async throws {
        let (broker, folder) = (try await Mosquitto(), try Paths.temporaryFolder())
        defer { Paths.remove(folder) }
        let first = try start(program, broker, folder)
        let heard = try await broker.subscribe("handkit/\(topic)/availability", format: "%p")
        try await heard.line("that the first is online") { $0 == "online" }
        let second = try start(program, broker, folder)
        #expect(try await second.wait() == .exited(1))
        #expect(second.errorLines.contains { $0.hasPrefix("\(program): ") && $0.contains("another program with the same id runs") })
        #expect(first.ending == nil)
        let kept = try await broker.subscribe("handkit/\(topic)/availability", format: "%p")
        try await kept.line("what is retained") { !$0.isEmpty }
        #expect(kept.lines.first == "online")

        // One that knows nothing of this, and leaves its last word for both.
        try await broker.publish("handkit/\(topic)/availability", Array("offline".utf8), options: ["-r"])
        try await kept.line("that it was contradicted") { $0 == "offline" }
        try await eventually("it was contradicted: \(kept.lines)") { kept.lines.last == "online" }
        first.signal(SIGTERM)
        #expect(try await first.wait() == .exited(0))
        try await eventually("it left: \(kept.lines)") { kept.lines.last == "offline" }
    }

    @Test func `two with the same MQTT client id do not throw each other out for ever`() async throws {
        let (broker, folder) = (try await Mosquitto(), try Paths.temporaryFolder())
        defer { Paths.remove(folder) }
        let id = ", client_id: house"
        let first = try start("handkit-bridge", broker, folder, id)
        try await first.line("that it is connected") { $0.contains("connected to the broker") }
        let second = try start("handkit-bridge", broker, folder, id)
        #expect(try await second.wait() == .exited(1))
        #expect(second.errorLines.contains { $0.contains("another program with the same id runs") })
        let kept = try await broker.subscribe("handkit/bridge/bridge/availability", format: "%p")
        try await eventually("the first is back: \(kept.lines)") { kept.lines.last == "online" && first.ending == nil }
    }
}
