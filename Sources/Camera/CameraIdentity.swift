import FoundationEssentials
import Glibc

/// Which camera it is, whatever number its node has today.
public struct CameraIdentity: Hashable, Sendable {
    /// Maker and kind: USB's two numbers ("046d:082d"), elsewhere driver and name.
    public var model: String
    /// The number that USB cameras of one kind differ by; nil where the maker gave none.
    public var serial: String?
    /// Where it is plugged in ("1-3", "platform:vivid-000").
    public var port: String
    /// Which picture of a device that has several, such as colour and infrared.
    public var part: String

    public init(model: String, serial: String? = nil, port: String, part: String = "0") {
        (self.model, self.serial, self.port, self.part) = (model, serial, port, part)
    }

    /// Whether nothing but the place tells the two apart.
    public func isLike(_ other: CameraIdentity) -> Bool {
        model == other.model && serial == other.serial && part == other.part
    }
}

extension CameraIdentity {
    /// What sysfs knows of a device's node; nil for a node that is not of USB.
    ///
    /// - Parameter node: The folder of the node, `/sys/dev/char/81:0`.
    init?(usbNode node: String) {
        guard let interface = Self.resolved("\(node)/device") else { return nil }
        let device = String(interface[..<(interface.lastIndex(of: "/") ?? interface.startIndex)])
        guard let maker = Self.text("\(device)/idVendor"), let kind = Self.text("\(device)/idProduct") else { return nil }
        let port = device.split(separator: "/").last.map(String.init) ?? device
        let parts = [Self.text("\(interface)/bInterfaceNumber"), Self.text("\(node)/index")].compactMap(\.self)
        let serial = Self.text("\(device)/serial").flatMap { $0.allSatisfy { $0 == "0" } ? nil : $0 }
        self.init(model: "\(maker):\(kind)", serial: serial, port: port, part: parts.joined(separator: "."))
    }

    private static func text(_ path: String) -> String? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let text = String(decoding: data.prefix(256), as: UTF8.self)
        let trimmed = text.split(whereSeparator: { $0.isNewline || $0 == "\0" }).first.map(String.init)
        return trimmed.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The path with all links followed; nil where it does not lead anywhere.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
