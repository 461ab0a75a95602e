import Glibc

extension CameraError {
    /// What an error number means at a step of a device's use.
    ///
    /// - Parameter group: The group that owns the device's file, which a refused `open` names.
    init(errno number: Int32, path: String, at operation: DeviceOperation, group: DeviceGroup? = nil) {
        switch (number, operation) {
        case (ENOENT, .open), (ENOTDIR, .open), (ENODEV, .open), (ENXIO, .open): self = .noSuchDevice(path: path)
        case (EACCES, .open), (EPERM, .open): self = .permissionDenied(path: path, group: group, errno: number)
        case (ENOTTY, .open), (ENOTTY, .queryCapabilities), (EINVAL, .queryCapabilities), (EISDIR, .open):
            self = .notACaptureDevice(path: path)
        case (EBUSY, _): self = .busy(device: path, at: operation, holders: [])
        case (ENOSPC, _): self = .noBandwidth(device: path, mode: nil)
        case (ENODEV, _), (ENXIO, _): self = .unplugged(device: path)
        default: self = .device(path: path, at: operation, errno: number)
        }
    }
}

extension CameraError {
    /// The same with what only the whole of an attempt knows: who has the device, and which mode was too much.
    func explained(mode: CaptureMode?) -> CameraError {
        switch self {
        case .busy(let device, let operation, _): .busy(device: device, at: operation, holders: DeviceHolder.all(of: device))
        case .noBandwidth(let device, _): .noBandwidth(device: device, mode: mode)
        default: self
        }
    }
}

extension DeviceGroup {
    /// The group that owns a file; `nil` if the file cannot be examined.
    init?(ofFile path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(id: status.st_gid, name: Self.name(of: status.st_gid))
    }

    private static func name(of id: gid_t) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            var entry = group()
            var found: UnsafeMutablePointer<group>?
            guard getgrgid_r(id, &entry, buffer.baseAddress, buffer.count, &found) == 0, found != nil else { return nil }
            return String(cString: entry.gr_name)
        }
    }
}
