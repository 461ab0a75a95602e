import FoundationEssentials
import Glibc

extension DeviceHolder {
    /// The other processes that have a device open; of other users' processes only root sees that.
    ///
    /// Reads all of /proc, so it is for the moment in which somebody is told.
    static func all(of path: String) -> [DeviceHolder] {
        guard let device = FileNumber(path) else { return [] }
        let own = getpid()
        let processes = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap(Int32.init).sorted()
        return processes.filter { $0 != own && hasOpen(device, process: $0) }.map { process in
            let name = FileManager.default.contents(atPath: "/proc/\(process)/comm").map { String(decoding: $0, as: UTF8.self) } ?? ""
            return DeviceHolder(process: Int(process), name: name.split(whereSeparator: \.isNewline).first.map(String.init) ?? "?")
        }
    }

    private static func hasOpen(_ device: FileNumber, process: Int32) -> Bool {
        let folder = "/proc/\(process)/fd"
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return descriptors.contains { FileNumber("\(folder)/\($0)") == device }
    }
}

/// What two names of one file have in common: a device's number, another file's place on its disk.
private struct FileNumber: Equatable {
    private var parts: [UInt64]

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let isDevice = status.st_mode & S_IFMT == S_IFCHR
        parts = isDevice ? [UInt64(status.st_rdev)] : [UInt64(status.st_dev), UInt64(status.st_ino)]
    }
}
