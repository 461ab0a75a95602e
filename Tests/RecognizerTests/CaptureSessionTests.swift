import Camera
import Imaging
import ServiceKit
import TestSupport
import Testing

@testable import Recognizer

struct CaptureSessionTests {
    @Test func `frames that nobody was ready for are counted, and the newest is the one that is taken`() async throws {
        let session = CaptureSession(
            SourceMemory(.clip(path: "\(Paths.root)/Tests/Clips/empty_room.avi")), request: CaptureRequest())
        _ = try await session.open()
        async let reading: Void = session.run()
        try await eventually("three frames were replaced") { session.frames.replacedCount >= 3 }
        session.interrupt()
        try await reading
        let delivered = await session.ending.counters.delivered
        #expect(session.frames.replacedCount == delivered - 1)
        #expect(await session.frames.take()?.frame.sequence == UInt64(delivered - 1))
        #expect(await session.frames.take() == nil)
    }

    @Test func `what was lost since the frame before is added to the metrics, by its reason`() {
        let metrics = Metrics()
        let numbers = RecognizerMetrics(metrics)
        var (first, second) = (FrameLosses(busy: 2), FrameLosses(busy: 7))
        first.source.corrupt = 1
        (second.source.corrupt, second.source.duplicates, second.source.missing) = (1, 4, 6)
        first.count(since: FrameLosses(), in: numbers)
        second.count(since: first, in: numbers)
        let lines = metrics.text().split(separator: "\n").filter { $0.hasPrefix("handkit_frames_dropped_total") }
        let expected = [("busy", 7), ("corrupt", 1), ("duplicate", 4), ("missing", 6)].map { reason, count in
            "handkit_frames_dropped_total{reason=\"\(reason)\"} \(count)"
        }
        #expect(Set(lines.map(String.init)) == Set(expected))
    }
}
