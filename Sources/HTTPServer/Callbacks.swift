internal import CMicroHTTPD
internal import Synchronization

/// What the callbacks of one server share.
final class ServerContext: Sendable {
    let access: HTTPAccess
    let limits: HTTPLimits
    let handler: HTTPServer.Handler
    let connections: ConnectionTable

    init(access: HTTPAccess, limits: HTTPLimits, handler: @escaping HTTPServer.Handler) {
        (self.access, self.limits, self.handler) = (access, limits, handler)
        connections = ConnectionTable(requestSeconds: limits.requestSeconds)
    }
}

/// A request while it arrives; used by the server's thread alone.
private final class Arrival {
    var request: HTTPRequest
    var isTooLarge = false

    init(_ request: HTTPRequest) { self.request = request }
}

private func context(_ pointer: UnsafeMutableRawPointer?) -> ServerContext? {
    pointer.map { Unmanaged<ServerContext>.fromOpaque($0).takeUnretainedValue() }
}

/// Called once for a request's head, then for each part of its body, then once more.
nonisolated func handleRequest(
    _ server: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?, _ part: UnsafePointer<CChar>?, _ partSize: UnsafeMutablePointer<Int>?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let server = context(server), let connection, let path, let method, let partSize, let slot else { return .NO }
    let socket = cmicrohttpd_socket(connection)
    guard let opaque = slot.pointee else {
        let request = HTTPRequest(
            method: String(cString: method), path: String(cString: path), query: fields(of: connection, .GET_ARGUMENT_KIND),
            headers: fields(of: connection, .HEADER_KIND))
        slot.pointee = Unmanaged.passRetained(Arrival(request)).toOpaque()
        let length = request.value(of: "Content-Length").flatMap { Int($0) } ?? 0
        if length > server.limits.bodyBytes {
            return queue(tooLarge(server.limits), on: connection, socket, server, method: request.method)
        }
        if let refusal = server.access.refusal(of: request) {
            return queue(refusal, on: connection, socket, server, method: request.method)
        }
        return .YES
    }
    let arrival = Unmanaged<Arrival>.fromOpaque(opaque).takeUnretainedValue()
    if partSize.pointee > 0, let part {
        if arrival.request.body.count + partSize.pointee > server.limits.bodyBytes { arrival.isTooLarge = true }
        if !arrival.isTooLarge {
            arrival.request.body += UnsafeRawBufferPointer(start: part, count: partSize.pointee)
        }
        partSize.pointee = 0
        return .YES
    }
    let response = arrival.isTooLarge ? tooLarge(server.limits) : server.handler(arrival.request)
    return queue(response, on: connection, socket, server, method: arrival.request.method)
}

private func tooLarge(_ limits: HTTPLimits) -> HTTPResponse {
    .text("a body may have \(limits.bodyBytes) bytes", status: 413)
}

nonisolated func requestCompleted(
    _ server: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ reason: MHD_RequestTerminationCode
) {
    if let opaque = slot?.pointee { Unmanaged<Arrival>.fromOpaque(opaque).release() }
    slot?.pointee = nil
    guard reason == .REQUEST_TERMINATED_COMPLETED_OK, let server = context(server), let connection else { return }
    server.connections.receive(cmicrohttpd_socket(connection))
}

nonisolated func connectionChanged(
    _ server: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ change: MHD_ConnectionNotificationCode
) {
    guard let server = context(server), let connection else { return }
    let socket = cmicrohttpd_socket(connection)
    if change == .CONNECTION_NOTIFY_STARTED { server.connections.opened(socket) } else { server.connections.closed(socket) }
}

// MARK: Headers

private func fields(of connection: OpaquePointer, _ kind: MHD_ValueKind) -> [HTTPRequest.Field] {
    var fields: [HTTPRequest.Field] = []
    withUnsafeMutablePointer(to: &fields) { pointer in
        _ = MHD_get_connection_values(
            connection, kind,
            { list, _, name, value in
                guard let list, let name else { return .YES }
                let text = value.map { String(cString: $0) } ?? ""
                list.assumingMemoryBound(to: [HTTPRequest.Field].self).pointee.append(.init(String(cString: name), text))
                return .YES
            }, pointer)
    }
    return fields
}

// MARK: Responses

/// A stream with the connection that it goes to, for the callbacks that read it.
private final class Outlet: Sendable {
    let stream: HTTPStream
    let connection: Connection

    struct Connection: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    init(_ stream: HTTPStream, _ connection: OpaquePointer) {
        (self.stream, self.connection) = (stream, Connection(pointer: connection))
    }
}

private func queue(
    _ response: HTTPResponse, on connection: OpaquePointer, _ socket: Int32, _ server: ServerContext, method: String
) -> MHD_Result {
    let raw: OpaquePointer?
    switch response.body {
    case .bytes(let bytes):
        raw = bytes.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
        server.connections.respond(socket)
    case .stream(let stream):
        let outlet = Unmanaged.passRetained(Outlet(stream, connection))
        raw = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN_VALUE, 65_536, readOutlet, outlet.toOpaque(), closeOutlet)
        if raw == nil { outlet.release() }
        server.connections.stream(stream, on: socket)
        // Nothing is read for a HEAD, and the stream would be watched by nobody.
        if method == "HEAD" { stream.finish() }
    }
    guard let raw else { return .NO }
    defer { MHD_destroy_response(raw) }
    for field in response.headers + [.init("X-Content-Type-Options", "nosniff"), .init("Cache-Control", "no-store")] {
        _ = MHD_add_response_header(raw, field.name, field.value)
    }
    return MHD_queue_response(connection, UInt32(response.status), raw)
}

/// `MHD_SIZE_UNKNOWN`, a macro with a cast.
private let MHD_SIZE_UNKNOWN_VALUE = UInt64.max

private nonisolated func readOutlet(
    _ outlet: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
) -> Int {
    guard let outlet, let buffer else { return -2 }
    let target = Unmanaged<Outlet>.fromOpaque(outlet).takeUnretainedValue()
    return target.stream.take(into: UnsafeMutableRawBufferPointer(start: buffer, count: size), connection: target.connection.pointer)
}

private nonisolated func closeOutlet(_ outlet: UnsafeMutableRawPointer?) {
    guard let outlet else { return }
    Unmanaged<Outlet>.fromOpaque(outlet).takeRetainedValue().stream.closed()
}
