import CEmulatedCamera
import CV4L2
import Foundation
import Imaging
import TestSupport
import Testing

@testable import Camera

/// What a camera does wrong over several openings, and what is made of it.
@Suite(.enabled(if: EmulatedCamera.isAvailable, "putting a plugin in libv4l2's way takes CAP_SYS_ADMIN"))
struct CameraFaultTests {
    private static let modes = [
        CaptureMode(format: .yuyv, width: 64, height: 48, rates: [30]), CaptureMode(format: .mjpg, width: 640, height: 480, rates: [30]),
        CaptureMode(format: .yuyv, width: 640, height: 480, rates: [30]),
    ]

    private static func still() throws -> [UInt8] { try contents(clip("still_open.jpg")) }

    /// Opens a camera among those of a folder, and says in which mode and where.
    private static func open(
        _ memory: SourceMemory, in folder: String, request: CaptureRequest = CaptureRequest()
    ) async throws -> (memory: SourceMemory, result: Result<SourceFormat, CameraError>) {
        try await EmulatedCamera.onCameraThread {
            var memory = memory
            let result = Result { () throws(CameraError) in
                try memory.open(request: request) { CameraCatalog.list(devices: folder, links: [], more: $0, detail: .identity) }.format
            }
            return (memory, result)
        }
    }

    @Test func `a mode that USB has no room for is left for another, and for a smaller one`() async throws {
        let folder = try TemporaryFolder()
        let camera = try EmulatedCamera(at: "\(folder.path)/video0", modes: Self.modes) {
            ($0.failing_request, $0.failing_errno) = (UInt64(cv4l2_streamon), ENOSPC)
        }
        var memory = SourceMemory(.automatic)
        var tried: [String] = []
        for _ in 0..<4 {
            let (next, result) = try await Self.open(memory, in: folder.path)
            memory = next
            guard case .failure(.noBandwidth(camera.path, let mode?)) = result else {
                Issue.record("\(result)")
                return
            }
            tried.append("\(mode.format) \(mode.width)")
        }
        // After the last there is nothing left, and the port may have more room by now.
        #expect(tried == ["YUYV 640", "MJPG 640", "YUYV 64", "YUYV 640"])
        #expect(camera.isReleased)
    }

    @Test func `a camera that is back under another number is found, and no other is taken`() async throws {
        let folder = try TemporaryFolder()
        let (path, other) = ("\(folder.path)/video0", "\(folder.path)/video3")
        _ = try EmulatedCamera(at: path, name: "Mine", port: "usb-1", modes: Self.modes)
        let (memory, first) = try await Self.open(SourceMemory(.device(path: path)), in: folder.path)
        #expect(try first.get().path == path)
        try FileManager.default.removeItem(atPath: path)
        #expect(try await Self.open(memory, in: folder.path).result == .failure(.noSuchDevice(path: path)))
        _ = try EmulatedCamera(at: path, name: "Theirs", port: "usb-2", modes: Self.modes)
        #expect(
            try await Self.open(memory, in: folder.path).result == .failure(.otherCamera(path: path, expected: "Mine", found: "Theirs")))
        _ = try EmulatedCamera(at: other, name: "Mine", port: "usb-1", modes: Self.modes)
        #expect(try await Self.open(memory, in: folder.path).result.get().path == other)
    }

    @Test func `a camera that changed between search and opening is refused`() async throws {
        let folder = try TemporaryFolder()
        let camera = try EmulatedCamera(at: "\(folder.path)/video0", name: "Theirs", modes: Self.modes)
        let path = camera.path
        let mine = CameraIdentity(model: "emulated Mine", port: "file")
        await #expect(throws: CameraError.otherCamera(path: path, expected: "emulated Mine", found: "Theirs")) {
            try await EmulatedCamera.onCameraThread { _ = try V4L2Source(path: path, camera: mine) }
        }
        #expect(camera.isReleased)
    }

    @Test func `a busy camera names who has it`() async throws {
        let folder = try TemporaryFolder()
        let camera = try EmulatedCamera(at: "\(folder.path)/video0", modes: Self.modes) {
            ($0.failing_request, $0.failing_errno) = (UInt64(cv4l2_reqbufs), EBUSY)
        }
        let holder = try ChildProcess("sh", ["-c", "exec sleep 600 <'\(camera.path)'"])
        try await eventually("it is open") { DeviceHolder.all(of: camera.path).map(\.name) == ["sleep"] }
        let result = try await Self.open(SourceMemory(.automatic), in: folder.path).result
        guard case .failure(.busy(camera.path, .requestBuffers, let holders)) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(holders.map(\.name) == ["sleep"])
        holder.signal(SIGKILL)
    }

    @Test func `controls are set by name, and what cannot be set keeps no picture from coming`() async throws {
        let folder = try TemporaryFolder()
        let camera = try EmulatedCamera(at: "\(folder.path)/video0", modes: Self.modes, takes: [.init(bytes: try Self.still())]) { header in
            header.control_count = 2
            withUnsafeMutableBytes(of: &header.controls) { bytes in
                let slots = bytes.bindMemory(to: emulated_control.self)
                for (index, name) in ["Power Line Frequency", "Exposure, Dynamic Framerate"].enumerated() {
                    slots[index].id = UInt32(V4L2_CID_BASE) + UInt32(index)
                    withUnsafeMutableBytes(of: &slots[index].name) { $0.copyBytes(from: name.utf8) }
                    (slots[index].maximum, slots[index].value) = (3, 1)
                }
            }
        }
        var request = CaptureRequest(encoding: .mjpeg)
        request.controls = [
            .slowsInDimLight(false, isExplicit: false), .powerLine(1), ControlWish("gain", 5), ControlWish("power_line_frequency", 9),
        ]
        let path = camera.path
        let (format, frame) = try await EmulatedCamera.onCameraThread { [request] in
            let source = try V4L2Source(path: path, request: request)
            return (source.format, try source.nextFrame())
        }
        let offered = ["power_line_frequency", "exposure_dynamic_framerate"]
        #expect(
            format.camera?.controls == [
                .init(name: "exposure_dynamic_framerate", wish: request.controls[0], result: .set),
                .init(name: "power_line_frequency", wish: request.controls[1], result: .unchanged),
                .init(name: "gain", wish: request.controls[2], result: .missing(offered: offered)),
                .init(name: "power_line_frequency", wish: request.controls[3], result: .outOfRange(0...3)),
            ])
        #expect(camera.state.controls.1.value == 0 && camera.state.controls.0.value == 1)
        #expect(frame != nil)
        let listed = try await EmulatedCamera.onCameraThread { try VideoDevice(path: path).controls() }
        #expect(listed.map(\.name) == offered && listed.map(\.value) == [1, 0])
    }
}

