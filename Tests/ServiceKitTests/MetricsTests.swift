import ServiceKit
import TestSupport
import Testing

struct MetricsTests {
    @Test func `metrics of a name stand together under one help, each with its labels`() {
        let metrics = Metrics()
        let toggles = metrics.counter("handkit_events_total", "Events.\nAll of them.", ["kind": "toggle"])
        let hands = metrics.gauge("handkit_hands", "Hands.")
        let slides = metrics.counter("handkit_events_total", "Events.", ["kind": "a \"b\" \\ c\n"])
        toggles.add()
        slides.add(2)
        hands.set(1.5)
        #expect(
            metrics.text() == """
                # HELP handkit_events_total Events.\\nAll of them.
                # TYPE handkit_events_total counter
                handkit_events_total{kind="toggle"} 1
                handkit_events_total{kind="a \\"b\\" \\\\ c\\n"} 2
                # HELP handkit_hands Hands.
                # TYPE handkit_hands gauge
                handkit_hands 1.5

                """)
    }

    @Test func `a histogram counts a value in every bucket that holds it`() {
        let metrics = Metrics()
        let histogram = metrics.histogram("handkit_wait_seconds", "Waiting.", bounds: [0.5, 1], ["lamp": "desk"])
        for value in [0.5, 0.75, 2, .nan, .infinity] { histogram.observe(value) }
        #expect(
            metrics.text() == """
                # HELP handkit_wait_seconds Waiting.
                # TYPE handkit_wait_seconds histogram
                handkit_wait_seconds_bucket{lamp="desk",le="0.5"} 1
                handkit_wait_seconds_bucket{lamp="desk",le="1"} 2
                handkit_wait_seconds_bucket{lamp="desk",le="+Inf"} 3
                handkit_wait_seconds_sum{lamp="desk"} 3.25
                handkit_wait_seconds_count{lamp="desk"} 3

                """)
    }

    @Test(.enabled(if: Paths.installed("promtool") != nil, "promtool, of Debian's package prometheus, is not installed"))
    func `Prometheus' own linter finds nothing to say`() async throws {
        let metrics = Metrics()
        metrics.describeProcess(program: "handkit-test", version: "1.2.3")
        metrics.counter("handkit_events_total", "Events.", ["kind": "to\\g\"gle\n"]).add()
        metrics.gauge("handkit_level_ratio", "A level.") { .nan }
        metrics.histogram("handkit_wait_seconds", "Waiting.", bounds: [0.001, 0.5, 1]).observe(0.2)
        let promtool = try ChildProcess("promtool", ["check", "metrics"], input: Array(metrics.text().utf8))
        #expect(try await promtool.wait() == .exited(0), "\(promtool.lines) \(promtool.errorLines)")
        #expect(promtool.errorLines == [])
    }

    @Test func `memory and processor time of the process are read`() throws {
        let metrics = Metrics()
        metrics.describeProcess(program: "handkit-test", version: "1.2.3")
        let line = try #require(metrics.text().split(separator: "\n").first { $0.hasPrefix("process_resident_memory_bytes ") })
        #expect(try #require(Double(line.split(separator: " ")[1])) > 1_000_000)
    }
}
