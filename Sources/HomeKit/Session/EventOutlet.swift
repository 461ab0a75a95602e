internal import Synchronization

/// Carries a session's events from the connection's queue to their one consumer.
final class EventOutlet: Sendable {
    let stream: AsyncStream<CharacteristicReading>
    private let continuation: AsyncStream<CharacteristicReading>.Continuation
    private let count = Atomic<Int>(0)

    var missed: Int { count.load(ordering: .relaxed) }

    init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(HAPSession.eventCapacity))
    }

    deinit { continuation.finish() }

    func received(_ message: HTTPMessage) {
        guard message.status == 200, let readings = try? CharacteristicsPayload.readings(message.body, step: .event) else {
            count.add(1, ordering: .relaxed)
            return
        }
        for reading in readings {
            if case .dropped = continuation.yield(reading) { count.add(1, ordering: .relaxed) }
        }
    }

    func finish() { continuation.finish() }
}
