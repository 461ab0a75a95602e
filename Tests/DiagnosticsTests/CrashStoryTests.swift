import Contract
import CrashCapture
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// A bridge that crashes on purpose and is started again, with a real broker and something that takes envelopes.
private final class House: Sendable {
    static let password = "pass-of-the-broker"
    static let token = "token-of-the-page"

    let broker: Mosquitto
    let folder: String
    private let configuration: String

    init(_ diagnostics: String = "{}") async throws {
        (broker, folder) = (try await Mosquitto(), try Paths.temporaryFolder())
        configuration = "\(folder)/handkit.yaml"
        try configure(diagnostics)
    }

    deinit { Paths.remove(folder) }

    func configure(_ diagnostics: String) throws {
        try Paths.write(
            """
            mqtt: { host: 127.0.0.1, port: \(broker.port), username: someone, password: \(Self.password) }
            preview: { token: \(Self.token) }
            bridge: { id: house, state: \(folder)/state, discovery: false }
            diagnostics: \(diagnostics)
            """, to: configuration)
    }

    func start(_ options: [String] = [], environment: [String: String] = [:]) throws -> ChildProcess {
        // A proxy that is not there: whoever asked it would get no answer.
        let proxy = "http://127.0.0.1:9"
        let more = ["HANDKIT_CRASH_FOLDER": crashes, "http_proxy": proxy, "https_proxy": proxy, "all_proxy": proxy]
        return try ChildProcess(
            Paths.program("handkit-bridge"), ["run", "--config", configuration, "--log-format", "text"] + options,
            environment: more.merging(environment) { $1 })
    }

    /// Lets it crash, and returns how it ended.
    @discardableResult
    func crash(_ kind: CrashTest.Kind) async throws -> ChildProcess.Ending {
        try await start(["--crash-test", kind.rawValue]).wait()
    }

    func stop(_ bridge: ChildProcess) async throws {
        try await bridge.line("that it works") { $0.contains("connected to the broker") }
        bridge.signal(SIGTERM)
        #expect(try await bridge.wait() == .exited(0))
    }

    var crashes: String { "\(folder)/crashes" }

    func files(_ kind: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: crashes).filter { $0.hasSuffix(".\(kind)") }.sorted()
    }
}

