import Glibc
import TestSupport

/// A port that answers nobody: its queue of one connection is full, and is never emptied.
final class DeafListener: Sendable {
    let port: UInt16
    private let descriptors: [Int32]

    init() throws {
        port = try freePort()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let stream = Int32(SOCK_STREAM.rawValue)
        let listener = socket(AF_INET, stream, 0)
        let callers = (0..<4).map { _ in socket(AF_INET, stream | Int32(SOCK_NONBLOCK.rawValue), 0) }
        descriptors = [listener] + callers
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(listener, address, length) == 0, listen(listener, 0) == 0 else { throw SystemCallFailure("listen") }
                for caller in callers { _ = connect(caller, address, length) }
            }
        }
    }

    deinit { descriptors.forEach { close($0) } }
}
