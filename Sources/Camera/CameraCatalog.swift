import FoundationEssentials

/// The video devices of this machine.
public enum CameraCatalog {
    /// One device node.
    public struct Entry: Hashable, Sendable {
        /// `/dev/video0`.
        public var path: String
        /// Links that name the device by maker and serial number and stay when it is plugged in elsewhere, as `/dev/v4l/by-id/…`.
        public var stablePaths: [String]
        /// What the node is, or why that cannot be told; ``CameraError/notACaptureDevice(path:)`` for metadata and output nodes.
        public var camera: Result<Camera, CameraError>
    }

    /// What a node that captures video says of itself.
    public struct Camera: Hashable, Sendable {
        public var name: String
        public var driver: String
        /// Where it is plugged in ("usb-0000:00:14.0-3").
        public var bus: String
        /// What it offers; of a device that takes any size, the usual sizes.
        public var modes: [CaptureMode]
    }

    /// Examines all device nodes, in the order of their numbers.
    ///
    /// Opens each for a moment, which a camera in use by others allows; blocks meanwhile.
    ///
    /// - Parameters:
    ///   - devices: The folder of `video0` and so on.
    ///   - links: The folder of stable links.
    public static func list(devices: String = "/dev", links: String = "/dev/v4l/by-id") -> [Entry] {
        let files = FileManager.default
        let numbers = ((try? files.contentsOfDirectory(atPath: devices)) ?? []).compactMap(number).sorted()
        let targets = ((try? files.contentsOfDirectory(atPath: links)) ?? []).sorted().map { name in
            let target = (try? files.destinationOfSymbolicLink(atPath: "\(links)/\(name)")) ?? ""
            return (path: "\(links)/\(name)", node: target.split(separator: "/").last.map(String.init))
        }
        return numbers.map { number in
            let path = "\(devices)/video\(number)"
            return Entry(
                path: path, stablePaths: targets.filter { $0.node == "video\(number)" }.map(\.path),
                camera: Result { () throws(CameraError) in try examine(path) })
        }
    }

    private static func number(of name: String) -> Int? {
        name.hasPrefix("video") ? Int(name.dropFirst("video".count)) : nil
    }

    private static let usualSizes = [(320, 240), (640, 360), (640, 480), (1280, 720), (1920, 1080)].map { (width: $0.0, height: $0.1) }

    private static func examine(_ path: String) throws(CameraError) -> Camera {
        let device = try VideoDevice(path: path)
        let capabilities = try device.capabilities()
        guard capabilities.capturesVideo, capabilities.streams else { throw .notACaptureDevice(path: path) }
        return Camera(
            name: capabilities.card, driver: capabilities.driver, bus: capabilities.bus, modes: device.modes(sizes: usualSizes))
    }
}
