import FoundationEssentials

/// The video devices of this machine.
public enum CameraCatalog {
    /// One device node.
    public struct Entry: Hashable, Sendable {
        /// `/dev/video0`.
        public var path: String
        /// Links that stay: first those that name the device by maker and serial number (`/dev/v4l/by-id/…`), then those that name its
        /// place (`/dev/v4l/by-path/…`).
        public var stablePaths: [String]
        /// What the node is, or why that cannot be told; ``CameraError/notACaptureDevice(path:)`` for metadata and output nodes.
        public var camera: Result<Camera, CameraError>
        /// Programs that have it open, as far as this user may see them.
        public var holders: [DeviceHolder] = []
    }

    /// What a node that captures video says of itself.
    public struct Camera: Hashable, Sendable {
        public var name: String
        public var driver: String
        /// Where it is plugged in ("usb-0000:00:14.0-3").
        public var bus: String
        public var identity: CameraIdentity
        /// What it offers; of a device that takes any size, the usual sizes.
        public var modes: [CaptureMode]
        /// What can be adjusted.
        public var controls: [CameraControl] = []
    }

    /// How much is asked of each device.
    public enum Detail: Hashable, Sendable {
        case identity
        /// Formats, controls and who uses it too.
        case everything
    }

    /// Examines all device nodes, in the order of their numbers.
    ///
    /// Opens each for a moment, which a camera in use by others allows; blocks meanwhile.
    ///
    /// - Parameters:
    ///   - devices: The folder of `video0` and so on.
    ///   - links: The folders of stable links.
    ///   - more: Paths that a person gave, which may lie elsewhere.
    public static func list(
        devices: String = "/dev", links: [String] = ["/dev/v4l/by-id", "/dev/v4l/by-path"], more: [String] = [],
        detail: Detail = .everything
    ) -> [Entry] {
        let files = FileManager.default
        let numbers = ((try? files.contentsOfDirectory(atPath: devices)) ?? []).compactMap(number).sorted()
        let targets = links.flatMap { folder in
            ((try? files.contentsOfDirectory(atPath: folder)) ?? []).sorted().map { "\(folder)/\($0)" }
        }.map { link in
            let target = (try? files.destinationOfSymbolicLink(atPath: link)) ?? ""
            return (path: link, node: target.split(separator: "/").last.map(String.init))
        }
        var entries = numbers.map { number in
            let path = "\(devices)/video\(number)"
            return entry(path, links: targets.filter { $0.node == "video\(number)" }.map(\.path), detail)
        }
        for path in more where !entries.contains(where: { $0.path == path || $0.stablePaths.contains(path) }) {
            let target = CameraIdentity.resolved(path)
            if let same = entries.firstIndex(where: { $0.path == target }) {
                entries[same].stablePaths.append(path)
            } else if target != nil {
                entries.append(entry(path, links: [], detail))
            }
        }
        return entries
    }

    private static func entry(_ path: String, links: [String], _ detail: Detail) -> Entry {
        Entry(
            path: path, stablePaths: links, camera: Result { () throws(CameraError) in try examine(path, detail) },
            holders: detail == .everything ? DeviceHolder.all(of: path) : [])
    }

    private static func number(of name: String) -> Int? {
        name.hasPrefix("video") ? Int(name.dropFirst("video".count)) : nil
    }

    private static let usualSizes = [(320, 240), (640, 360), (640, 480), (1280, 720), (1920, 1080)].map { (width: $0.0, height: $0.1) }

    private static func examine(_ path: String, _ detail: Detail) throws(CameraError) -> Camera {
        let device = try VideoDevice(path: path)
        let capabilities = try device.capabilities()
        guard capabilities.capturesVideo, capabilities.streams else { throw .notACaptureDevice(path: path) }
        let isWhole = detail == .everything
        return Camera(
            name: capabilities.card, driver: capabilities.driver, bus: capabilities.bus, identity: device.identity(capabilities),
            modes: isWhole ? device.modes(sizes: usualSizes) : [], controls: isWhole ? device.controls() : [])
    }
}