struct CrashStoryTests {
    @Test(arguments: [
        (CrashTest.Kind.trap, [SIGILL, SIGTRAP], "crashTestTrap", "Fatal error: the crash test was asked for"),
        (.segv, [SIGSEGV], "crashTestRead", "SIGSEGV in crashTestRead"),
        (.abort, [SIGABRT], "crashTestAbort", "SIGABRT in crashTestAbort()"),
        (.exception, [SIGABRT], "ccrash_throw", "uncaught C++ exception: the crash test was asked for"),
    ])
    func `a crash is told of at the next start, on MQTT and to a Sentry, and then forgotten`(
        kind: CrashTest.Kind, signals: [Int32], function: String, message: String
    ) async throws {
        let endpoint = try await Endpoint()
        let house = try await House("{ sentry_dsn: '\(endpoint.dsn())', environment: test }")
        let ending = try await house.crash(kind)
        #expect(signals.map(ChildProcess.Ending.signalled).contains(ending))
        for file in try house.files("record") + house.files("backtrace") {
            var information = stat()
            #expect(stat("\(house.crashes)/\(file)", &information) == 0 && information.st_mode & 0o777 == 0o600)
            #expect(information.st_size > 0, "\(file) was written, on a stack for signals as little as a library's")
        }

        let bridge = try house.start()
        try await bridge.line("what had happened") { $0.contains("the program crashed before") && $0.contains(function) }
        try await eventually("everybody knew: \(bridge.errorLines)") { try house.files("report").isEmpty && endpoint.lines.count == 1 }
        #expect(try house.files("backtrace").count + house.files("record").count == 2, "those of the running bridge alone")

        let request = try #require(try endpoint.requests.first)
        #expect(request.path == "/api/42/envelope/")
        #expect(request.headers["x-sentry-auth"]?.contains("sentry_version=7, sentry_client=handkit/") == true)
        #expect(request.headers["x-sentry-auth"]?.hasSuffix("sentry_key=\(Endpoint.key)") == true)
        #expect(request.envelope.items.map(\.header.type) == ["event"])
        let event = try #require(request.envelope.items.first?.payload)
        #expect(event.event_id == request.envelope.header.event_id && event.event_id.count == 32)
        #expect((event.level, event.platform, event.environment) == ("fatal", "native", "test"))
        #expect(event.release.hasPrefix("handkit@") && event.server_name == nil)
        let exception = try #require(event.exception.values.first)
        #expect(exception.value.contains(message) && !exception.mechanism.handled)
        // The outermost frame comes first; the innermost of our own is the function that crashed.
        let own = exception.stacktrace.frames.filter(\.in_app)
        #expect(own.last?.function?.contains(function) == true, "\(exception.stacktrace.frames)")
        #expect(own.allSatisfy { $0.package == "handkit-bridge" })
        #expect(event.debug_meta.images.contains { $0.code_file == "handkit-bridge" || $0.code_file == "libc.so.6" })
        #expect(event.breadcrumbs.values.map(\.message) == ["started", "broker connected", "crash test"])

        let reader = try await house.broker.subscribe("handkit/bridge/house/crash", format: "%r %p")
        let line = try await reader.line("the retained crash") { $0.hasPrefix("1 ") }
        let diagnostic = try Payload.decode(CrashDiagnostic.self, from: Array(line.dropFirst(2).utf8))
        #expect((diagnostic.program, diagnostic.signal) == ("handkit-bridge", exception.type))
        #expect(diagnostic.function?.contains(function) == true)
        #expect(diagnostic.states == ["started", "broker connected", "crash test"])
        #expect(diagnostic.build.count == 40 && diagnostic.waiting == 1)

        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count)
        let host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let told = try #require(endpoint.lines.first) + line
        for secret in [House.password, House.token, "someone", house.folder, "\"\(host)\""] {
            #expect(!told.contains(secret), "\(secret) is told")
        }
        try await house.stop(bridge)
        #expect(try house.files("record").isEmpty && house.files("backtrace").isEmpty)
    }

    @Test(arguments: ["500", "429:Retry-After=3600", nil])
    func `what was not taken is kept, and told of when it is`(answers: String?) async throws {
        let first = try await answers.asyncMap { try await Endpoint(answers: $0) }
        // A port without a server.
        let dsn = try first?.dsn() ?? "http://\(Endpoint.key)@127.0.0.1:\(freePort())/42"
        let house = try await House("{ sentry_dsn: '\(dsn)' }")
        try await house.crash(.trap)
        let bridge = try house.start()
        try await bridge.line("that it was not taken") { $0.contains("a crash report was") && $0.contains("warning") }
        try await house.stop(bridge)
        #expect(try house.files("report").count == 1)

        // Hours later: nothing is remembered of the refusal.
        Paths.remove("\(house.crashes)/handkit-bridge.ledger")
        let second = try await Endpoint()
        try house.configure("{ sentry_dsn: '\(second.dsn())', host: livingroom }")
        let again = try house.start()
        try await eventually("it was taken: \(again.errorLines)") { try house.files("report").isEmpty }
        #expect(try second.requests.map(\.envelope.items.first?.payload.server_name) == ["livingroom"])
        try await house.stop(again)
    }

    @Test func `crashes in a loop fill neither the disk nor the other side`() async throws {
        let endpoint = try await Endpoint()
        let house = try await House("{ sentry_dsn: 'http://\(Endpoint.key)@127.0.0.1:\(freePort())/42' }")
        for _ in 0..<(CrashFolder.capacity + 3) { try await house.crash(.segv) }
        #expect(try house.files("record").count + house.files("report").count <= CrashFolder.capacity + 1)
        try house.configure("{ sentry_dsn: '\(endpoint.dsn())' }")
        Paths.remove("\(house.crashes)/handkit-bridge.ledger")
        let bridge = try house.start()
        try await eventually("six were sent: \(bridge.errorLines)") {
            try endpoint.lines.count == 6 && house.files("report").count == CrashFolder.capacity - 6
        }
        try await house.stop(bridge)
        let again = try house.start()
        try await house.stop(again)
        #expect(endpoint.lines.count == 6)
        #expect(Set(try endpoint.requests.map(\.envelope.header.event_id)).count == 6)
        #expect(try house.files("report").count == CrashFolder.capacity - 6)
    }

    @Test func `a report goes out encrypted to whom the certificate names, and to nobody else`() async throws {
        let house = try await House()
        let pem = "\(house.folder)/server.pem"
        let options = ["req", "-x509", "-subj", "/CN=sentry", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try await ChildProcess(
            "openssl", options + ["-keyout", pem, "-out", "\(pem).crt", "-addext", "subjectAltName=DNS:localhost"]
        ).wait()
        try await ChildProcess("sh", ["-c", "cat '\(pem).crt' >> '\(pem)'"]).wait()
        let endpoint = try await Endpoint(certificate: pem)
        try await house.crash(.abort)
        for (host, authority) in [("localhost", ""), ("127.0.0.1", ", ca_file: '\(pem).crt'")] {
            try house.configure("{ sentry_dsn: '\(endpoint.dsn("https", host: host))'\(authority) }")
            Paths.remove("\(house.crashes)/handkit-bridge.ledger")
            let bridge = try house.start()
            try await bridge.line("that it was not sent") { $0.contains("not sent") && $0.lowercased().contains("ssl") }
            try await house.stop(bridge)
        }
        #expect(endpoint.lines.isEmpty)
        try house.configure("{ sentry_dsn: '\(endpoint.dsn("https", host: "localhost"))', ca_file: '\(pem).crt' }")
        Paths.remove("\(house.crashes)/handkit-bridge.ledger")
        let bridge = try house.start()
        try await eventually("it was taken: \(bridge.errorLines)") { try house.files("report").isEmpty }
        #expect(endpoint.lines.count == 1)
        try await house.stop(bridge)
    }

    @Test func `without a backtracer the record alone names the function`() async throws {
        let house = try await House()
        // What a person asked of the backtracer is left as it is.
        let crashing = try house.start(["--crash-test", "segv"], environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(try await crashing.wait() == .signalled(SIGSEGV))
        #expect(try house.files("record").count == 1)
        let bridge = try house.start()
        try await bridge.line("where it crashed") { $0.contains("SIGSEGV in") && $0.contains("crashTestRead") }
        try await house.stop(bridge)
    }

    @Test(.enabled(if: geteuid() == 0)) func `root makes the folder for whoever owns the one around it`() async throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        #expect(chown(folder, 65_534, 65_534) == 0)
        let program = try ChildProcess(
            Paths.program("handkit-bridge"), ["--version"], environment: ["HANDKIT_CRASH_FOLDER": "\(folder)/crashes"])
        #expect(try await program.wait() == .exited(0))
        var information = stat()
        #expect(stat("\(folder)/crashes", &information) == 0 && information.st_uid == 65_534 && information.st_mode & 0o777 == 0o700)
    }

    @Test func `a program that cannot keep crashes says so once and works`() async throws {
        let house = try await House()
        let bridge = try house.start(environment: ["HANDKIT_CRASH_FOLDER": "/proc/nowhere"])
        try await bridge.line("that it works") { $0.contains("connected to the broker") }
        try await bridge.line("why crashes are not kept") { $0.contains("crashes cannot be kept") && $0.contains("/proc/nowhere") }
        try await house.stop(bridge)
        #expect(bridge.errorLines.count { $0.contains("crashes cannot be kept") } == 1)
    }
}

extension Optional where Wrapped: Sendable {
    fileprivate func asyncMap<Value>(_ transform: (Wrapped) async throws -> Value) async rethrows -> Value? {
        if let self { try await transform(self) } else { nil }
    }
}
