package import Glibc
import Synchronization

/// A real Mosquitto broker on a free port of 127.0.0.1; it ends with this object.
package final class Mosquitto: Sendable {
    package let port: UInt16

    private let folder: String
    private let readers = Atomic(0)
    private let process = Mutex<ChildProcess?>(nil)

    /// Starts a broker.
    /// - Parameters:
    ///   - users: names and passwords; anyone may enter where there are none.
    ///   - settings: more lines for `mosquitto.conf`, which belong to its one listener.
    ///   - logs: a log type of Mosquitto's; with `information` it says no word of each message, and ``subscribe(_:)`` cannot wait.
    package init(users: [String: String] = [:], settings: [String] = [], logs: String = "all") async throws {
        port = try freePort()
        folder = try Paths.temporaryFolder()
        var lines = ["listener \(port) 127.0.0.1", "user root", "log_dest stderr", "log_type \(logs)", "persistence false"]
        if users.isEmpty {
            lines.append("allow_anonymous true")
        } else {
            let file = "\(folder)/passwords"
            lines += ["allow_anonymous false", "password_file \(file)"]
            try Paths.write("", to: file)
            for (name, password) in users {
                try await ChildProcess("mosquitto_passwd", ["-b", file, name, password]).wait()
            }
        }
        try Paths.write((lines + settings).joined(separator: "\n") + "\n", to: "\(folder)/mosquitto.conf")
        try await start()
    }

    deinit {
        process.withLock { $0 = nil }
        Paths.remove(folder)
    }

    /// The broker's process; nil while it does not run.
    package var processID: pid_t? { process.withLock { $0?.id } }

    /// What the broker has logged since it last started.
    package var log: [String] { process.withLock { $0?.errorLines ?? [] } }

    /// Starts the broker again, on the same port, after ``kill()`` or ``stop()``.
    package func start() async throws {
        let started = try ChildProcess("mosquitto", ["-c", "\(folder)/mosquitto.conf"])
        process.withLock { $0 = started }
        try await started.line("that it runs") { $0.contains("running") || $0.contains("Error") }
        guard started.ending == nil, !started.errorLines.contains(where: { $0.contains("Error") }) else {
            throw MosquittoFailure(log: started.errorLines)
        }
    }

    /// Ends the broker without a goodbye to anyone, as a crash does.
    package func kill() async throws {
        try await end(with: SIGKILL)
    }

    /// Ends the broker in good order.
    package func stop() async throws {
        try await end(with: SIGTERM)
    }

    /// Makes the broker deaf: its connections stay, and nothing is answered until ``resume()``.
    package func suspend() {
        process.withLock { $0?.signal(SIGSTOP) }
    }

    package func resume() {
        process.withLock { $0?.signal(SIGCONT) }
    }

    private func end(with signal: Int32) async throws {
        let ending = process.withLock { process in
            defer { process = nil }
            return process
        }
        ending?.signal(signal)
        try await ending?.wait()
    }

    /// Starts `mosquitto_sub`, and returns once the broker has acknowledged its subscription.
    /// - Parameters:
    ///   - format: what it prints for a message, as its `-F`; `%t %r %p` are topic, retained flag and payload.
    ///   - options: more of its command line, such as `-u` and `-P`.
    package func subscribe(
        _ filter: String, format: String = "%t %p", clientID: String? = nil, options: [String] = []
    ) async throws -> ChildProcess {
        let id = clientID ?? "reader-\(readers.add(1, ordering: .relaxed).newValue)"
        let subscriber = try ChildProcess(
            "mosquitto_sub",
            ["-h", "127.0.0.1", "-p", "\(port)", "-V", "mqttv5", "-i", id, "-q", "1", "-t", filter, "-F", format] + options)
        try await eventually("the broker acknowledged the subscription of \(id), but \(subscriber.errorLines)") {
            log.contains { $0.hasSuffix("Sending SUBACK to \(id)") }
        }
        return subscriber
    }

    /// Publishes with `mosquitto_pub`.
    /// - Parameter options: more of its command line, such as `-r` for retained.
    package func publish(_ topic: String, _ payload: [UInt8], options: [String] = []) async throws {
        let publisher = try ChildProcess(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(port)", "-V", "mqttv5", "-q", "1", "-t", topic, payload.isEmpty ? "-n" : "-s"] + options,
            input: payload)
        let ending = try await publisher.wait()
        guard ending == .exited(0) else { throw MosquittoFailure(log: publisher.errorLines) }
    }
}

/// Mosquitto, or one of its clients, did not do what a test needs.
package struct MosquittoFailure: Error, CustomStringConvertible {
    package let log: [String]

    package var description: String { "Mosquitto failed: " + log.joined(separator: "; ") }
}
