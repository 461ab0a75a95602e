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
            var lines = ["\(entry.path)  \(camera.name) (\(camera.driver), \(camera.bus))"]
            lines += entry.stablePaths.map { "  always  \($0)" }
            if let serial = camera.identity.serial { lines.append("  always  serial:\(serial)") }
            lines.append("  in use  \(entry.holders.isEmpty ? "no" : entry.holders.map(\.description).joined(separator: ", "))")
            lines += columns(
                [["format", "size", "frames a second"]] + camera.modes.map { ["\($0.format)", "\($0.width)x\($0.height)", rates($0)] })
            if !camera.controls.isEmpty {
                lines += columns(
                    [["control", "now", "from", "to"]]
                        + camera.controls.map { control in
                            let range = [
                                "\(control.range.lowerBound)", "\(control.range.upperBound)\(control.isLocked ? "  (locked)" : "")",
                            ]
                            return [control.name, "\(control.value)"] + range
                        })
            }
            return lines.joined(separator: "\n") + "\n"
        }
    }

    private static func rates(_ mode: CaptureMode) -> String {
        let rates = mode.rates.map { "\($0.rounded(1))" }.joined(separator: ", ")
        return (rates.isEmpty ? "not said" : rates) + (mode.isEmulated ? "  (converted)" : mode.isReadable ? "" : "  (not used)")
    }

    /// Rows of equally many cells, each column as wide as its widest cell.
    private static func columns(_ rows: [[String]]) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).dropLast().map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return "  " + (cells + [row.last ?? ""]).joined(separator: "  ")
        }
    }
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
