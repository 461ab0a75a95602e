internal import Glibc
internal import ServiceKit

extension IPAddress {
    /// A socket that listens there, with the port it got.
    func listen() throws(HTTPServerError) -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(Int32(storage.ss_family), Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system(operation: "socket", code: errno) }
        // A port is free again at once after a restart, though its old connections are still on their way out.
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var (storage, length) = (storage, length)
        let failure: (String, Int32)? = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                if bind(descriptor, address, length) != 0 { return ("bind", errno) }
                if Glibc.listen(descriptor, 64) != 0 { return ("listen", errno) }
                length = socklen_t(MemoryLayout<sockaddr_storage>.size)
                return getsockname(descriptor, address, &length) == 0 ? nil : ("getsockname", errno)
            }
        }
        if let (operation, code) = failure {
            close(descriptor)
            throw .system(operation: operation, code: code)
        }
        let port = withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.load(as: sockaddr_in.self).sin_port) }
        return (descriptor, port)
    }
}
