import FoundationEssentials
import TestSupport

/// Mosquitto with the files of `deploy/broker` as they are, but for their ports and places.
final class ShippedBroker: Sendable {
    struct Failure: Error {
        let log: [String]
    }

    static let accounts = ["recognizer", "bridge", "homeassistant", "health"]
    /// Not one of the shipped accounts: may say and hear everything, to see what the others may.
    static let observer = "observer"

    let port: UInt16
    let securePort: UInt16
    let folder: String
    private let process: ChildProcess

    /// - Parameter encrypted: With the listener of `tls.conf` too, for the host name `localhost`.
    init(encrypted: Bool = false) async throws {
        (port, securePort) = (try freePort(), try freePort())
        folder = try Paths.temporaryFolder()
        var lines = ["user root", try Self.shipped("mosquitto.conf")]
        if encrypted {
            try await Self.makeCertificates(folder)
            lines.append(try Self.shipped("tls.conf"))
        }
        let configuration = lines.joined(separator: "\n")
            .replacing("listener 1883", with: "listener \(port) 127.0.0.1")
            .replacing("listener 8883", with: "listener \(securePort) 127.0.0.1")
            .replacing("/etc/mosquitto", with: folder)
        try Paths.write(configuration + "\nlog_type all\nsys_interval 1\n", to: "\(folder)/mosquitto.conf")
        try Paths.write(try Self.shipped("handkit.acl") + "\nuser \(Self.observer)\ntopic readwrite #\n", to: "\(folder)/handkit.acl")
        try Paths.write("", to: "\(folder)/handkit.passwords")
        for name in Self.accounts + [Self.observer] {
            try await ChildProcess("mosquitto_passwd", ["-b", "\(folder)/handkit.passwords", name, Self.password(of: name)]).wait()
        }
        process = try ChildProcess("mosquitto", ["-c", "\(folder)/mosquitto.conf"])
        try await process.line("that it runs") { $0.contains("running") || $0.contains("Error") }
        guard process.ending == nil, !process.errorLines.contains(where: { $0.contains("Error") }) else {
            throw Failure(log: process.errorLines)
        }
    }

    deinit {
        process.signal(9)
        Paths.remove(folder)
    }

    static func password(of account: String) -> String { "password of \(account)" }

    /// How a client of Mosquitto names an account.
    static func credentials(_ account: String?) -> [String] { account.map { ["-u", $0, "-P", password(of: $0)] } ?? [] }

    /// Publishes as `account`, or as nobody, and returns the client's exit code and what it complained of.
    @discardableResult
    func publish(_ topic: String, _ payload: String, as account: String?) async throws -> (ending: ChildProcess.Ending, said: String) {
        let client = try ChildProcess(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(port)", "-V", "mqttv5", "-q", "1", "-t", topic, "-m", payload] + Self.credentials(account))
        let ending = try await client.wait()
        return (ending, client.errorLines.joined(separator: "\n"))
    }

    /// Subscribes as `account`; returns when the broker has answered.
    func subscribe(_ filters: [String], as account: String) async throws -> ChildProcess {
        let id = "reader-\(account)"
        let client = try ChildProcess(
            "mosquitto_sub",
            ["-h", "127.0.0.1", "-p", "\(port)", "-V", "mqttv5", "-i", id, "-q", "1", "-F", "%t"] + filters.flatMap { ["-t", $0] }
                + Self.credentials(account))
        try await eventually("the broker answered the subscription of \(id), but \(client.errorLines)") {
            process.errorLines.contains { $0.hasSuffix("Sending SUBACK to \(id)") }
        }
        return client
    }

    private static func shipped(_ name: String) throws -> String {
        try String(contentsOfFile: "\(Paths.root)/deploy/broker/\(name)", encoding: .utf8)
    }

    private static func makeCertificates(_ folder: String) async throws {
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout"]
        try await ChildProcess("mkdir", ["\(folder)/tls"]).wait()
        let authority = try ChildProcess(
            "openssl", ["req", "-x509", "-subj", "/CN=Authority"] + key + ["\(folder)/tls/ca.key", "-out", "\(folder)/tls/ca.pem"])
        try await authority.wait()
        let broker = try ChildProcess(
            "openssl",
            ["req", "-x509", "-CA", "\(folder)/tls/ca.pem", "-CAkey", "\(folder)/tls/ca.key", "-subj", "/CN=broker"] + key
                + ["\(folder)/tls/broker.key", "-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"]
                + ["-out", "\(folder)/tls/broker.pem"])
        guard try await broker.wait() == .exited(0) else { throw Failure(log: broker.errorLines) }
    }
}
