import Foundation
import Imaging
import Testing

@testable import Camera

struct SourceSpecificationTests {
    @Test(arguments: [
        ("auto", SourceSpecification.automatic),
        ("/dev/video0", .device(path: "/dev/video0")),
        ("/dev/v4l/by-id/usb-Maker_Camera_1234-video-index0", .device(path: "/dev/v4l/by-id/usb-Maker_Camera_1234-video-index0")),
        ("v4l2:/run/camera", .device(path: "/run/camera")),
        ("serial:1A2B", .serial("1A2B")),
        ("clip.avi", .clip(path: "clip.avi")),
        ("/home/me/auto", .clip(path: "/home/me/auto")),
        ("a:b.avi", .clip(path: "a:b.avi")),
        ("file:///home/me/clip.mp4", .clip(path: "/home/me/clip.mp4")),
    ])
    func `a source is what its text says`(text: String, source: SourceSpecification) throws {
        #expect(try SourceSpecification(text) == source)
    }

    @Test(arguments: [
        ("", CameraError.emptySource), ("v4l2:", .emptySource), ("file://", .emptySource),
        ("serial:", .emptySource), ("ftp://user:secret@camera/stream", .unsupportedScheme("ftp")), ("rtsp://", .badAddress),
        ("rtsp://user:secret@/stream", .badAddress), ("http://:80/secret", .badAddress), ("http://camera/a\nb", .badAddress),
    ])
    func `a text that names no source is an error without its secrets`(text: String, error: CameraError) {
        #expect(throws: error) { try SourceSpecification(text) }
    }

    @Test func `a clip's text opens the clip`() throws {
        let source = try SourceSpecification(clip("empty_room.avi")).open()
        #expect(source.format.codec == "mjpeg")
        #expect(try source.nextFrame()?.time == 0)
    }

    @Test func `the catalog lists nodes by number with the links that stay`() throws {
        let folder = try TemporaryFolder()
        for name in ["video10", "video2", "video", "videoX", "null"] { _ = try folder.file(name, [0]) }
        let links = "\(folder.path)/by-id"
        try FileManager.default.createDirectory(atPath: links, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: "\(links)/usb-Maker_1-index0", withDestinationPath: "../../video10")
        let entries = CameraCatalog.list(devices: folder.path, links: [links])
        let (second, tenth) = ("\(folder.path)/video2", "\(folder.path)/video10")
        #expect(
            entries == [
                .init(path: second, stablePaths: [], camera: .failure(.notACaptureDevice(path: second))),
                .init(path: tenth, stablePaths: ["\(links)/usb-Maker_1-index0"], camera: .failure(.notACaptureDevice(path: tenth))),
            ])
    }

    @Test func `a machine without devices has an empty catalog`() {
        #expect(CameraCatalog.list(devices: "/no/such/folder", links: ["/no/such/folder"]) == [])
    }
}
