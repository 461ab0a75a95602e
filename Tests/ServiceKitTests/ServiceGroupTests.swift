import Glibc
import ServiceKit
import TestSupport
import Testing

private struct Broken: Error, Equatable {}

/// Runs until it is asked to end, and says when it begins and ends.
private struct Obedient: Service {
    let name: String
    let events: Events

    func run() async throws {
        events.add("\(name) runs")
        await waitForShutdown()
        events.add(Task.isCancelled ? "\(name) cancelled" : "\(name) asked")
    }
}

/// Hears only cancellation.
private struct Deaf: Service {
    let events: Events

    func run() async throws {
        events.add("deaf runs")
        do {
            try await Task.sleep(for: .seconds(3600))
        } catch {
            events.add("deaf cancelled")
            throw error
        }
    }
}

/// Signals are of the whole process, so these run one after the other and use signals that nothing else does.
@Suite(.serialized) struct ServiceGroupTests {
    private let events = Events()
    private let log = LogCapture()

    private func group(
        _ members: [ServiceGroup.Member], signals: [Int32] = [], grace: Duration = .seconds(20)
    ) -> ServiceGroup {
        ServiceGroup(
            members, logger: Logger(program: "test", level: .debug, destination: log), signals: signals, grace: grace,
            patience: .seconds(20))
    }

    private func members(_ names: String...) -> [ServiceGroup.Member] {
        names.map { .init($0, Obedient(name: $0, events: events)) }
    }

    private func untilAllRun(_ count: Int) async throws {
        try await eventually("all services run") { events.all.count { $0.hasSuffix("runs") } == count }
    }

    @Test func `services are asked to end one after the other, the last first`() async throws {
        let group = group(members("broker", "lamps", "commands"))
        async let running: Void = group.run()
        try await untilAllRun(3)
        group.stop()
        try await running
        #expect(events.all.dropFirst(3) == ["commands asked", "lamps asked", "broker asked"])
    }

    @Test(arguments: [SIGUSR1, SIGUSR2]) func `a signal stops the group without an error`(signal: Int32) async throws {
        let group = group(members("a", "b"), signals: [SIGUSR1, SIGUSR2])
        async let running: Void = group.run()
        try await untilAllRun(2)
        kill(getpid(), signal)
        try await running
        #expect(events.all.suffix(2) == ["b asked", "a asked"])
        #expect(log.records.first { $0.message == "stopping" }?["signal"] == "\(signal)")
    }

    @Test func `a service that throws stops the others and its error is the group's`() async throws {
        let group = group(
            members("a") + [
                .init(
                    "broken",
                    ClosureService {
                        try await eventually("a runs") { events.all.contains("a runs") }
                        throw Broken()
                    })
            ] + members("c"))
        let error = await #expect(throws: ServiceGroupError.self) { try await group.run() }
        guard case .failed("broken", let reason) = error else {
            Issue.record("unexpected: \(String(describing: error))")
            return
        }
        #expect(reason is Broken)
        #expect(events.all.contains("a asked"))
        #expect(log.records.contains { $0.message == "service failed" && $0["service"] == "broken" })
    }

    @Test func `a service that returns unasked stops the others and is an error`() async throws {
        let group = group(members("a") + [.init("short", ClosureService {})])
        let error = await #expect(throws: ServiceGroupError.self) { try await group.run() }
        guard case .endedEarly("short") = error else {
            Issue.record("unexpected: \(String(describing: error))")
            return
        }
        #expect(events.all.last == "a asked")
    }

    @Test func `a service whose work may be done stops the others without an error when it returns`() async throws {
        try await group(members("a") + [.init("clip", ClosureService {}, mayEnd: true)]).run()
        #expect(events.all.last == "a asked")
        await #expect(throws: ServiceGroupError.self) {
            try await group([.init("clip", ClosureService { throw Broken() }, mayEnd: true)]).run()
        }
    }

    @Test func `a failure while stopping is reported too`() async throws {
        let group = group([
            .init(
                "sour",
                ClosureService {
                    events.add("sour runs")
                    await waitForShutdown()
                    throw Broken()
                })
        ])
        let running = Task { try await group.run() }
        try await untilAllRun(1)
        group.stop()
        await #expect(throws: ServiceGroupError.self) { try await running.value }
    }

    @Test func `a service that does not hear is cancelled when the grace is over, and that is no error`() async throws {
        let group = group(members("a") + [.init("deaf", Deaf(events: events))], grace: .milliseconds(50))
        async let running: Void = group.run()
        try await untilAllRun(2)
        group.stop()
        try await running
        #expect(events.all.contains("deaf cancelled"))
        #expect(log.records.contains { $0.level == .warning && $0["services"] == "a,deaf" })
    }

    @Test func `cancelling the caller cancels the services`() async throws {
        let group = group(members("a") + [.init("deaf", Deaf(events: events))])
        let running = Task { try await group.run() }
        try await untilAllRun(2)
        running.cancel()
        try await running.value
        #expect(events.all.contains("a cancelled") || events.all.contains("a asked"))
        #expect(events.all.contains("deaf cancelled"))
    }

    @Test func `work is cancelled by the shutdown and the goodbye after it is not`() async throws {
        let group = group([
            .init(
                "polite",
                ClosureService {
                    let nothing: Int? = try await cancelledByShutdown {
                        events.add("polite runs")
                        try await Task.sleep(for: .seconds(3600))
                        return 1
                    }
                    #expect(nothing == nil)
                    try await Task.sleep(for: .milliseconds(1))
                    events.add("goodbye")
                })
        ])
        async let running: Void = group.run()
        try await untilAllRun(1)
        group.stop()
        try await running
        #expect(events.all == ["polite runs", "goodbye"])
    }

    @Test func `work that ends by itself returns its value, and its own error is passed on`() async throws {
        #expect(try await cancelledByShutdown { 7 } == 7)
        await #expect(throws: Broken.self) { try await cancelledByShutdown { throw Broken() } }
    }

    @Test func `a second signal ends the process at once`() async {
        await #expect(processExitsWith: .exitCode(128 + SIGTERM)) {
            let group = ServiceGroup(
                [
                    .init(
                        "stubborn",
                        ClosureService {
                            kill(getpid(), SIGTERM)
                            await waitForShutdown()
                            kill(getpid(), SIGTERM)
                            try? await Task.sleep(for: .seconds(3600))
                        })
                ], logger: Logger(program: "test", destination: LogCapture()), grace: .seconds(600))
            try await group.run()
        }
    }

    @Test func `a process whose service blocks every thread and hears nothing still ends, with 1 and a line that names it`() async throws {
        let result = await #expect(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
            let group = ServiceGroup(
                [
                    .init(
                        "blocking",
                        ClosureService {
                            for _ in 0..<64 { Task.detached { sleep(3600) } }
                            kill(getpid(), SIGTERM)
                            sleep(3600)
                        })
                ], logger: Logger(program: "test", destination: LogStream(format: .json)), grace: .milliseconds(50),
                patience: .milliseconds(50))
            try await group.run()
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(output.contains(#""message":"services do not end, giving up","fields":{"services":"blocking"}"#))
    }
}
