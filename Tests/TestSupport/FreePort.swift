import Glibc
import Synchronization

/// A TCP port of 127.0.0.1 that nobody listens on, and that this process has not named before.
///
/// It lies below the range from which Linux takes the ports of outgoing connections (32768…60999), so that none of these gets in the way.
package func freePort() throws -> UInt16 {
    for _ in 0..<1000 {
        let port = UInt16(12_000 + ports.add(1, ordering: .relaxed).oldValue % 20_000)
        if try isFree(port) { return port }
    }
    throw SystemCallFailure("bind", code: EADDRINUSE)
}

/// Tests of several checkouts may run at once, so each begins elsewhere.
private let ports = Atomic(Int.random(in: 0..<20_000))

private func isFree(_ port: UInt16) throws -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw SystemCallFailure("socket") }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
    }
}

/// A system call that a test needs failed.
package struct SystemCallFailure: Error, CustomStringConvertible {
    package let call: String
    package let code: Int32

    package init(_ call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
