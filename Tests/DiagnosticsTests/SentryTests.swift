import Contract
import FoundationEssentials
import ServiceKit
import Settings
import Testing

@testable import Diagnostics

struct SentryAddressTests {
    @Test(arguments: [
        ("https://abc@sentry.example.org/42", "https://sentry.example.org/api/42/envelope/"),
        ("https://abc:old@sentry.example.org:8443/deep/er/42", "https://sentry.example.org:8443/deep/er/api/42/envelope/"),
        ("http://abc@127.0.0.1:9000/1", "http://127.0.0.1:9000/api/1/envelope/"),
        ("http://abc@[::1]:9/1", "http://[::1]:9/api/1/envelope/"),
    ])
    func `a DSN says where envelopes go`(dsn: String, url: String) throws {
        let address = try #require(SentryAddress(dsn: dsn))
        #expect(address.envelopes == url)
        #expect(address.key.revealed == "abc")
        #expect(!"\(address)".contains("abc"))
    }

    @Test(arguments: [
        "", "sentry.example.org/1", "https://sentry.example.org/1", "https://@sentry.example.org/1", "https://abc@sentry.example.org",
        "https://abc@sentry.example.org/", "https://abc@/1", "ftp://abc@sentry.example.org/1", "https://a b@sentry.example.org/1",
        "https://abc@sentry.example.org/1?x=y", "https://abc@sentry.example.org/1\r\nX: y", "http://abc@sentry.example.org/1",
        "http://abc@127.0.0.1.example.org/1",
    ])
    func `what is no DSN, or sends unencrypted to another machine, is refused`(dsn: String) {
        #expect(SentryAddress(dsn: dsn) == nil)
    }
}

struct SentryEventTests {
    @Test func `a build id becomes the debug id that Sentry computes`() {
        // The example of Sentry's own documentation of debug images.
        #expect(SentryEvent.debugID("68220ae2c65d65c1b6aaa12fa6765a6ec2f5f434") == "e20a2268-5dc6-c165-b6aa-a12fa6765a6e")
        #expect(SentryEvent.debugID("00ff") == nil)
        #expect(SentryEvent.debugID("") == nil)
    }
}

struct SentryScheduleTests {
    private func schedule(_ answers: [(SentrySchedule.Answer, Int64)]) -> SentrySchedule {
        var schedule = SentrySchedule()
        for (answer, time) in answers { _ = schedule.answered(answer, at: time) }
        return schedule
    }

    private func status(_ code: Int, retryAfter: String? = nil, limits: String? = nil) -> SentrySchedule.Answer {
        .status(code, retryAfter: retryAfter, limits: limits)
    }

    @Test(arguments: [
        (200, SentrySchedule.Verdict.delivered), (202, .delivered), (400, .refused), (413, .refused), (401, .later), (403, .later),
        (404, .later),
        (429, .later), (500, .later), (503, .later), (302, .later), (0, .later),
    ])
    func `an answer decides about a report`(code: Int, verdict: SentrySchedule.Verdict) {
        var schedule = SentrySchedule()
        #expect(schedule.answered(status(code), at: 0) == verdict)
    }

    @Test(
        arguments: [
            (nil, nil, 60_000), ("17", nil, 17_000), ("Wed, 21 Oct 2026 07:28:00 GMT", nil, 60_000), ("99999999999999999", nil, 86_400_000),
            ("-5", nil, 0), ("17", "5:error:organization", 5000), ("17", "5:transaction;error:key, 90::organization:quota", 90_000),
            ("17", "99999999999999999999:error", 86_400_000), ("17", "2700:transaction:organization", 0), ("17", "x:error", 60_000),
        ] as [(String?, String?, Int64)])
    func `who answers 429 is left alone for as long as they ask, within reason`(after: String?, limits: String?, wait: Int64) {
        #expect(schedule([(status(429, retryAfter: after, limits: limits), 1000)]).wait(at: 1000) == wait)
    }

    @Test func `a limit that comes with success holds as well`() {
        #expect(schedule([(status(200, limits: "30:error:key"), 0)]).wait(at: 10_000) == 20_000)
    }

    @Test func `waits grow with each failure and end with a success`() {
        var schedule = SentrySchedule()
        var (now, waits): (Int64, [Int64]) = (0, [])
        for _ in 0..<9 {
            _ = schedule.answered(.unreachable, at: now)
            waits.append(schedule.notBefore - now)
            now += SentrySchedule.hour
        }
        #expect(waits == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600].map { $0 * 1000 })
        _ = schedule.answered(status(200), at: now)
        #expect(schedule.failures == 0)
    }

    @Test func `no more than six reports go out within an hour`() {
        let full = schedule((0..<6).map { (status(200), $0 * 1000) })
        #expect(full.wait(at: 6000) == SentrySchedule.hour - 6000)
        #expect(full.wait(at: SentrySchedule.hour) == 0)
    }

    @Test func `a clock that is set back delays for a day at most`() {
        let full = schedule([(status(429, retryAfter: "60"), 1_000_000_000_000)])
        #expect(full.wait(at: 0) == SentrySchedule.longestWait)
        var later = full
        _ = later.answered(status(200), at: 0)
        #expect(later.wait(at: 0) == SentrySchedule.longestWait)
    }
}
