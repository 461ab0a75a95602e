import FoundationEssentials
import Glibc

/// The project's own virtual lamp, as a process on a free port of 127.0.0.1; ends with this object.
package final class HandKitLamp: Sendable {
    /// One line of the lamp's output.
    package struct Event: Decodable, Sendable, Equatable {
        package var event: String
        package var mac: String?
        package var port: UInt16?
        package var paired: Bool?
        package var on: Bool?
        package var brightness: Int?
        package var by: String?
        package var tries: Int?
    }

    package static let code = "031-45-154"

    /// The accessory's pairing identifier.
    package let id: String
    package let port: UInt16
    package let processID: Int32

    private let process: ChildProcess
    private let folder: String
    private let ownsFolder: Bool

    /// Starts a lamp and waits until it listens.
    ///
    /// - Parameters:
    ///   - quirks: Values of `--quirk`.
    ///   - folder: Where it keeps who it is, so that it can be started again as the same; by default one of its own.
    ///   - options: More of its command line.
    package static func start(
        quirks: [String] = [], folder: String? = nil, isAnnounced: Bool = false, options: [String] = []
    ) async throws -> HandKitLamp {
        let ownsFolder = folder == nil
        let folder = try folder ?? Paths.temporaryFolder()
        var arguments = ["run", "--address", "127.0.0.1", "--state", "\(folder)/lamp", "--code", code] + options
        if !isAnnounced { arguments.append("--no-mdns") }
        arguments += quirks.flatMap { ["--quirk", $0] }
        let process = try ChildProcess(Paths.program("handkit-lamp"), arguments)
        let ready = try await eventually("the lamp was ready: \(process.errorLines)") {
            if process.ending != nil { throw Peers.Failure(what: "the lamp ended: \(process.errorLines)") }
            return events(process.lines).first { $0.event == "ready" }
        }
        guard let id = ready.mac, let port = ready.port else { throw Peers.Failure(what: "the lamp did not say who and where it is") }
        return HandKitLamp(process: process, id: id, port: port, folder: folder, ownsFolder: ownsFolder)
    }

    private init(process: ChildProcess, id: String, port: UInt16, folder: String, ownsFolder: Bool) {
        (self.process, self.id, self.port, self.folder, self.ownsFolder) = (process, id, port, folder, ownsFolder)
        processID = process.id
    }

    deinit {
        process.signal(SIGKILL)
        if ownsFolder { Paths.remove(folder) }
    }

    /// All that the lamp has told of until now.
    package var events: [Event] { Self.events(process.lines) }

    /// The text of the lamp's QR code.
    package func payload() async throws -> String {
        let code = try ChildProcess(Paths.program("handkit-lamp"), ["code", "--state", "\(folder)/lamp"])
        try await code.wait()
        let words = String(decoding: code.output, as: UTF8.self).split { $0.isWhitespace }
        guard let payload = words.first(where: { $0.hasPrefix("X-HM://") }) else { throw Peers.Failure(what: "the lamp has no payload") }
        return String(payload)
    }

    /// Switches the lamp as a hand on it would.
    package func toggle() { process.signal(SIGUSR1) }

    /// Ends the lamp in good order and returns how it ended.
    package func stop() async throws -> ChildProcess.Ending {
        process.signal(SIGTERM)
        return try await process.wait()
    }

    private static func events(_ lines: [String]) -> [Event] {
        let decoder = JSONDecoder()
        return lines.compactMap { try? decoder.decode(Event.self, from: Data($0.utf8)) }
    }
}
