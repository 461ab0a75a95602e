import FoundationEssentials
import TestSupport

/// What stands in for a Sentry: a server in Python that knows nothing of this project's code.
final class Endpoint: Sendable {
    /// One request as the server took it apart.
    struct Request: Decodable {
        var path: String
        var headers: [String: String]
        var size: Int
        var answer: Int
        var envelope: Envelope
    }

    struct Envelope: Decodable {
        struct Header: Decodable { var event_id: String }
        struct Item: Decodable {
            struct Header: Decodable { var type: String }
            var header: Header
            var payload: Event
        }
        var header: Header
        var items: [Item]
    }

    struct Event: Decodable {
        struct Exceptions: Decodable { var values: [Exception] }
        struct Exception: Decodable {
            struct Trace: Decodable { var frames: [Frame] }
            struct Mechanism: Decodable { var handled: Bool }
            var type: String
            var value: String
            var mechanism: Mechanism
            var stacktrace: Trace
        }
        struct Frame: Decodable {
            var instruction_addr: String
            var function: String?
            var package: String?
            var in_app: Bool
        }
        struct Images: Decodable { var images: [Image] }
        struct Image: Decodable {
            var code_id: String
            var debug_id: String
            var code_file: String
            var image_addr: String
        }
        struct States: Decodable { var values: [State] }
        struct State: Decodable { var message: String }

        var event_id: String
        var level: String
        var platform: String
        var release: String
        var environment: String
        var server_name: String?
        var exception: Exceptions
        var debug_meta: Images
        var breadcrumbs: States
    }

    static let key = "0123456789abcdef-key"

    let port: Int
    private let process: ChildProcess

    init(answers: String = "200", certificate: String? = nil) async throws {
        struct Start: Decodable { var port: Int }
        let options = ["--answers", answers] + (certificate.map { ["--certificate", $0] } ?? [])
        process = try ChildProcess("python3", ["\(Paths.root)/Tests/Peers/sentry.py"] + options)
        let line = try await process.line("its port") { $0.contains("port") }
        port = try JSONDecoder().decode(Start.self, from: Data(line.utf8)).port
    }

    func dsn(_ scheme: String = "http", host: String = "127.0.0.1") -> String { "\(scheme)://\(Self.key)@\(host):\(port)/42" }

    /// The requests until now, as they came.
    var lines: [String] { Array(process.lines.dropFirst()) }

    var requests: [Request] {
        get throws { try lines.map { try JSONDecoder().decode(Request.self, from: Data($0.utf8)) } }
    }
}
