import Glibc
import TestSupport

/// A bare TCP connection, for clients that do what no HTTP library would.
final class Client: Sendable {
    private let descriptor: Int32

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw SystemCallFailure("socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard result == 0 else { throw SystemCallFailure("connect") }
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { Glibc.close(descriptor) }

    /// Sends what the other end takes; one that has closed takes nothing.
    func send(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    func shutdownSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Leaves; the descriptor itself goes with this object.
    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    func readToEnd() -> [UInt8] { read { _ in false } }

    /// Reads until the text so far is enough, or the other end closes.
    func read(until isEnough: (String) -> Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            // What is looked for is short, and may lie across two reads.
            if isEnough(String(decoding: bytes.suffix(count + 64), as: UTF8.self)) { return bytes }
        }
    }

    /// Whether the other end has closed, or does so within the patience of a read.
    func isClosedByPeer() -> Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, 0)
        return count == 0 || (count < 0 && errno == ECONNRESET)
    }
}
