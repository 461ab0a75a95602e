import FoundationEssentials
import Glibc

/// Where tests find the project's files.
package enum Paths {
    /// The folder of `Package.swift`.
    package static let root: String = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/")
    }()

    /// The prefix made by `deploy/setup`: `HANDKIT_PREFIX`, or `.handkit` in the package.
    package static let prefix: String = environment("HANDKIT_PREFIX") ?? "\(root)/.handkit"

    /// The folder of recorded clips that is too big for the repository (`HANDKIT_MEDIA`, or `../shared/media`); nil where there is none.
    package static let media: String? = {
        let folder = environment("HANDKIT_MEDIA") ?? "\(root)/../shared/media"
        return exists(folder) ? folder : nil
    }()

    /// Where programs started by this process keep what their crashes leave, unless a test names a folder.
    package static let crashes = "\(environment("TMPDIR") ?? "/tmp")/handkit-crashes-\(getpid())"

    /// A program of this package, built beside the running tests.
    package static func program(_ name: String) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "/" + (path.split(separator: "/").dropLast() + [Substring(name)]).joined(separator: "/")
    }

    /// An installed program, looked for in `PATH` and in the folders of daemons.
    package static func installed(_ name: String) -> String? {
        let folders = (environment("PATH") ?? "").split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin", "/sbin"]
        return folders.lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    package static func exists(_ path: String) -> Bool {
        access(path, F_OK) == 0
    }

    package static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Makes a folder of its own for one test, under the system's temporary folder; see ``remove(_:)``.
    package static func temporaryFolder() throws -> String {
        var template = Array("\(environment("TMPDIR") ?? "/tmp")/handkit-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemCallFailure("mkdtemp") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Writes a file anew.
    package static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    /// Removes a file, or a folder with everything in it.
    package static func remove(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
    }
}
