internal import Camera
internal import Glibc
internal import ServiceKit

/// The output of `handkit-recognizer cameras`.
enum CameraTable {
    static func text(_ entries: [CameraCatalog.Entry]) -> String {
        guard !entries.isEmpty else { return "No camera is plugged in (there is no /dev/video*).\n" }
        return entries.map(text).joined(separator: "\n")
    }

    private static func text(_ entry: CameraCatalog.Entry) -> String {
        switch entry.camera {
        case .failure(.notACaptureDevice):
            return "\(entry.path)  (captures no video)\n"
        case .failure(let error):
            return "\(entry.path)  \(FailureReport.line(for: error))\n"
        case .success(let camera):
            var text = "\(entry.path)  \(camera.name) (\(camera.driver), \(camera.bus))\n"
            for path in entry.stablePaths { text += "  always  \(path)\n" }
            for mode in camera.modes { text += "  \(mode.format)  \(mode.width)x\(mode.height)  \(rates(mode))\n" }
            return text
        }
    }
}

private func rates(_ mode: CaptureMode) -> String {
    let rates = mode.rates.map { "\($0.rounded(1))" }.joined(separator: ", ")
    return (rates.isEmpty ? "any rate" : "\(rates) frames/s") + (mode.isEmulated ? " (converted)" : "")
}

/// Standard output, written at once.
struct StandardOutput: TextOutputStream, Sendable {
    mutating func write(_ string: String) {
        var text = string
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(STDOUT_FILENO, rest.baseAddress, rest.count)
                if count >= 0 { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) } else if errno != EINTR { return }
            }
        }
    }
}
