import CEmulatedCamera
import CV4L2
import Foundation
import Imaging
import TestSupport
import Testing

@testable import Camera

/// Capture through libv4l2 from an emulated camera.
@Suite(.enabled(if: EmulatedCamera.isAvailable, "putting a plugin in libv4l2's way takes CAP_SYS_ADMIN"))
struct V4L2SourceTests {
    private static let jpegMode = CaptureMode(format: .mjpg, width: 640, height: 480, rates: [30])
    private static func rawMode(_ format: FourCC, rates: [Double] = [30]) -> CaptureMode {
        CaptureMode(format: format, width: 64, height: 48, rates: rates)
    }

    private static func stills() throws -> [[UInt8]] {
        try ["still_open.jpg", "still_pinch.jpg", "still_point.jpg"].map { try contents(clip($0)) }
    }

    private static func decoded(_ jpeg: [UInt8]) -> [UInt8]? {
        var decoder = JPEGDecoder()
        return jpeg.withUnsafeBytes { decoder.decode($0, pool: ImagePool()) }?.bytes
    }

    /// Opens the camera, reads `count` frames and closes it.
    private static func capture(
        _ path: String, _ count: Int, request: CaptureRequest = CaptureRequest()
    ) async throws -> (frames: [Frame], counters: SourceCounters, format: SourceFormat) {
        try await EmulatedCamera.onCameraThread {
            let source = try V4L2Source(path: path, request: request)
            var frames: [Frame] = []
            for _ in 0..<count { if let frame = try source.nextFrame() { frames.append(frame) } }
            return (frames, source.counters, source.format)
        }
    }

