import Glibc
import TestSupport

/// A peer in front of a real broker that speaks no MQTT 5: Mosquitto 2.0 cannot be told so.
///
/// It looks at the version in CONNECT (MQTT 5.0, 3.1.2.2) and passes 3.1.1 on, byte by byte.
final class VersionGate: Sendable {
    enum Refusal: Sendable, CaseIterable {
        /// CONNACK of MQTT 5 with reason 0x84.
        case reasonCode
        /// CONNACK of MQTT 3.1.1 with return code 1, as brokers answer that never heard of MQTT 5.
        case returnCode
        case hangUp
    }

    let port: UInt16
    private let listener: Int32

    init(_ refusal: Refusal, upstream: UInt16) throws {
        let (listener, port) = try listen(backlog: 8)
        self.listener = listener
        self.port = port
        startThread {
            while case let client = accept(listener, nil, nil), client >= 0 {
                startThread { Self.serve(client, refusal, upstream) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(_ client: Int32, _ refusal: Refusal, _ upstream: UInt16) {
        var connect = [UInt8](repeating: 0, count: 4096)
        let count = read(client, &connect, connect.count)
        // Fixed header and length (2), length and name of the protocol (6), version.
        if count > 9 && connect[8] == 5 {
            let answer: [UInt8] =
                switch refusal {
                case .reasonCode: [0x20, 0x03, 0x00, 0x84, 0x00]
                case .returnCode: [0x20, 0x02, 0x00, 0x01]
                case .hangUp: []
                }
            _ = write(client, answer, answer.count)
            close(client)
        } else if count > 0, let broker = try? connectTCP(upstream) {
            _ = write(broker, connect, count)
            startThread { copy(from: broker, to: client) }
            copy(from: client, to: broker)
        }
    }

    private static func copy(from source: Int32, to target: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = read(source, &buffer, buffer.count), count > 0 {
            guard send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        shutdown(target, Int32(SHUT_RDWR))
    }
}

/// A peer that answers every CONNECT with the same bytes, for what Mosquitto never says.
final class ScriptedPeer: Sendable {
    let port: UInt16
    private let listener: Int32

    /// - Parameter stays: keeps the connection after the answer, until the client ends it.
    init(answers: [[UInt8]], stays: Bool) throws {
        let (listener, port) = try listen(backlog: 8)
        self.listener = listener
        self.port = port
        startThread {
            var next = 0
            while case let client = accept(listener, nil, nil), client >= 0 {
                var buffer = [UInt8](repeating: 0, count: 4096)
                _ = read(client, &buffer, buffer.count)
                let answer = answers[next % answers.count]
                _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
                while stays, read(client, &buffer, buffer.count) > 0 {}
                close(client)
                next += 1
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }
}

/// Listens on a free port of 127.0.0.1.
func listen(backlog: Int32) throws -> (descriptor: Int32, port: UInt16) {
    let port = try freePort()
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard withLoopback(port, { bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, backlog) == 0 else {
        throw SystemCallFailure("listen")
    }
    return (descriptor, port)
}

/// Connects to a port of 127.0.0.1.
func connectTCP(_ port: UInt16, nonBlocking: Bool = false) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if nonBlocking { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
    guard withLoopback(port, { connect(descriptor, $0, $1) }) == 0 || errno == EINPROGRESS else { throw SystemCallFailure("connect") }
    return descriptor
}

private func withLoopback(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
}
