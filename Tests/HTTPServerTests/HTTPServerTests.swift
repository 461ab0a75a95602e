import Glibc
import HTTPServer
import TestSupport
import Testing

/// A server with curl, and sockets where curl is too well-behaved, as its clients.
struct HTTPServerTests {
    /// Echoes what it was asked; below `/stream` whatever the test sends.
    private static func server(
        access: HTTPAccess = HTTPAccess(), limits: HTTPLimits = HTTPLimits(), broadcast: HTTPBroadcast? = nil
    ) throws -> HTTPServer {
        var configuration = HTTPServer.Configuration()
        configuration.access = access
        configuration.limits = limits
        return try HTTPServer(configuration) { request in
            if request.path == "/stream" {
                return broadcast?.join().map { .stream($0, type: "text/plain") } ?? .text("full", status: 503)
            }
            return .text("\(request.method) \(request.path) \(request.query.map { "\($0.name)=\($0.value)" }) \(request.body.count)")
        }
    }

    private struct Answer {
        var status: String
        var body: String
    }

    private func curl(_ server: HTTPServer, _ path: String, _ options: [String] = []) async throws -> Answer {
        let process = try ChildProcess(
            "curl",
            ["--silent", "--show-error", "--path-as-is", "--max-time", "20", "--write-out", "\n%{http_code}"] + options
                + ["http://127.0.0.1:\(server.port)\(path)"])
        try await process.wait(within: .seconds(30))
        let text = String(decoding: process.output, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return Answer(status: String(lines.last ?? ""), body: lines.dropLast().joined(separator: "\n"))
    }

    private func expect(
        _ status: String, from server: HTTPServer, _ path: String, _ options: [String] = [],
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await curl(server, path, options)
        #expect(answer.status == status, "\(path) \(options)", sourceLocation: location)
    }

    private func whileServing(
        _ server: HTTPServer, _ body: () async throws -> Void
    ) async throws {
        do {
            try await body()
        } catch {
            await stop(server)
            throw error
        }
        await stop(server)
    }

    private func stop(_ server: HTTPServer) async {
        await withCheckedContinuation { continuation in
            startThread {
                server.stop()
                continuation.resume()
            }
        }
    }

    @Test func `curl gets what the handler answers`() async throws {
        let server = try Self.server()
        try await whileServing(server) {
            let got = try await curl(server, "/a%20b?x=1&y=%C3%A4")
            #expect(got.status == "200")
            #expect(got.body == "GET /a b [\"x=1\", \"y=ä\"] 0\n")
            let posted = try await curl(server, "/", ["--data-binary", String(repeating: "x", count: 60_000)])
            #expect(posted.body.hasSuffix(" 60000\n"))
            try await expect("200", from: server, "/", ["--head"])
        }
    }

    @Test func `another name than its own is refused, as a page whose name was pointed here would send it`() async throws {
        let server = try Self.server(access: HTTPAccess(hosts: ["Pi.local"]))
        try await whileServing(server) {
            for host in ["evil.example", "evil.example:\(server.port)", "localhost.evil.example", "127.0.0.1.evil.example", "[::1", "a:b"] {
                let status = try await curl(server, "/", ["--header", "Host: \(host)"]).status
                #expect(status == "421" || status == "400", "\(host)")
            }
            for host in ["localhost", "LOCALHOST:1234", "127.0.0.1", "[::1]:80", "pi.local"] {
                try await expect("200", from: server, "/", ["--header", "Host: \(host)"])
            }
            try await expect("400", from: server, "/", ["--http1.0", "--header", "Host:"])
        }
    }

    @Test func `a token opens as query, bearer or cookie, and nothing else does`() async throws {
        let server = try Self.server(access: HTTPAccess(token: "s3cret", openPaths: ["/healthz"]))
        try await whileServing(server) {
            for options in [
                [], ["--header", "Authorization: Bearer s3cre"], ["--header", "Authorization: Bearer s3crets3cret"],
                ["--header", "Authorization: Bearer "], ["--cookie", "handkit_token=other"], ["--user", "s3cret:s3cret"],
            ] {
                try await expect("401", from: server, "/", options)
            }
            try await expect("401", from: server, "/?token=")
            try await expect("200", from: server, "/?token=s3cret")
            try await expect("200", from: server, "/", ["--header", "Authorization: Bearer s3cret"])
            try await expect("200", from: server, "/", ["--cookie", "a=b; handkit_token=s3cret"])
            try await expect("200", from: server, "/healthz")
        }
    }

    @Test func `a page of another origin may not change anything`() async throws {
        let server = try Self.server()
        try await whileServing(server) {
            let own = "http://127.0.0.1:\(server.port)"
            try await expect("200", from: server, "/", ["--data", "x", "--header", "Origin: \(own)"])
            for header in [
                "Origin: http://evil.example", "Origin: null", "Origin: https://127.0.0.1:\(server.port)", "Sec-Fetch-Site: cross-site",
            ] {
                try await expect("403", from: server, "/", ["--data", "x", "--header", header])
            }
        }
    }

    @Test func `a body that is too large is refused, announced or not`() async throws {
        let server = try Self.server()
        let file = try Paths.temporaryFolder() + "/body"
        try Paths.write(String(repeating: "x", count: 200_000), to: file)
        try await whileServing(server) {
            try await expect("413", from: server, "/", ["--data-binary", "@\(file)", "--header", "Expect:"])
            let chunked = ["--data-binary", "@\(file)", "--header", "Transfer-Encoding: chunked", "--header", "Expect:"]
            try await expect("413", from: server, "/", chunked)
        }
        Paths.remove(file)
    }

    @Test func `malformed and oversized heads end their own connection and nothing else`() async throws {
        var limits = HTTPLimits()
        limits.requestSeconds = 1
        let server = try Self.server(limits: limits)
        try await whileServing(server) {
            var requests: [[UInt8]] = [
                Array("\r\n\r\n\r\n".utf8), Array("GET\r\n\r\n".utf8), Array("GET / HTTP/9.9\r\nHost: localhost\r\n\r\n".utf8),
                Array("GET / HTTP/1.1\r\nHost localhost\r\n\r\n".utf8),
                Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n".utf8),
                Array("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n".utf8),
                Array("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n".utf8),
                Array(("GET /" + String(repeating: "a", count: 100_000) + " HTTP/1.1\r\n\r\n").utf8),
                Array(("GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 20_000) + "\r\n").utf8),
            ]
            var random = SplitMix(seed: 7)
            for _ in 0..<111 {
                requests.append((0..<Int.random(in: 1...300, using: &random)).map { _ in .random(in: 0...255, using: &random) })
            }
            // Some are taken for the beginning of a request, whose rest is then waited for.
            while !requests.isEmpty {
                let batch = requests.prefix(40)
                requests.removeFirst(batch.count)
                let clients = try batch.map { request in
                    let client = try Client(port: server.port)
                    client.send(request)
                    client.shutdownSending()
                    return (client, request)
                }
                for (client, request) in clients {
                    let answer = String(decoding: client.readToEnd(), as: UTF8.self)
                    #expect(!answer.hasPrefix("HTTP/1.1 200"), "\(String(decoding: request.prefix(60), as: UTF8.self))")
                }
            }
            try await expect("200", from: server, "/")
        }
    }

    @Test func `clients that drip a byte at a time are cut off, and others are served meanwhile`() async throws {
        var limits = HTTPLimits()
        limits.connections = 20
        limits.connectionsPerAddress = 20
        limits.requestSeconds = 2
        let server = try Self.server(limits: limits)
        try await whileServing(server) {
            let drippers = try (0..<20).map { _ in try Client(port: server.port) }
            let dripping = Task {
                while !Task.isCancelled {
                    for client in drippers { client.send(Array("G".utf8)) }
                    try? await Task.sleep(for: .milliseconds(100))
                }
            }
            // Every place is taken by them; this one waits in the queue until they are thrown out.
            try await expect("200", from: server, "/")
            dripping.cancel()
            await dripping.value
            #expect(drippers.allSatisfy { $0.isClosedByPeer() })
        }
    }

    @Test func `a stream gives a slow client the newest and holds no more than its bound`() async throws {
        let broadcast = HTTPBroadcast(capacity: 2, limit: 8)
        let server = try Self.server(broadcast: broadcast)
        try await whileServing(server) {
            #expect(!broadcast.isWatched)
            let slow = try Client(port: server.port)
            slow.send(Array("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
            try await eventually("the client watches") { broadcast.watcherCount == 1 }
            // Far more than the kernel's buffers of a connection hold.
            for number in 0..<2000 { broadcast.send(Array("message \(number) ".utf8) + [UInt8](repeating: 0x2e, count: 20_000) + [0x0a]) }
            #expect(broadcast.droppedCount > 1000)
            let text = String(decoding: slow.read { $0.contains("message 1999 ") }, as: UTF8.self)
            #expect(text.contains("message 1998 "))
            slow.close()
            try await eventually("the server notices that the client left") {
                broadcast.send([0x0a])
                return !broadcast.isWatched
            }
        }
    }

    @Test func `a client that leaves a silent stream is noticed, and there are only so many watchers`() async throws {
        let broadcast = HTTPBroadcast(capacity: 1, limit: 2)
        let server = try Self.server(broadcast: broadcast)
        try await whileServing(server) {
            let clients = try (0..<2).map { _ in try Client(port: server.port) }
            for client in clients { client.send(Array("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)) }
            try await eventually("both watch") { broadcast.watcherCount == 2 }
            try await expect("503", from: server, "/stream")
            for client in clients { client.close() }
            try await eventually("both are noticed to have left") { !broadcast.isWatched }
        }
    }

    @Test func `stopping ends streams that wait for something to say`() async throws {
        let broadcast = HTTPBroadcast(capacity: 1, limit: 2)
        let server = try Self.server(broadcast: broadcast)
        let client = try Client(port: server.port)
        client.send(Array("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        try await eventually("it watches") { broadcast.isWatched }
        await stop(server)
        #expect(String(decoding: client.readToEnd(), as: UTF8.self).hasPrefix("HTTP/1.1 200"))
        #expect(!broadcast.isWatched)
    }

    @Test func `an address that is none, or taken, is an error that says so`() throws {
        var configuration = HTTPServer.Configuration()
        configuration.address = "localhost"
        #expect(throws: HTTPServerError.notAnAddress("localhost")) { try HTTPServer(configuration) { _ in .text("") } }
        let server = try Self.server()
        configuration.address = "127.0.0.1"
        configuration.port = server.port
        #expect(throws: HTTPServerError.system(operation: "bind", code: EADDRINUSE)) { try HTTPServer(configuration) { _ in .text("") } }
        server.stop()
    }
}

/// Numbers that are the same in every run.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
