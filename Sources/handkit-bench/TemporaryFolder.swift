internal import FoundationEssentials
internal import Glibc

/// A folder that goes, with all in it, when this value does.
struct TemporaryFolder: ~Copyable {
    let path: String

    init() throws(BenchError) {
        var template = Array("\(ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp")/handkit-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .failed("no temporary folder: errno \(errno)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
