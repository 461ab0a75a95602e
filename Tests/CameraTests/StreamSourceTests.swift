import Foundation
import Imaging
import Synchronization
import TestSupport
import Testing

@testable import Camera

/// A camera in the network, as `Tests/Peers/mjpeg_camera.py` plays it.
struct NetworkCamera {
    let port: String
    private let process: ChildProcess

    init(_ options: String...) async throws {
        let stills = ["still_open.jpg", "still_pinch.jpg", "still_point.jpg"].map(clip)
        process = try ChildProcess("python3", ["\(Paths.root)/Tests/Peers/mjpeg_camera.py"] + stills + options)
        port = try await process.line("its port") { !$0.isEmpty }
    }

    func address(_ credentials: String = "") throws -> StreamAddress {
        try StreamAddress("http://\(credentials)127.0.0.1:\(port)/video.mjpg?token=hush")
    }
}

private final class Counter: Sendable {
    let value = Atomic(0)
}

struct StreamSourceTests {
    /// Runs what blocks on a thread of its own.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }

    private struct Seen: Sendable {
        var format: SourceFormat
        var frames: [Frame] = []
        var counters = SourceCounters()
        /// What ended it, if it ended.
        var end: CameraError?
    }

    private func watch(_ address: StreamAddress, frames: Int = .max, patience: Double? = nil) async throws -> Seen {
        try await onThread {
            let source = try StreamSource(address, patience: patience)
            var seen = Seen(format: source.format)
            do throws(CameraError) {
                while seen.frames.count < frames, let frame = try source.nextFrame() { seen.frames.append(frame) }
            } catch {
                seen.end = error
            }
            seen.counters = source.counters
            return seen
        }
    }

    @Test func `pictures come with times that rise as they arrive`() async throws {
        let camera = try await NetworkCamera("--rate", "50")
        let seen = try await watch(try camera.address(), frames: 30)
        #expect(seen.format.path == "http://127.0.0.1:\(camera.port)/…" && seen.format.codec == "mjpeg")
        #expect((seen.format.width, seen.format.height) == (640, 480))
        #expect(seen.frames.count == 30 && seen.counters.delivered == 30 && seen.counters.corrupt == 0)
        #expect(seen.frames.allSatisfy { $0.image.width == 640 && $0.image.height == 480 })
        #expect(zip(seen.frames, seen.frames.dropFirst()).allSatisfy { $0.time < $1.time && $1.sequence == $0.sequence + 1 })
    }

    @Test func `pictures that are cut short are skipped and counted`() async throws {
        let camera = try await NetworkCamera("--broken", "5", "--rate", "50")
        let seen = try await watch(try camera.address(), frames: 24)
        #expect(seen.frames.count == 24)
        #expect((5...6).contains(seen.counters.corrupt))
    }

    @Test func `a camera that ends its stream has ended it, after its last picture`() async throws {
        let camera = try await NetworkCamera("--end-after", "20", "--rate", "100")
        let address = try camera.address()
        let seen = try await watch(address)
        #expect(seen.end == .streamEnded(address: address))
        // The first is spent on learning what it is.
        #expect((15...20).contains(seen.frames.count))
    }

    @Test func `a camera that falls silent is noticed`() async throws {
        let camera = try await NetworkCamera("--silent-after", "20", "--rate", "100")
        let address = try camera.address()
        let seen = try await watch(address, patience: 1)
        guard case .stalled("\(address)", let seconds) = seen.end else {
            Issue.record("\(String(describing: seen.end))")
            return
        }
        #expect(seconds >= 1)
    }

    @Test func `a camera that sends only broken pictures from now on is said to do so, not to be silent`() async throws {
        let camera = try await NetworkCamera("--broken-after", "20", "--rate", "50")
        let address = try camera.address()
        let seen = try await watch(address, patience: 1)
        guard case .onlyBrokenFrames("\(address)", let frames, let seconds) = seen.end else {
            Issue.record("\(String(describing: seen.end))")
            return
        }
        #expect(frames > 0 && frames == seen.counters.corrupt && seconds >= 1)
    }

    @Test func `a camera that accepts and says nothing cannot be reached`() async throws {
        let camera = try await NetworkCamera("--silent-after", "0")
        let address = try camera.address()
        await #expect(throws: CameraError.unreachable(address: address, reason: "it does not answer")) {
            try await watch(address, patience: 1)
        }
    }

    @Test func `an address where nothing listens cannot be reached`() async throws {
        let address = try StreamAddress("http://anna:hush@127.0.0.1:\(try freePort())/")
        let error = await #expect(throws: CameraError.self) { try await watch(address) }
        guard case .unreachable(address, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!reason.isEmpty && !reason.contains("hush"))
    }

    @Test func `credentials are asked for, refused and accepted`() async throws {
        let camera = try await NetworkCamera("--credentials", "anna:p:/@ü%")
        let plain = try camera.address()
        await #expect(throws: CameraError.unauthorized(address: plain)) { try await watch(plain, frames: 1) }
        let wrong = try camera.address("anna:wrong@")
        await #expect(throws: CameraError.unauthorized(address: wrong)) { try await watch(wrong, frames: 1) }
        let seen = try await watch(wrong.signed(username: "anna", password: "p:/@ü%"), frames: 3)
        #expect(seen.frames.count == 3 && seen.end == nil)
    }

    @Test func `a waiting source is interrupted from another thread`() async throws {
        let camera = try await NetworkCamera("--silent-after", "20")
        let address = try camera.address()
        let interruption = Interruption()
        let counter = Counter()
        async let ended: Void = onThread {
            let source = try StreamSource(address, patience: 600, interruption: interruption)
            while try source.nextFrame() != nil { counter.value.add(1, ordering: .relaxed) }
        }
        try await eventually("it has shown what there is to see") { counter.value.load(ordering: .relaxed) >= 15 }
        interruption.interrupt()
        try await ended
    }
}
