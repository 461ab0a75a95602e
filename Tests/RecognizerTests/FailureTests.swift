import Camera
import HandTracking
import Inference
import ServiceKit
import Testing

@testable import Recognizer

struct FailureTests {
    private static let group = DeviceGroup(id: 44, name: "video")

    private static let address: StreamAddress = {
        guard let address = try? StreamAddress("rtsp://anna:hush@camera:554/token/hush") else { fatalError("a good address") }
        return address
    }()

    private static let failures: [(error: any UserFacingFailure, location: String?)] = [
        (CameraError.emptySource, "--source"), (CameraError.unsupportedScheme("rtsp"), nil), (CameraError.noCamera, "/dev/video*"),
        (CameraError.noSuchDevice(path: "/dev/video9"), "/dev/video9"),
        (CameraError.permissionDenied(path: "/dev/video0", group: group, errno: 13), "/dev/video0"),
        (CameraError.permissionDenied(path: "/dev/video0", group: DeviceGroup(id: 44, name: nil), errno: 13), "/dev/video0"),
        (CameraError.permissionDenied(path: "/dev/video0", group: nil, errno: 1), "/dev/video0"),
        (CameraError.busy(device: "/dev/video0", at: .setFormat, holders: []), "/dev/video0"),
        (CameraError.busy(device: "/dev/video0", at: .open, holders: [.init(process: 7, name: "zoom")]), "/dev/video0"),
        (CameraError.noBandwidth(device: "/dev/video0", mode: nil), "/dev/video0"), (CameraError.badAddress, "camera.source"),
        (CameraError.otherCamera(path: "/dev/video0", expected: "C920", found: "C270"), "/dev/video0"),
        (CameraError.ambiguousCamera(name: "C920", paths: ["/dev/video0", "/dev/video2"]), nil),
        (CameraError.unreachable(address: address, reason: "connection refused"), "rtsp://camera:554/…"),
        (CameraError.unauthorized(address: address), "rtsp://camera:554/…"),
        (CameraError.streamEnded(address: address), "rtsp://camera:554/…"),
        (CameraError.unplugged(device: "/dev/video0"), "/dev/video0"), (CameraError.notACaptureDevice(path: "/dev/video1"), "/dev/video1"),
        (CameraError.noUsableFormat(device: "/dev/video0", offered: ["H264", "HEVC"]), "/dev/video0"),
        (CameraError.stalled(device: "/dev/video0", seconds: 3), "/dev/video0"),
        (CameraError.onlyBrokenFrames(device: "/dev/video0", frames: 90, seconds: 3), "/dev/video0"),
        (CameraError.unreadableClip(path: "a.avi", errno: 2), "a.avi"), (CameraError.emptyClip(path: "a.avi"), "a.avi"),
        (CameraError.notAClip(path: "a.txt", reason: "Invalid data\nfound"), "a.txt"), (CameraError.noVideo(path: "a.mp3"), "a.mp3"),
        (CameraError.unsupportedCodec(path: "a.mkv", codec: "av2"), "a.mkv"),
        (CameraError.unsupportedPixelFormat(path: "a.mkv", format: "yuv420p10le"), "a.mkv"),
        (CameraError.damagedClip(path: "a.avi", deliveredFrames: 7, reason: "I/O error"), "a.avi"),
        (InferenceError.missingModel(path: "/m/palm.tflite"), "/m/palm.tflite"),
        (InferenceError.unreadableModel(path: "/m/palm.tflite", reason: "Check failed;\nat line 1"), "/m/palm.tflite"),
        (InferenceError.unsupportedModel(path: "/m/palm.tflite", reason: "2 inputs instead of one"), "/m/palm.tflite"),
        (InferenceError.failed(operation: "run a model", reason: "out of memory"), nil),
        (HandTrackingError.unexpectedTensors(model: "palm detection", expected: "[1]", actual: "[2]"), nil),
    ]

    @Test(arguments: failures.indices)
    func `every failure says in one line what, where and what to do`(index: Int) throws {
        let (error, location) = Self.failures[index]
        let report = try #require(error.reports.first)
        #expect(error.reports.count == 1 && error.exitCode == .failed)
        #expect(report.location == location)
        #expect(report.remedy?.isEmpty == false, "\(error)")
        #expect(!report.what.isEmpty)
        let line = "\(report)"
        #expect(line.split(whereSeparator: \.isNewline).count == 1)
        // A person's words, not the code's.
        #expect(!line.contains("Error.") && !line.contains("Optional("))
    }

    @Test func `a device's other failures name the step and the system's reason`() {
        for operation in DeviceOperation.allCases {
            let line = FailureReport.line(for: CameraError.device(path: "/dev/video0", at: operation, errno: 5))
            #expect(line == "/dev/video0: \(operation.rawValue) failed: input/output error")
        }
    }

    @Test func `the group to join is named, by its number where it has no name`() {
        func line(_ group: DeviceGroup?) -> String {
            FailureReport.line(for: CameraError.permissionDenied(path: "/dev/video0", group: group, errno: 13))
        }
        #expect(line(Self.group).contains("usermod -aG video") && line(Self.group).contains("group 44"))
        #expect(line(DeviceGroup(id: 44, name: nil)).contains("usermod -aG 44"))
        #expect(line(nil) == "/dev/video0: this user may not open the camera; run as a user that may read it")
    }

    @Test func `who holds the camera, and which one is missing, is named`() {
        let busy = CameraError.busy(device: "/dev/video0", at: .startStreaming, holders: [.init(process: 7, name: "zoom")])
        #expect(
            FailureReport.line(for: busy) == "/dev/video0: another program holds the camera (at VIDIOC_STREAMON); end zoom (7)")
        let other = CameraError.otherCamera(path: "/dev/video0", expected: "C920", found: "C270")
        #expect(
            FailureReport.line(for: other)
                == "/dev/video0: this is another camera (C270), and 'C920' is not there; plug that one in, or name this one and start anew")
        let narrow = CameraError.noBandwidth(device: "/dev/video0", mode: CaptureMode(format: .yuyv, width: 1280, height: 720))
        #expect(FailureReport.line(for: narrow).contains("YUYV 1280x720"))
    }

    @Test func `no failure of a camera in the network tells its credentials`() {
        for (error, _) in Self.failures {
            #expect(
                !FailureReport.line(for: error).contains("hush") && !"\(error)".contains("hush")
                    && !String(reflecting: error).contains("hush"))
        }
    }

    @Test func `what the other end offered is told`() {
        let line = FailureReport.line(for: CameraError.noUsableFormat(device: "/dev/video0", offered: ["H264", "HEVC"]))
        #expect(line.contains("H264, HEVC"))
    }
}
