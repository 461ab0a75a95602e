public import CrashCapture
internal import FoundationEssentials
internal import Glibc
internal import ServiceKit

/// The crashes of a program that are not told of yet, in a folder; what is read there may be damaged.
public struct CrashStore: Sendable {
    /// Bytes read of what the backtracer wrote, at most.
    private static let mostBacktrace = 1 << 20

    /// What goes over from one start to the next.
    struct Ledger: Codable, Equatable {
        var schedule = SentrySchedule()
        /// Crashes dropped and not told of yet.
        var dropped = 0
    }

    let folder: CrashFolder
    private let redaction: Redaction

    public init(folder: CrashFolder, redaction: Redaction) {
        (self.folder, self.redaction) = (folder, redaction)
    }

    /// Makes reports of what crashes have left since, and returns all that wait, the oldest first.
    ///
    /// What the crashed process left is removed as soon as a report is on the disk in its place; where the disk is full it stays.
    func collect() -> [CrashReport] {
        var ledger = ledger
        ledger.dropped += folder.tidy()
        for id in folder.ids(.record) where folder.size(id, .record) > 0 && !folder.isRunning(id) {
            guard folder.size(id, .report) == 0 else {
                unlink(folder.file(id, .record))
                continue
            }
            guard let bytes = try? readFile(folder.file(id, .record), limit: 1 << 20), let record = CrashRecord(bytes) else {
                folder.remove(id)
                continue
            }
            let backtrace = (try? readFile(folder.file(id, .backtrace), limit: Self.mostBacktrace)).flatMap { CrashTrace($0) }
            let report = CrashReport(
                id: Self.eventID(id), record, backtrace, symbols: record.build == CrashCapture.build ? ProgramSymbols() : nil,
                redaction: redaction,
                architecture: Machine.architecture, dropped: ledger.dropped)
            ledger.dropped = 0
            guard keep(report) else { continue }
            unlink(folder.file(id, .record))
            unlink(folder.file(id, .backtrace))
        }
        self.ledger(ledger)
        return folder.ids(.report).compactMap { id in
            guard let bytes = try? readFile(folder.file(id, .report), limit: SentryEvent.largest),
                let report = try? JSONDecoder().decode(CrashReport.self, from: Data(bytes)), report.id == Self.eventID(id)
            else {
                folder.remove(id)
                return nil
            }
            return report
        }
    }

    /// Whether the latest crash that nobody has looked at yet came that soon after its start.
    func hasCrashedSoon(within time: Duration) -> Bool {
        guard let id = folder.ids(.record).last(where: { folder.size($0, .record) > 0 }),
            let bytes = try? readFile(folder.file(id, .record), limit: 1 << 20), let record = CrashRecord(bytes)
        else { return false }
        return .milliseconds(record.time - record.started) < time
    }

    /// Writes a report; whether that was possible.
    @discardableResult
    func keep(_ report: CrashReport) -> Bool {
        guard let data = try? JSONEncoder().encode(report) else { return false }
        return (try? writeFile(folder.file(Self.crashID(report.id), .report), Array(data), mode: 0o600)) != nil
    }

    func remove(_ report: CrashReport) { folder.remove(Self.crashID(report.id)) }

    var ledger: Ledger {
        guard let bytes = try? readFile(folder.ledger, limit: 16_384) else { return Ledger() }
        return (try? JSONDecoder().decode(Ledger.self, from: Data(bytes))) ?? Ledger()
    }

    func ledger(_ ledger: Ledger) {
        guard ledger != self.ledger, let data = try? JSONEncoder().encode(ledger) else { return }
        // Where it cannot be kept, no more is lost than the memory of what was sent.
        try? writeFile(folder.ledger, Array(data), mode: 0o600)
    }

    /// Sentry's ids have 32 digits; ours twenty, of which the first twelve are the time and the rest random.
    private static func eventID(_ id: String) -> String { String(repeating: "0", count: 12) + id }
    private static func crashID(_ id: String) -> String { String(id.suffix(20)) }
}

/// What a report says of the machine.
enum Machine {
    static var architecture: String { field { withUnsafeBytes(of: $0.machine) { Array($0) } } }
    static var kernel: String { field { withUnsafeBytes(of: $0.release) { Array($0) } } }

    private static func field(_ bytes: (utsname) -> [UInt8]) -> String {
        var name = utsname()
        uname(&name)
        return String(decoding: bytes(name).prefix { $0 != 0 }, as: UTF8.self)
    }
}
