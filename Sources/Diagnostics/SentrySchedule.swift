/// When a report may be sent: what was sent before and what the other side said of it decide. Pure; times are milliseconds since 1970.
///
/// It is kept over restarts, so that a program that crashes again and again does not flood anybody.
struct SentrySchedule: Codable, Equatable, Sendable {
    /// What became of one attempt.
    enum Answer: Equatable, Sendable {
        /// - Parameters:
        ///   - retryAfter: The header `Retry-After`.
        ///   - limits: The header `X-Sentry-Rate-Limits`.
        case status(Int, retryAfter: String?, limits: String?)
        case unreachable
    }

    enum Verdict: Equatable, Sendable {
        case delivered
        /// This report will never be taken.
        case refused
        case later
    }

    /// Most reports within an hour.
    static let mostPerHour = 6
    static let hour: Int64 = 3_600_000
    /// Waits after failures: the first, doubled each time up to the longest.
    static let firstWait: Int64 = 30_000
    /// The longest wait, whoever asks for it; a greater one is a mistake of the other side.
    static let longestWait: Int64 = 24 * hour
    /// Where the other side names no time (Sentry's documentation: 60 s).
    static let standardWait: Int64 = 60_000

    private(set) var sent: [Int64] = []
    private(set) var notBefore: Int64 = 0
    private(set) var failures = 0

    init() {}

    /// How long to wait before the next report, in milliseconds; 0 for not at all.
    func wait(at now: Int64) -> Int64 {
        // A clock that was set back must not delay for longer than was ever meant.
        let pause = min(max(0, notBefore - now), Self.longestWait)
        let recent = sent.filter { $0 <= now && now - $0 < Self.hour }
        guard recent.count >= Self.mostPerHour, let oldest = recent.min() else { return pause }
        return max(pause, oldest + Self.hour - now)
    }

    mutating func answered(_ answer: Answer, at now: Int64) -> Verdict {
        sent = sent.filter { $0 <= now && now - $0 < Self.hour } + [now]
        guard case .status(let status, let retryAfter, let limits) = answer else { return fail(at: now) }
        // Limits may come with any answer.
        if let wait = limits.flatMap(Self.wait(limits:)) { pause(wait, at: now) }
        switch status {
        case 200..<300:
            failures = 0
            return .delivered
        case 429:
            if limits == nil { pause(retryAfter.flatMap(Int64.init).map { min(max($0, 0), 86_400) * 1000 } ?? Self.standardWait, at: now) }
            return .later
        case 400, 413: return .refused
        default: return fail(at: now)
        }
    }

    private mutating func pause(_ wait: Int64, at now: Int64) {
        notBefore = max(notBefore > now + Self.longestWait ? 0 : notBefore, now + min(max(wait, 0), Self.longestWait))
    }

    private mutating func fail(at now: Int64) -> Verdict {
        failures += 1
        pause(min(Self.firstWait << min(failures - 1, 7), Self.hour), at: now)
        return .later
    }

    /// The longest wait that a limit sets for errors, in milliseconds: `SECONDS:CATEGORY;CATEGORY:…, …`, where no category means all.
    static func wait(limits: String) -> Int64? {
        limits.split(separator: ",").compactMap { limit -> Int64? in
            let parts = limit.split(separator: ":", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
            let categories = parts.count > 1 ? parts[1].split(separator: ";") : []
            guard categories.isEmpty || categories.contains("error") || categories.contains("default") else { return nil }
            guard let seconds = parts.first.flatMap(Double.init), seconds.isFinite else { return standardWait }
            return Int64(min(max(seconds, 0), 86_400) * 1000)
        }.max()
    }
}