struct RateCheckTests {
    /// Feeds frames at a rate from a time on, and returns what was said when.
    private func run(_ check: inout RateCheck, from start: Double, for seconds: Double, rate: Double, counters: inout SourceCounters)
        -> [(time: Double, verdict: RateCheck.Verdict)]
    {
        (0..<Int(seconds * rate)).compactMap { index in
            let time = start + Double(index) / rate
            counters.delivered += 1
            return check.frame(at: time, counters).map { (time, $0) }
        }
    }

    @Test func `a slow camera is spoken of once, and again when it is fast enough`() {
        var (check, counters) = (RateCheck(expected: 30), SourceCounters())
        let dim = run(&check, from: 0, for: 60, rate: 15, counters: &counters)
        guard dim.count == 1, case .slow(let rate, 30) = dim[0].verdict else {
            Issue.record("\(dim)")
            return
        }
        #expect(abs(rate - 15) < 0.01 && dim[0].time <= 10.5)
        let bright = run(&check, from: 60, for: 60, rate: 30, counters: &counters)
        guard bright.count == 1, case .recovered(let rate) = bright[0].verdict else {
            Issue.record("\(bright)")
            return
        }
        #expect(rate > 22.5)
    }

    @Test func `a camera whose frames this machine is too slow for is not slow`() {
        var (check, counters) = (RateCheck(expected: 30), SourceCounters())
        var said = 0
        for index in 0..<300 {
            (counters.delivered, counters.missing) = (counters.delivered + 1, counters.missing + 1)
            if check.frame(at: Double(index) / 15, counters) != nil { said += 1 }
        }
        #expect(said == 0)
    }

    @Test func `a mode that is slower than it promised is left for one that may be faster, each once`() {
        let modes = [
            CaptureMode(format: .yuyv, width: 640, height: 480, rates: [30]),
            CaptureMode(format: .mjpg, width: 640, height: 480, rates: [30]),
        ]
        let request = CaptureRequest()
        let identity = CameraIdentity(model: "a:1", port: "1-1")
        /// The mode that is opened next, and whether it is worth opening it, after the modes delivered these rates.
        func next(_ rates: [(mode: Int, rate: Double)]) -> (mode: CaptureMode?, isWorthWhile: Bool) {
            var memory = SourceMemory(.automatic)
            var isWorthWhile = false
            for (mode, rate) in rates {
                let facts = CameraFacts(identity: identity, offered: modes, chosen: modes[mode])
                isWorthWhile = memory.achieved(rate, by: facts, request: request)
            }
            return (request.choose(from: modes, after: memory.experience), isWorthWhile)
        }
        #expect(next([(0, 12)]) == (modes[1], true))
        // The other is no faster, for it is too dark: the better of both is kept.
        #expect(next([(0, 12), (1, 14)]) == (modes[1], false))
        #expect(next([(0, 12), (1, 10)]) == (modes[0], true))
        #expect(next([(0, 12), (1, 10), (0, 12)]) == (modes[0], false))
    }
}
