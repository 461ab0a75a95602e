internal import Dispatch
public import HTTPServer
public import ServiceKit
public import Settings

/// Serves a program's metrics at `/metrics`, its health at `/healthz`, and whatever else it has to show.
public struct MonitoringService: Service {
    private let settings: Settings.HTTP
    private let handler: HTTPServer.Handler
    private let logger: Logger

    /// - Parameters:
    ///   - health: Asked at every look at `/healthz`, on the server's thread.
    ///   - page: Answers every other path.
    public init(
        settings: Settings.HTTP, metrics: Metrics, health: @escaping @Sendable () -> Health, logger: Logger,
        page: @escaping HTTPServer.Handler = { _ in .text("there is /metrics and /healthz", status: 404) }
    ) {
        (self.settings, self.logger) = (settings, logger)
        handler = { request in
            switch request.path {
            case "/metrics", "/healthz":
                guard request.method == "GET" || request.method == "HEAD" else {
                    return .text("only GET", status: 405).with("Allow", "GET, HEAD")
                }
                if request.path == "/metrics" { return HTTPResponse(type: Metrics.contentType, Array(metrics.text().utf8)) }
                let health = health()
                return HTTPResponse(status: health.isFine ? 200 : 503, type: "application/json", Array("\(health.json)\n".utf8))
            default:
                return page(request)
            }
        }
    }

    /// Serves until the service is asked to end.
    /// - Throws: ``HTTPServerError`` where it cannot listen.
    public func run() async throws {
        var configuration = HTTPServer.Configuration()
        (configuration.address, configuration.port) = (settings.address, settings.port)
        // Probes of an orchestrator bring no token, and what they learn is no secret.
        configuration.access = HTTPAccess(hosts: Set(settings.hosts), token: settings.token?.revealed, openPaths: ["/healthz"])
        let server = try HTTPServer(configuration, handler: handler)
        let host = settings.address.contains(":") ? "[\(settings.address)]" : settings.address
        logger.notice("serving HTTP", ["url": "http://\(host):\(server.port)/"])
        await waitForShutdown()
        await withCheckedContinuation { continuation in
            // Stopping blocks until the server's threads are gone.
            DispatchQueue(label: "http-stop").async {
                server.stop()
                continuation.resume()
            }
        }
    }
}

extension HTTPServerError: UserFacingFailure {
    public var reports: [FailureReport] {
        switch self {
        case .notAnAddress(let text):
            [FailureReport("'\(text)' is no address", remedy: "set an IPv4 or IPv6 address of this machine")]
        case .system(let operation, let code):
            [
                FailureReport(
                    "cannot serve HTTP, \(operation) failed: \(systemMessage(code))",
                    remedy: "check address and port of 'preview' or 'bridge.http': another program may have the port")
            ]
        case .library:
            [FailureReport("cannot serve HTTP: libmicrohttpd did not start")]
        }
    }
}
