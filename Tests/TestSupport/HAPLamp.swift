import FoundationEssentials
import Glibc

/// A real HomeKit light bulb, HAP-python's, on a free port of 127.0.0.1; ends with this object.
package final class HAPLamp: Sendable {
    /// Something the bulb told of.
    package struct Event: Decodable, Sendable {
        /// `ready`, `set`, `local`, `identify`, `paired` or `unpaired`.
        package var event: String
        /// Seconds of the monotonic clock.
        package var time: Double
        package var mac: String?
        package var port: UInt16?
        package var paired: Bool?
        package var on: Bool?
        package var brightness: Int?
    }

    package static let code = "031-45-154"

    /// The accessory's pairing identifier.
    package let id: String
    package let port: UInt16
    package var host: String { "127.0.0.1" }

    private let process: ChildProcess
    private let folder: String
    private let ownsFolder: Bool

    /// Starts a bulb and waits until it listens.
    ///
    /// - Parameters:
    ///   - port: A free one by default.
    ///   - folder: Where the bulb keeps its keys and pairings, so that it can be started again as the same; by default one of its own.
    package static func start(port: UInt16? = nil, folder: String? = nil, code: String = code, isAnnounced: Bool = false) async throws
        -> HAPLamp
    {
        let ownsFolder = folder == nil
        let folder = try folder ?? Paths.temporaryFolder()
        for _ in 0..<5 {
            let attempt = try port ?? freePort()
            let process = try launch(port: attempt, folder: folder, code: code, isAnnounced: isAnnounced)
            try await eventually("the lamp was ready") { process.ending != nil || !events(process.lines).isEmpty }
            let ready = events(process.lines).first { $0.event == "ready" }
            if let id = ready?.mac {
                return HAPLamp(process: process, id: id, port: attempt, folder: folder, ownsFolder: ownsFolder)
            }
            try await process.wait()
            let reason = String(decoding: process.errorOutput, as: UTF8.self)
            // A free port may be taken by another test before the lamp listens on it.
            guard port == nil, reason.contains("address already in use") else { throw Peers.Failure(what: "the lamp ended: \(reason)") }
        }
        throw Peers.Failure(what: "no port stayed free for the lamp")
    }

    private static func launch(port: UInt16, folder: String, code: String, isAnnounced: Bool) throws -> ChildProcess {
        try ChildProcess(
            try Peers.python(),
            [
                "\(Paths.root)/Tests/Peers/hap_lamp.py", "--address", "127.0.0.1", "--port", String(port), "--code", code, "--state",
                "\(folder)/lamp.json",
            ] + (isAnnounced ? ["--mdns"] : []))
    }

    private init(process: ChildProcess, id: String, port: UInt16, folder: String, ownsFolder: Bool) {
        self.process = process
        self.id = id
        self.port = port
        self.folder = folder
        self.ownsFolder = ownsFolder
    }

    deinit {
        process.signal(SIGKILL)
        if ownsFolder { Paths.remove(folder) }
    }

    /// All that the bulb has told of until now.
    package var events: [Event] { Self.events(process.lines) }

    /// What controllers have written until now.
    package var writes: [Event] { events.filter { $0.event == "set" } }

    /// Switches the bulb as a hand on it would.
    package func toggle() { process.signal(SIGUSR1) }

    /// Halts the bulb with its connections open, or lets it go on: a lamp that has hung.
    package func freeze(_ frozen: Bool) { process.signal(frozen ? SIGSTOP : SIGCONT) }

    /// Ends the bulb and waits until it is gone.
    package func stop() async throws {
        process.signal(SIGKILL)
        try await process.wait()
    }

    private static func events(_ lines: [String]) -> [Event] {
        let decoder = JSONDecoder()
        return lines.compactMap { try? decoder.decode(Event.self, from: Data($0.utf8)) }
    }
}

/// Programs of others that tests talk to, in a Python environment made by `deploy/setup`.
package enum Peers {
    package struct Failure: Error, CustomStringConvertible {
        package var what: String
        package var description: String { what }
    }

    /// The environment's Python: `HANDKIT_PEERS_PYTHON`, or the one in the project's prefix.
    package static func python() throws -> String {
        let path = Paths.environment("HANDKIT_PEERS_PYTHON") ?? "\(Paths.prefix)/peers/bin/python"
        guard access(path, X_OK) == 0 else {
            throw Failure(what: "no Python with HAP-python and aiohomekit at \(path): run deploy/setup")
        }
        return path
    }
}
