import Foundation
import TestSupport
import Testing

@testable import Camera

struct CameraSearchTests {
    private static func camera(
        _ number: Int, _ model: String = "046d:082d", serial: String? = nil, port: String = "1-1", part: String = "00.0",
        links: [String] = []
    ) -> CameraCatalog.Entry {
        let identity = CameraIdentity(model: model, serial: serial, port: port, part: part)
        return CameraCatalog.Entry(
            path: "/dev/video\(number)", stablePaths: links,
            camera: .success(.init(name: "Camera \(model)", driver: "uvcvideo", bus: "usb-\(port)", identity: identity, modes: [])))
    }

    private static func node(_ number: Int, _ error: CameraError) -> CameraCatalog.Entry {
        CameraCatalog.Entry(path: "/dev/video\(number)", stablePaths: [], camera: .failure(error))
    }

    private static func metadata(_ number: Int) -> CameraCatalog.Entry { node(number, .notACaptureDevice(path: "/dev/video\(number)")) }

    private static let denied = CameraError.permissionDenied(path: "/dev/video0", group: DeviceGroup(id: 44, name: "video"), errno: 13)
    private static let byID = "/dev/v4l/by-id/usb-Maker_1-index0"

    /// What was there when the camera was opened, what is there when it is looked for again, and what is taken then.
    struct Case: CustomTestStringConvertible {
        var name: String
        var wish: CameraSearch.Name
        var before: [CameraCatalog.Entry]
        var after: [CameraCatalog.Entry]
        var chosen: Result<String, CameraError>
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        .init(
            name: "the same number", wish: .path("/dev/video0"), before: [camera(0), metadata(1)], after: [camera(0), metadata(1)],
            chosen: .success("/dev/video0")),
        .init(
            name: "another number", wish: .path("/dev/video0"), before: [camera(0)], after: [metadata(1), camera(2)],
            chosen: .success("/dev/video2")),
        .init(
            name: "auto keeps to the first it took", wish: .any, before: [camera(0, "a:1")],
            after: [camera(0, "b:2", port: "1-2"), camera(1, "a:1")], chosen: .success("/dev/video1")),
        .init(
            name: "auto takes no other either", wish: .any, before: [camera(0, "a:1")], after: [camera(0, "b:2")],
            chosen: .failure(.otherCamera(path: "/dev/video0", expected: "Camera a:1", found: "Camera b:2"))),
        .init(
            name: "another model at the number", wish: .path("/dev/video0"), before: [camera(0, "a:1")], after: [camera(0, "b:2")],
            chosen: .failure(.otherCamera(path: "/dev/video0", expected: "Camera a:1", found: "Camera b:2"))),
        .init(
            name: "another serial number at the number", wish: .path("/dev/video0"), before: [camera(0, "a:1", serial: "1")],
            after: [camera(0, "a:1", serial: "2")],
            chosen: .failure(.otherCamera(path: "/dev/video0", expected: "Camera a:1", found: "Camera a:1"))),
        .init(
            name: "gone, with others elsewhere", wish: .path("/dev/video0"), before: [camera(0, "a:1"), camera(2, "b:2", port: "1-2")],
            after: [camera(2, "b:2", port: "1-2")], chosen: .failure(.noSuchDevice(path: "/dev/video0"))),
        .init(
            name: "another port", wish: .path("/dev/video0"), before: [camera(0)], after: [camera(3, port: "2-1")],
            chosen: .success("/dev/video3")),
        .init(
            name: "a twin that was there before is not it", wish: .path("/dev/video0"), before: [camera(0), camera(2, port: "1-2")],
            after: [camera(2, port: "1-2")], chosen: .failure(.noSuchDevice(path: "/dev/video0"))),
        .init(
            name: "a twin at its number is not it", wish: .path("/dev/video0"), before: [camera(0), camera(2, port: "1-2")],
            after: [camera(0, port: "1-2")],
            chosen: .failure(.otherCamera(path: "/dev/video0", expected: "Camera 046d:082d", found: "Camera 046d:082d"))),
        .init(
            name: "two twins that nobody knows", wish: .path("/dev/video0"), before: [camera(0)],
            after: [camera(0, port: "1-3"), camera(2, port: "1-2")],
            chosen: .failure(.ambiguousCamera(name: "Camera 046d:082d", paths: ["/dev/video0", "/dev/video2"]))),
        .init(
            name: "the infrared picture of the same device is another", wish: .path("/dev/video0"), before: [camera(0)],
            after: [camera(0, part: "02.0")],
            chosen: .failure(.otherCamera(path: "/dev/video0", expected: "Camera 046d:082d", found: "Camera 046d:082d"))),
        .init(
            name: "a link decides by itself", wish: .path(byID), before: [camera(0, links: [byID])],
            after: [camera(0, "b:2"), camera(4, links: [byID])], chosen: .success("/dev/video4")),
        .init(
            name: "a link that is gone", wish: .path(byID), before: [camera(0, links: [byID])], after: [camera(0, "b:2")],
            chosen: .failure(.noSuchDevice(path: byID))),
        .init(
            name: "a serial number", wish: .serial("77"), before: [camera(0, serial: "76"), camera(2, serial: "77", port: "1-2")],
            after: [camera(5, serial: "77", port: "3-1"), metadata(6)], chosen: .success("/dev/video5")),
        .init(
            name: "a serial number that is gone", wish: .serial("77"), before: [camera(0, serial: "77")], after: [camera(0, serial: "78")],
            chosen: .failure(.noSuchDevice(path: "serial:77"))),
        .init(
            name: "nobody may look at it", wish: .path("/dev/video0"), before: [camera(0)], after: [node(0, denied)],
            chosen: .success("/dev/video0")),
    ]