    @Test func `Motion JPEG becomes planes with the driver's times and numbers`() async throws {
        let folder = try TemporaryFolder()
        let stills = try Self.stills()
        let camera = try EmulatedCamera(
            at: "\(folder.path)/camera", modes: [Self.jpegMode], takes: (stills + stills + stills).map { .init(bytes: $0) })
        let (frames, counters, format) = try await Self.capture(camera.path, 9)
        let identity = CameraIdentity(model: "emulated Emulated Camera", port: "file")
        let expected = SourceFormat(
            path: camera.path, name: "Emulated Camera", codec: "MJPG", width: 640, height: 480, framesPerSecond: 30,
            camera: CameraFacts(identity: identity, offered: format.camera?.offered ?? [], chosen: Self.jpegMode))
        #expect(format == expected)
        #expect(frames.map(\.sequence) == Array(0..<9))
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.time < $1.time })
        let images = stills.map(Self.decoded)
        #expect(frames.enumerated().allSatisfy { $1.image.bytes == images[$0 % 3] })
        var wholesome = SourceCounters()
        wholesome.delivered = 9
        #expect(counters == wholesome)
        #expect(camera.isReleased)
    }

    @Test func `Motion JPEG is decoded as small as its reader is content with, from the next picture on`() async throws {
        let folder = try TemporaryFolder()
        let stills = try Self.stills()
        let camera = try EmulatedCamera(
            at: "\(folder.path)/camera", modes: [Self.jpegMode], takes: (stills + stills).map { .init(bytes: $0) })
        let path = camera.path
        let sizes = try await EmulatedCamera.onCameraThread {
            let demand = PictureDemand()
            let source = try V4L2Source(path: path, demand: demand)
            return try [1, 4, 2, 8, 1].map { reduction in
                demand.reduction = reduction
                let image = try source.nextFrame()?.image
                return [image?.width, image?.layout.width, image?.layout.height]
            }
        }
        #expect(sizes == [[640, 640, 480], [640, 160, 120], [640, 320, 240], [640, 80, 60], [640, 640, 480]])
    }

    @Test(arguments: [FourCC.yuyv, .nv12, .yu12, .grey], [UInt32(0), 32])
    func `uncompressed frames are copied without their rows' padding`(format: FourCC, padding: UInt32) async throws {
        let folder = try TemporaryFolder()
        let bytesPerPixel = format == .yuyv ? 2 : 1
        let raw = try #require(
            RawLayout(
                format: format, width: 64, height: 48, bytesPerLine: 64 * bytesPerPixel + Int(padding),
                encoding: ColorEncoding(fullRange: false)))
        var generator = SeededGenerator(seed: 3)
        let bytes = (0..<raw.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
        // libv4l2 converts all that a camera sends if it offers NV12 alone; beside YUYV it passes NV12 on.
        let modes = [Self.rawMode(format)] + (format == .nv12 ? [Self.rawMode(.yuyv)] : [])
        let camera = try EmulatedCamera(
            at: "\(folder.path)/camera", modes: modes, takes: [.init(bytes: bytes), .init(bytes: bytes)]
        ) { $0.padding = padding }
        let request = CaptureRequest(width: 64, height: 48)
        let (frames, _, _) = try await Self.capture(camera.path, 2, request: request)
        let expected = bytes.withUnsafeBytes { raw.image(of: $0, pool: ImagePool()) }
        #expect(frames.count == 2)
        #expect(frames.allSatisfy { $0.image.layout == raw.layout })
        #expect(frames.allSatisfy { $0.image.bytes == expected?.bytes })
    }

    @Test func `broken frames are skipped and counted, and every buffer goes back`() async throws {
        let folder = try TemporaryFolder()
        let still = try #require(try Self.stills().first)
        let takes: [EmulatedCamera.Take] = [
            .init(bytes: Array(still.prefix(5_000))), .init(bytes: []), .init(bytes: Array("no picture".utf8)),
            .init(bytes: still, flags: UInt32(V4L2_BUF_FLAG_ERROR)), .init(bytes: still),
        ]
        let camera = try EmulatedCamera(at: "\(folder.path)/camera", modes: [Self.jpegMode], takes: takes + takes + takes)
        let (frames, counters, _) = try await Self.capture(camera.path, 3)
        #expect(frames.map(\.sequence) == [4, 9, 14])
        #expect(counters.corrupt == 12)
        #expect(counters.missing == 0)
        #expect(camera.state.dequeued == 15)
        #expect(camera.state.enqueued == 4 + 15)
    }

    @Test func `frames that the camera lost are counted, repeated ones dropped and foreign times replaced`() async throws {
        let folder = try TemporaryFolder()
        let still = try #require(try Self.stills().first)
        let camera = try EmulatedCamera(
            at: "\(folder.path)/camera", modes: [Self.jpegMode],
            takes: [
                .init(bytes: still), .init(bytes: still, sequenceStep: 4), .init(bytes: still, stamp: EMULATED_STAMP_SAME),
                .init(bytes: still, stamp: EMULATED_STAMP_BACKWARD), .init(bytes: still, stamp: EMULATED_STAMP_WALL), .init(bytes: still),
            ])
        let (frames, counters, _) = try await Self.capture(camera.path, 5)
        #expect(frames.map(\.sequence) == [0, 4, 6, 7, 8])
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.time < $1.time && $1.time - $0.time < 60 })
        #expect(counters.missing == 3)
        #expect(counters.duplicates == 1)
        #expect(counters.repairedTimes == 2)
    }

    @Test func `a camera that falls silent is stalled, and may be asked again`() async throws {
        let folder = try TemporaryFolder()
        let still = try #require(try Self.stills().first)
        let camera = try EmulatedCamera(at: "\(folder.path)/camera", modes: [Self.jpegMode], takes: [.init(bytes: still)])
        let path = camera.path
        let errors = try await EmulatedCamera.onCameraThread {
            let source = try V4L2Source(path: path, stallTimeout: 0.2)
            _ = try source.nextFrame()
            return (0..<2).map { _ in #expect(throws: CameraError.self) { try source.nextFrame() } }
        }
        #expect(errors.count == 2)
        for error in errors {
            guard case .stalled(path, let seconds) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(seconds >= 0.2)
        }
        #expect(camera.isReleased)
    }

    @Test func `a camera that sends only broken frames is said to do so, not to be silent`() async throws {
        let folder = try TemporaryFolder()
        let broken = EmulatedCamera.Take(bytes: Array("no picture".utf8))
        let camera = try EmulatedCamera(at: "\(folder.path)/camera", modes: [Self.jpegMode], takes: Array(repeating: broken, count: 3))
        let path = camera.path
        let error = try await EmulatedCamera.onCameraThread {
            let source = try V4L2Source(path: path, stallTimeout: 0.5)
            return #expect(throws: CameraError.self) { try source.nextFrame() }
        }
        guard case .onlyBrokenFrames(path, 3, let seconds) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(seconds >= 0.5)
    }

    @Test func `a waiting source is interrupted from another thread`() async throws {
        let folder = try TemporaryFolder()
        let camera = try EmulatedCamera(at: "\(folder.path)/camera", modes: [Self.jpegMode])
        let path = camera.path
        let interruption = Interruption()
        async let frame = EmulatedCamera.onCameraThread {
            try V4L2Source(path: path, stallTimeout: 600, interruption: interruption).nextFrame()
        }
        try await eventually("the camera streamed") { camera.state.streaming == 1 }
        interruption.interrupt()
        #expect(try await frame == nil)
        #expect(camera.isReleased)
    }

    @Test func `frames that are let go leave their memory to the next`() async throws {
        let folder = try TemporaryFolder()
        let stills = try Self.stills()
        let camera = try EmulatedCamera(
            at: "\(folder.path)/camera", modes: [Self.jpegMode], takes: (stills + stills + stills).map { .init(bytes: $0) })
        let path = camera.path
        let addresses = try await EmulatedCamera.onCameraThread {
            let source = try V4L2Source(path: path)
            return try Set((0..<9).map { _ in try source.nextFrame()?.image.withBytes { UInt(bitPattern: $0.baseAddress) } })
        }
        #expect(addresses.count == 1)
    }

    @Test func `what a camera grants is reported, not what was wished`() async throws {
        let folder = try TemporaryFolder()
        let still = try #require(try Self.stills().first)
        for (rate, reported) in [(UInt32(15), 15.0), (0, nil)] {
            let camera = try EmulatedCamera(
                at: "\(folder.path)/camera", modes: [Self.jpegMode], takes: [.init(bytes: still)]
            ) { $0.granted_rate = rate }
            let (_, _, format) = try await Self.capture(camera.path, 1, request: CaptureRequest(width: 1280, height: 720))
            #expect((format.width, format.height) == (640, 480))
            #expect(format.framesPerSecond == reported)
        }
    }

    @Test func `a format that only libv4lconvert can read arrives as planes`() async throws {
        let folder = try TemporaryFolder()
        // U Y V Y of one colour.
        let bytes = (0..<64 * 48 / 2).flatMap { _ in [100, 50, 200, 50] as [UInt8] }
        let camera = try EmulatedCamera(
            at: "\(folder.path)/camera", modes: [Self.rawMode("UYVY")], takes: (0..<4).map { _ in .init(bytes: bytes) })
        let (frames, _, format) = try await Self.capture(camera.path, 2, request: CaptureRequest(width: 64, height: 48))
        #expect(format.codec == "YU12")
        let (luma, chroma) = (64 * 48, 32 * 24)
        let expected = [UInt8](repeating: 50, count: luma) + [UInt8](repeating: 100, count: chroma) + [UInt8](repeating: 200, count: chroma)
        #expect(frames.count == 2)
        #expect(frames.allSatisfy { $0.image.bytes == expected })
        #expect(camera.isReleased)
    }

    static let faults: [(request: UInt, errno: Int32, after: UInt32, error: @Sendable (String) -> CameraError)] = [
        (cv4l2_s_fmt, EBUSY, 0, { .busy(device: $0, at: .setFormat, holders: []) }),
        (cv4l2_s_fmt, EIO, 0, { .device(path: $0, at: .setFormat, errno: EIO) }),
        (cv4l2_s_parm, EBUSY, 0, { .busy(device: $0, at: .setRate, holders: []) }),
        (cv4l2_reqbufs, EBUSY, 0, { .busy(device: $0, at: .requestBuffers, holders: []) }),
        (cv4l2_querybuf, EIO, 2, { .device(path: $0, at: .queryBuffer, errno: EIO) }),
        (cv4l2_qbuf, EIO, 2, { .device(path: $0, at: .enqueue, errno: EIO) }),
        (cv4l2_streamon, ENOSPC, 0, { .noBandwidth(device: $0, mode: jpegMode) }),
        (cv4l2_streamon, EBUSY, 0, { .busy(device: $0, at: .startStreaming, holders: []) }),
        (cv4l2_dqbuf, ENODEV, 2, { .unplugged(device: $0) }),
        (cv4l2_dqbuf, EIO, 0, { .device(path: $0, at: .dequeue, errno: EIO) }),
        (cv4l2_qbuf, ENODEV, 5, { .unplugged(device: $0) }),
    ]

    @Test(arguments: faults.indices)
    func `a fault at any step is classified and leaves nothing open`(index: Int) async throws {
        let (request, number, after, error) = Self.faults[index]
        let folder = try TemporaryFolder()
        let stills = try Self.stills()
        let camera = try EmulatedCamera(
            at: "\(folder.path)/camera", modes: [Self.jpegMode], takes: stills.map { .init(bytes: $0) }
        ) { header in
            header.failing_request = UInt64(request)
            header.failing_errno = number
            header.failing_after = after
        }
        await #expect(throws: error(camera.path)) { try await Self.capture(camera.path, 3) }
        #expect(camera.isReleased)
    }

    @Test func `a node without video and a camera without a readable format are told apart`() async throws {
        let folder = try TemporaryFolder()
        let metadata = try EmulatedCamera(at: "\(folder.path)/metadata", modes: [Self.jpegMode]) {
            $0.capabilities = UInt32(V4L2_CAP_META_CAPTURE | V4L2_CAP_STREAMING)
        }
        let strange = try EmulatedCamera(at: "\(folder.path)/strange", modes: [Self.rawMode("H264")])
        await #expect(throws: CameraError.notACaptureDevice(path: metadata.path)) { try await Self.capture(metadata.path, 1) }
        await #expect(throws: CameraError.noUsableFormat(device: strange.path, offered: ["H264"])) {
            try await Self.capture(strange.path, 1)
        }
        #expect(metadata.isReleased && strange.isReleased)
    }

    @Test func `the catalog tells a camera with its modes from its metadata node`() async throws {
        let folder = try TemporaryFolder()
        let modes = [Self.jpegMode, Self.rawMode(.yuyv, rates: [15])]
        let camera = try EmulatedCamera(at: "\(folder.path)/video0", modes: modes)
        let metadata = try EmulatedCamera(at: "\(folder.path)/video1", modes: modes) {
            $0.capabilities = UInt32(V4L2_CAP_META_CAPTURE | V4L2_CAP_STREAMING)
        }
        let path = folder.path
        let entries = try await EmulatedCamera.onCameraThread { CameraCatalog.list(devices: path, links: [path]) }
        try #require(entries.map(\.path) == [camera.path, metadata.path])
        let facts = try entries[0].camera.get()
        #expect((facts.name, facts.driver, facts.bus) == ("Emulated Camera", "emulated", "file"))
        #expect(facts.modes.filter { !$0.isEmulated } == modes)
        #expect(entries[1].camera == .failure(.notACaptureDevice(path: metadata.path)))
        #expect(camera.isReleased && metadata.isReleased)
    }
}
