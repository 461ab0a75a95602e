import MQTT
import TestSupport
import Testing

/// An authority and what it signed, made with `openssl` for one test.
private final class Certificates {
    let folder: String

    init() async throws {
        folder = try Paths.temporaryFolder()
        try await openssl(["req", "-x509", "-subj", "/CN=Authority"] + newKey("authority") + ["-out", path("authority.pem")])
    }

    deinit {
        Paths.remove(folder)
    }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Makes `name.pem` and `name.key` for a host.
    func sign(_ name: String, host: String) async throws {
        try await openssl(
            ["req", "-x509", "-CA", path("authority.pem"), "-CAkey", path("authority.key"), "-subj", "/CN=\(name)"] + newKey(name)
                + ["-addext", "subjectAltName=DNS:\(host)", "-addext", "basicConstraints=critical,CA:FALSE", "-out", path("\(name).pem")])
    }

    private func newKey(_ name: String) -> [String] {
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path("\(name).key")]
    }

    private func openssl(_ arguments: [String]) async throws {
        let process = try ChildProcess("openssl", arguments)
        let ending = try await process.wait()
        try #require(ending == .exited(0), "\(process.errorLines)")
    }
}

struct `MQTT client over TLS` {
    private func broker(_ certificates: Certificates, host: String, more: [String] = []) async throws -> Mosquitto {
        try await certificates.sign("broker", host: host)
        return try await Mosquitto(
            settings: [
                "cafile \(certificates.path("authority.pem"))", "certfile \(certificates.path("broker.pem"))",
                "keyfile \(certificates.path("broker.key"))",
            ] + more)
    }

    private func configuration(_ broker: Mosquitto, _ tls: MQTTConfiguration.TLS) -> MQTTConfiguration {
        .test(broker.port) {
            $0.host = "localhost"
            $0.tls = tls
        }
    }

    @Test func `a broker whose certificate the authority signed is trusted`() async throws {
        let certificates = try await Certificates()
        let broker = try await broker(certificates, host: "localhost")
        try await withClient(configuration(broker, .init(authorityFile: certificates.path("authority.pem")))) { client, log in
            try await log.connection()
            client.subscribe([MQTTSubscription(try TopicFilter("loop"))])
            try await log.subscription()
            let text = String(repeating: "x", count: 100_000)
            try await client.publish(.test("loop", text))
            #expect(try await log.message("loop").payload == Array(text.utf8))
        }
    }

    @Test func `a certificate for another host is refused with a reason`() async throws {
        let certificates = try await Certificates()
        let broker = try await broker(certificates, host: "elsewhere.test")
        try await withClient(configuration(broker, .init(authorityFile: certificates.path("authority.pem")))) { _, log in
            _ = try await log.disconnection { if case .tls(let detail) = $0 { detail.contains("host name") } else { false } }
            #expect(log.connections == [])
        }
    }

    @Test func `a certificate of an unknown authority is refused with a reason`() async throws {
        let certificates = try await Certificates()
        let broker = try await broker(certificates, host: "localhost")
        try await withClient(configuration(broker, .init())) { _, log in
            _ = try await log.disconnection { if case .tls = $0 { true } else { false } }
            #expect(log.connections == [])
        }
    }

    @Test func `an authority file that is not there is named`() async throws {
        try await withClient(.test(1) { $0.tls = .init(authorityFile: "/no/such/file.pem") }) { _, log in
            _ = try await log.disconnection { $0 == .tls(detail: "unreadable: /no/such/file.pem") }
        }
    }

    @Test func `a broker that asks for it gets the client's own certificate`() async throws {
        let certificates = try await Certificates()
        let broker = try await broker(certificates, host: "localhost", more: ["require_certificate true", "use_identity_as_username true"])
        try await certificates.sign("lamp", host: "lamp")
        let identity = MQTTConfiguration.TLS.Identity(
            certificateFile: certificates.path("lamp.pem"), keyFile: certificates.path("lamp.key"))
        let tls = MQTTConfiguration.TLS(authorityFile: certificates.path("authority.pem"), identity: identity)
        try await withClient(configuration(broker, tls)) { _, log in try await log.connection() }
        #expect(broker.log.contains { $0.contains("u'lamp'") })
    }
}
