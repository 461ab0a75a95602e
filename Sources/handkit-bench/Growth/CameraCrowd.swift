internal import Contract
internal import Glibc
internal import MQTT
internal import Reactor
internal import ServiceKit

/// Many cameras that publish slides over a few connections, each step at its own time: what recognizers would send.
struct CameraCrowd: Sendable {
    /// One connection; the cameras take turns on them.
    private let clients: [MQTTClient]
    private let boot = String(UInt32.random(in: .min ... .max), radix: 16)

    init(broker port: UInt16, connections: Int) {
        clients = (0..<connections).map { number in
            // A generator must not be what a measurement waits for.
            MQTTClient(
                MQTTConfiguration(
                    host: "127.0.0.1", port: port, clientID: "crowd-\(number)", version: .only(.v5), outgoingLimit: 100_000))
        }
    }

    /// Runs `body` while the connections stand.
    func connected<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            for client in clients {
                group.addTask {
                    await client.run()
                    return nil
                }
            }
            for client in clients {
                for await event in client.events { if case .connected = event { break } }
            }
            defer { group.cancelAll() }
            group.addTask { try await body() }
            while let result = try await group.next() { if let result { return result } }
            throw BenchError.failed("the broker has gone")
        }
    }

    /// Lets all cameras slide at once, up and down, each step another level, the cameras' steps spread evenly over time.
    ///
    /// - Parameter sent: Called before each step goes out.
    func slide(
        cameras: Int, steps: Int, every interval: Duration, sent: (_ camera: Int, _ level: Int, _ at: ContinuousClock.Instant) -> Void
    ) async throws {
        let loop = EventLoop.shared
        let start = ContinuousClock.now
        for step in 0..<steps {
            for camera in 0..<cameras {
                let due = start + interval * step + interval * camera / cameras
                if due > .now { await loop.sleep(until: due) }
                let level = 10 + (step + camera) % 80
                let now = ContinuousClock.now
                sent(camera, level, now)
                try send(camera, step, level, isEdge: step == 0 || step == steps - 1)
            }
        }
    }

    private func send(_ camera: Int, _ step: Int, _ level: Int, isEdge: Bool) throws {
        let event = BrightnessEvent(
            value: Double(level), phase: step == 0 ? .began : isEdge ? .ended : .changed, displacement: 0, id: "\(boot)-\(camera)-\(step)",
            ts: Timestamp(millisecondsSinceEpoch: WallTime.now().millisecondsSinceEpoch))
        let topic = try TopicName("handkit/camera/\(LampStreet.camera(camera))/brightness")
        try clients[camera % clients.count].send(
            MQTTMessage(topic: topic, payload: Payload.encode(event), qos: isEdge ? .atLeastOnce : .atMostOnce))
    }
}
