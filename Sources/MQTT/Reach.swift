import Glibc

/// Tries whether somebody accepts TCP at an address, and closes the connection again; blocks until then.
///
/// - Parameter deadline: For each address that the name has.
/// - Returns: nil where somebody does, or the name has no address, which the real attempt tells better; else the last `errno`.
func whyUnreachable(_ address: MQTTAddress, within deadline: Duration) -> Int32? {
    var wish = addrinfo()
    wish.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address.host, "\(address.port)", &wish, &list) == 0 else { return nil }
    defer { freeaddrinfo(list) }
    let (seconds, attoseconds) = deadline.components
    var limit = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
    var code: Int32?
    var next = list
    while let entry = next?.pointee {
        next = entry.ai_next
        let descriptor = socket(entry.ai_family, entry.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), entry.ai_protocol)
        guard descriptor >= 0 else { continue }
        defer { close(descriptor) }
        // socket(7): it bounds `connect` too, which then says EINPROGRESS.
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if Glibc.connect(descriptor, entry.ai_addr, entry.ai_addrlen) == 0 { return nil }
        code = errno == EINPROGRESS ? ETIMEDOUT : errno
    }
    return code
}
