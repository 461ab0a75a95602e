internal import Glibc
internal import ServiceKit

/// The folder in which a program's crashes wait to be told, and the names of the files in it.
///
/// A start of a program has an id, and up to three files named by it: the record that its crash handler writes, the backtrace that Swift's
/// backtracer writes, and the report made of the two. Ids sort by time.
public struct CrashFolder: Hashable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        case record, backtrace, report
    }

    /// Most crashes of one program that are kept; of more the oldest are dropped.
    public static let capacity = 8
    /// Bytes set aside for a record, so that a full disk does not keep it from being written.
    static let recordSize = 96 * 1024

    public let path: String
    public let program: String

    public init(path: String, program: String) {
        (self.path, self.program) = (path, program)
    }

    /// The folder that this environment names: before any configuration is read.
    public init(environment: [String: String], program: String) {
        let named = environment["HANDKIT_CRASH_FOLDER"].flatMap { $0.isEmpty ? nil : $0 }
        self.init(path: named ?? stateFolder(environment) + "/crashes", program: program)
    }

    public func file(_ id: String, _ kind: Kind) -> String { "\(path)/\(program)-\(id).\(kind.rawValue)" }

    /// Where what is to be remembered over starts is kept, such as when the last report was sent.
    public var ledger: String { "\(path)/\(program).ledger" }

    /// Ids with a file of this kind, the oldest first.
    public func ids(_ kind: Kind) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var ids: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            guard name.hasPrefix(program + "-"), name.hasSuffix("." + kind.rawValue) else { continue }
            let id = String(name.dropFirst(program.count + 1).dropLast(kind.rawValue.count + 1))
            if Self.isID(id) { ids.append(id) }
        }
        return ids.sorted()
    }

    /// Removes what is left of a start.
    public func remove(_ id: String) {
        for kind in Kind.allCases { unlink(file(id, kind)) }
    }

    /// Whether the process of that start still runs: it holds a lock on its record.
    public func isRunning(_ id: String) -> Bool {
        let descriptor = open(file(id, .record), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Bytes of a file; 0 where there is none.
    public func size(_ id: String, _ kind: Kind) -> Int {
        var information = stat()
        return lstat(file(id, kind), &information) == 0 ? Int(information.st_size) : 0
    }

    /// Removes what ended without a crash, and of the crashes the oldest above the capacity.
    /// - Returns: How many crashes were dropped.
    @discardableResult
    public func tidy() -> Int {
        let ended = ids(.record).filter { !isRunning($0) }
        for id in ended where size(id, .record) == 0 { remove(id) }
        let crashes = Set(ended.filter { size($0, .record) > 0 } + ids(.report)).sorted()
        let dropped = crashes.dropLast(Self.capacity)
        for id in dropped { remove(id) }
        return dropped.count
    }

    static func isID(_ text: String) -> Bool {
        text.count == 20 && text.allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    static func makeID() -> String {
        func hex(_ value: UInt64, _ digits: Int) -> String {
            let text = String(value, radix: 16)
            return String(repeating: "0", count: max(0, digits - text.count)) + text.suffix(digits)
        }
        return hex(UInt64(WallTime.now().millisecondsSinceEpoch), 12) + hex(.random(in: 0...0xffff_ffff), 8)
    }
}
