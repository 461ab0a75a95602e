import Glibc
import TestSupport
import Testing

@testable import HomeKit

@Suite struct `Connecting` {
    private let code: SetupCode

    init() throws { code = try SetupCode(HAPLamp.code) }

    @Test func `to a port where nothing listens is refused with the system's reason`() async throws {
        let port = try freePort()
        await #expect(throws: HAPError.connectFailed(host: "127.0.0.1", port: port, errno: ECONNREFUSED)) {
            try await HAPPairing.pair(at: [HAPAddress(host: "127.0.0.1", port: port)], code: code)
        }
    }

    @Test func `to a name that cannot exist says so`() async throws {
        await #expect {
            try await HAPPairing.pair(at: [HAPAddress(host: "lamp.invalid", port: 1)], code: code)
        } throws: { error in
            guard case HAPError.unresolvable(host: "lamp.invalid", _)? = error as? HAPError else { return false }
            return true
        }
    }

    @Test func `to a server of another kind says that it is no HAP accessory`() async throws {
        let server = try Listener(answering: Array("SSH-2.0-OpenSSH_9.2\r\n".utf8))
        await #expect(throws: HAPError.notHAP(host: "127.0.0.1", port: server.port)) {
            try await HAPPairing.pair(at: [HAPAddress(host: "127.0.0.1", port: server.port)], code: code)
        }
    }

    @Test func `to a web server says that it is no HAP accessory`() async throws {
        let server = try Listener(answering: Array("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".utf8))
        await #expect(throws: HAPError.notHAP(host: "127.0.0.1", port: server.port)) {
            try await HAPPairing.pair(at: [HAPAddress(host: "127.0.0.1", port: server.port)], code: code)
        }
    }

    @Test func `to a server that hangs up at once says so`() async throws {
        let server = try Listener(answering: [])
        await #expect(throws: HAPError.closed(errno: 0)) {
            try await HAPPairing.pair(at: [HAPAddress(host: "127.0.0.1", port: server.port)], code: code)
        }
    }

    @Test func `to a server that says nothing ends at the deadline`() async throws {
        let server = try Listener(answering: nil)
        let timeouts = HAPTimeouts(pairSetup: .milliseconds(100))
        await #expect(throws: HAPError.timedOut(.pairSetupStart)) {
            try await HAPPairing.pair(at: [HAPAddress(host: "127.0.0.1", port: server.port)], code: code, timeouts: timeouts)
        }
    }

    @Test func `is given up when nobody waits any more`() async throws {
        let server = try Listener(answering: nil)
        let task = Task { try await HAPPairing.pair(at: [HAPAddress(host: "127.0.0.1", port: server.port)], code: code) }
        try await eventually("somebody connected") { server.hasCaller }
        task.cancel()
        await #expect(throws: HAPError.cancelled) { try await task.value }
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `takes numeric hosts of either family without asking anybody`(host: String) async throws {
        let addresses = try await SocketAddress.resolve(HAPAddress(host: host, port: 1))
        #expect(addresses.map(\.host) == [host])
    }
}
