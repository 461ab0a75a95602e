internal import Fleet
internal import FoundationEssentials
internal import Glibc

/// What a process has used until now.
struct ProcessCost {
    /// Seconds of CPU, all threads.
    var cpu: Double
    /// Megabytes.
    var resident: Double

    init(of id: pid_t) throws {
        guard let statistics = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
            let end = statistics.lastIndex(of: ")")
        else { throw BenchError.failed("process \(id) has ended") }
        // Fields 14, 15 and 24, counted behind the program's name, which may hold spaces.
        let fields = statistics[statistics.index(after: end)...].split(separator: " ")
        guard fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]), let pages = Double(fields[21]) else {
            throw BenchError.failed("process \(id) says nothing of itself")
        }
        cpu = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        resident = pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
    }

    /// Percent of one core that processes use while something goes on.
    static func percent(of ids: [pid_t], while work: () async throws -> Void) async throws -> [Double] {
        let before = try ids.map { try ProcessCost(of: $0).cpu }
        let start = ContinuousClock.now
        try await work()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return try zip(ids, before).map { id, before in 100 * (try ProcessCost(of: id).cpu - before) / seconds }
    }
}

/// Milliseconds.
struct Spread: Decodable {
    var median: Double
    var p95: Double

    init(_ durations: [Duration]) { self.init(milliseconds: durations.map { $0 / .milliseconds(1) }) }

    init(milliseconds: [Double]) { (median, p95) = (milliseconds.quantile(0.5), milliseconds.quantile(0.95)) }
}