    @Test(arguments: cases) func `a camera is found again, and no other is taken for it`(example: Case) throws {
        var search = CameraSearch(example.wish)
        search.opened(try search.choose(from: example.before), among: example.before)
        let chosen = Result { () throws(CameraError) in try search.choose(from: example.after).path }
        #expect(chosen == example.chosen)
    }

    static let starts: [(name: String, wish: CameraSearch.Name, entries: [CameraCatalog.Entry], chosen: Result<String, CameraError>)] = [
        ("the first that captures", .any, [metadata(0), camera(2), camera(4, port: "1-2")], .success("/dev/video2")),
        ("none", .any, [], .failure(.noCamera)), ("metadata alone", .any, [metadata(1)], .failure(.noCamera)),
        ("a forbidden one is not none", .any, [node(0, denied), metadata(1)], .failure(denied)),
        ("the number that is named", .path("/dev/video4"), [camera(2), camera(4, port: "1-2")], .success("/dev/video4")),
        ("a number that is not there", .path("/dev/video4"), [camera(2)], .failure(.noSuchDevice(path: "/dev/video4"))),
        ("a forbidden one may have the serial number", .serial("7"), [node(0, denied)], .failure(denied)),
        (
            "a serial number that two share", .serial("7"), [camera(0, serial: "7"), camera(2, serial: "7", port: "1-2")],
            .failure(.ambiguousCamera(name: "serial:7", paths: ["/dev/video0", "/dev/video2"]))
        ),
        (
            "the first picture of a device that has two", .serial("7"), [camera(0, serial: "7"), camera(2, serial: "7", part: "02.0")],
            .success("/dev/video0")
        ),
    ]

    @Test(arguments: starts.indices) func `a camera is chosen by how it is named`(index: Int) {
        let (name, wish, entries, chosen) = Self.starts[index]
        #expect(Result { () throws(CameraError) in try CameraSearch(wish).choose(from: entries).path } == chosen, "\(name)")
    }

    @Test func `a USB camera is known by what sysfs says of it`() throws {
        let folder = try TemporaryFolder()
        let files = FileManager.default
        func write(_ text: String, _ path: String) throws { try Data(text.utf8).write(to: URL(filePath: "\(folder.path)/\(path)")) }
        try files.createDirectory(atPath: "\(folder.path)/devices/1-3/1-3:1.2", withIntermediateDirectories: true)
        try files.createDirectory(atPath: "\(folder.path)/81:4", withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: "\(folder.path)/81:4/device", withDestinationPath: "../devices/1-3/1-3:1.2")
        #expect(CameraIdentity(usbNode: "\(folder.path)/81:4") == nil)
        for (file, text) in [("idVendor", "046d\n"), ("idProduct", "082d\n"), ("serial", "A1B2\n"), ("1-3:1.2/bInterfaceNumber", "02\n")] {
            try write(text, "devices/1-3/\(file)")
        }
        try write("1\n", "81:4/index")
        let camera = CameraIdentity(model: "046d:082d", serial: "A1B2", port: "1-3", part: "02.1")
        #expect(CameraIdentity(usbNode: "\(folder.path)/81:4") == camera)
        // Makers who number none write zeros or nothing.
        for text in ["0000000\n", "\n", ""] {
            try write(text, "devices/1-3/serial")
            #expect(CameraIdentity(usbNode: "\(folder.path)/81:4")?.serial == nil)
        }
        #expect(CameraIdentity(usbNode: "/nowhere") == nil)
    }

    @Test func `who has a file open is found`() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("device", [0])
        #expect(DeviceHolder.all(of: path) == [])
        let holder = try ChildProcess("sh", ["-c", "exec sleep 600 <'\(path)'"])
        try await eventually("the file is open") { DeviceHolder.all(of: path).map(\.name) == ["sleep"] }
        holder.signal(SIGKILL)
        #expect(DeviceHolder.all(of: "/no/such/file") == [])
    }
}
