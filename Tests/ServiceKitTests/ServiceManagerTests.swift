import Glibc
import ServiceKit
import TestSupport
import Testing

/// What systemd does: it has a socket and reads what a service tells.
private final class NotifySocket: Sendable {
    let name: String
    private let descriptor: Int32
    private let folder: String?

    /// - Parameter isAbstract: The name is no file.
    init(isAbstract: Bool = false) throws {
        folder = isAbstract ? nil : try Paths.temporaryFolder()
        name = folder.map { "\($0)/notify" } ?? "@handkit-test-\(getpid())-\(UInt32.random(in: .min ... .max))"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = isAbstract ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard descriptor >= 0, status == 0 else { throw SystemCallFailure("bind \(name)") }
    }

    deinit {
        close(descriptor)
        if let folder { Paths.remove(folder) }
    }

    /// The next message; nil where none waits.
    func read() -> String? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    func next() async throws -> String { try await eventually("a message came") { read() } }
}

struct ServiceManagerTests {
    @Test(arguments: [true, false]) func `messages arrive at a socket with and without a file`(isAbstract: Bool) async throws {
        let socket = try NotifySocket(isAbstract: isAbstract)
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": socket.name]))
        try await manager.tell(.ready)
        try await manager.tell(.stopping)
        #expect(socket.read() == "READY=1")
        #expect(socket.read() == "STOPPING=1")
        #expect(socket.read() == nil)
    }

    @Test(arguments: [[:], ["NOTIFY_SOCKET": ""], ["NOTIFY_SOCKET": "@"], ["NOTIFY_SOCKET": "vsock:2:1"], ["NOTIFY_SOCKET": "relative"]])
    func `without a socket that is understood there is nobody to tell`(environment: [String: String]) {
        #expect(ServiceManager(environment: environment) == nil)
    }

    @Test func `a name that no socket can have is nobody`() {
        #expect(ServiceManager(environment: ["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)]) == nil)
    }

    @Test func `the watchdog is fed twice in its time, by the process it is meant for`() {
        func interval(_ environment: [String: String]) -> Duration? {
            ServiceManager(environment: environment.merging(["NOTIFY_SOCKET": "/x"]) { $1 }, processID: 7)?.watchdogInterval
        }
        #expect(interval(["WATCHDOG_USEC": "20000000"]) == .seconds(10))
        #expect(interval(["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "7"]) == .seconds(10))
        #expect(interval(["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "8"]) == nil)
        #expect(interval([:]) == nil)
        for rubbish in ["", "0", "-1", "many", "99999999999999999999"] { #expect(interval(["WATCHDOG_USEC": rubbish]) == nil) }
    }

    @Test func `a socket that is gone is an error with its errno`() async throws {
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": "/nonexistent/notify"]))
        let failure = await #expect(throws: ServiceManager.Failure.self) { try await manager.tell(.ready) }
        #expect(failure?.errno == ENOENT)
    }

    @Test func `a group says that it is ready, that it lives, and that it stops`() async throws {
        let socket = try NotifySocket()
        let manager = ServiceManager(environment: ["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "20000"])
        let group = ServiceGroup(
            [.init("a", ClosureService { await waitForShutdown() })],
            logger: Logger(program: "test", level: .debug, destination: LogCapture()), manager: manager, signals: [])
        async let running: Void = group.run()
        #expect(try await socket.next() == "READY=1")
        #expect(try await socket.next() == "WATCHDOG=1")
        #expect(try await socket.next() == "WATCHDOG=1")
        group.stop()
        try await running
        try await eventually("it said that it stops") { socket.read() == "STOPPING=1" }
    }

    @Test func `a group runs though its manager is gone, and says so`() async throws {
        let log = LogCapture()
        let group = ServiceGroup(
            [.init("a", ClosureService { await waitForShutdown() })], logger: Logger(program: "test", level: .debug, destination: log),
            manager: ServiceManager(environment: ["NOTIFY_SOCKET": "/nonexistent/notify"]), signals: [])
        async let running: Void = group.run()
        try await eventually("it was logged") { log.records.contains { $0.message == "systemd was not reached" } }
        group.stop()
        try await running
    }
}
