internal import Glibc

extension Metrics {
    /// Adds what every Prometheus client tells of its process, and which version runs.
    public func describeProcess(program: String, version: String) {
        gauge("handkit_build_info", "The program and its version; always 1.", ["program": program, "version": version]) { 1 }
        gauge("process_resident_memory_bytes", "Memory in RAM.") {
            Double(statistics()?.residentPages ?? 0) * Double(sysconf(Int32(_SC_PAGESIZE)))
        }
        counter("process_cpu_seconds_total", "Processor time used.") {
            Double(statistics()?.ticks ?? 0) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
        let start = Double(WallTime.now().millisecondsSinceEpoch) / 1000
        gauge("process_start_time_seconds", "When the program started, in seconds since 1970.") { start }
    }
}

/// Fields 14, 15 and 24 of `/proc/self/stat`, counted behind the program's name, which may hold spaces.
private func statistics() -> (ticks: UInt64, residentPages: UInt64)? {
    guard let bytes = try? readFile("/proc/self/stat", limit: 65_536), let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = String(decoding: bytes[(end + 1)...], as: UTF8.self).split(separator: " ")
    guard fields.count > 21, let user = UInt64(fields[11]), let system = UInt64(fields[12]), let resident = UInt64(fields[21]) else {
        return nil
    }
    return (user + system, resident)
}
