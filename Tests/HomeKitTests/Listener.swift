import Foundation
import Glibc
import Synchronization
import TestSupport

/// A TCP server on 127.0.0.1 for one caller, which it answers without reading; for peers that are no accessory at all.
final class Listener: Sendable {
    let port: UInt16
    private let descriptor: Int32
    private let caller = Mutex<Int32?>(nil)

    var hasCaller: Bool { caller.withLock { $0 != nil } }

    /// - Parameter answer: Sent as soon as something connects, which is then hung up on where it is empty; nil keeps silent.
    init(answering answer: [UInt8]?) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let bound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 1) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard descriptor >= 0, bound else { throw SystemCallFailure("listen") }
        port = UInt16(bigEndian: address.sin_port)
        let thread = Thread { [self] in
            let accepted = accept(descriptor, nil, nil)
            guard accepted >= 0 else { return }
            if let answer {
                _ = answer.withUnsafeBytes { send(accepted, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                if answer.isEmpty { shutdown(accepted, Int32(SHUT_RDWR)) }
            }
            caller.withLock { $0 = accepted }
        }
        thread.start()
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
        if let accepted = caller.withLock({ $0 }) { close(accepted) }
    }
}
