import Glibc
import TestSupport
import Testing

@testable import Camera

struct CameraErrorTests {
    static let video = DeviceGroup(id: 44, name: "video")

    static let cases: [(number: Int32, operation: DeviceOperation, error: CameraError)] = [
        (ENOENT, .open, .noSuchDevice(path: "/dev/video0")),
        (ENODEV, .open, .noSuchDevice(path: "/dev/video0")),
        (ENXIO, .open, .noSuchDevice(path: "/dev/video0")),
        (EACCES, .open, .permissionDenied(path: "/dev/video0", group: video, errno: EACCES)),
        (EPERM, .open, .permissionDenied(path: "/dev/video0", group: video, errno: EPERM)),
        (EBUSY, .open, .busy(device: "/dev/video0", at: .open, holders: [])),
        (EBUSY, .setFormat, .busy(device: "/dev/video0", at: .setFormat, holders: [])),
        (EBUSY, .requestBuffers, .busy(device: "/dev/video0", at: .requestBuffers, holders: [])),
        (ENOTTY, .open, .notACaptureDevice(path: "/dev/video0")),
        (ENOTTY, .queryCapabilities, .notACaptureDevice(path: "/dev/video0")),
        (ENOSPC, .startStreaming, .noBandwidth(device: "/dev/video0", mode: nil)),
        (ENODEV, .dequeue, .unplugged(device: "/dev/video0")),
        (ENODEV, .enqueue, .unplugged(device: "/dev/video0")),
        (EIO, .dequeue, .device(path: "/dev/video0", at: .dequeue, errno: EIO)),
        (EINVAL, .setFormat, .device(path: "/dev/video0", at: .setFormat, errno: EINVAL)),
    ]

    @Test(arguments: cases.indices) func `an error number means what it means at its step`(index: Int) {
        let (number, operation, error) = Self.cases[index]
        #expect(CameraError(errno: number, path: "/dev/video0", at: operation, group: Self.video) == error)
    }

    @Test func `a file's group has a number and a name`() {
        #expect(DeviceGroup(ofFile: "/etc/passwd") == DeviceGroup(id: 0, name: "root"))
        #expect(DeviceGroup(ofFile: "/no/such/file") == nil)
    }

    @Test func `a device that is not there, and files that are none, are told apart`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("text", Array("no camera".utf8))
        #expect(throws: CameraError.noSuchDevice(path: "/dev/video987")) { try V4L2Source(path: "/dev/video987") }
        #expect(throws: CameraError.notACaptureDevice(path: "/dev/null")) { try V4L2Source(path: "/dev/null") }
        #expect(throws: CameraError.notACaptureDevice(path: file)) { try V4L2Source(path: file) }
        #expect(throws: CameraError.notACaptureDevice(path: folder.path)) { try V4L2Source(path: folder.path) }
    }

    @Test(.enabled(if: geteuid() != 0, "root may open everything"))
    func `a device that may not be opened names its group`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("video0", [0])
        chmod(file, 0)
        #expect(throws: CameraError.permissionDenied(path: file, group: DeviceGroup(ofFile: file), errno: EACCES)) {
            try V4L2Source(path: file)
        }
    }
}
