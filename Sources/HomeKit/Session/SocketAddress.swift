internal import Dispatch
internal import Glibc

/// One numeric address with port, ready for `connect`.
struct SocketAddress: Sendable {
    let family: Int32
    private let bytes: [UInt8]
    /// The address as text, a link-local one with its scope.
    let host: String

    private init(_ info: addrinfo) {
        family = info.ai_family
        bytes = Array(UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen)))
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = getnameinfo(info.ai_addr, info.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        host = code == 0 ? String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) : ""
    }

    func connect(_ descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return EINVAL }
            let result = Glibc.connect(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            return result == 0 ? 0 : errno
        }
    }

    func bind(_ descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return EINVAL }
            let result = Glibc.bind(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            return result == 0 ? 0 : errno
        }
    }

    /// The addresses of a host, in the system's order of preference.
    ///
    /// A numeric host is translated in place; a name is looked up on a Dispatch thread, since the look-up blocks.
    static func resolve(_ address: HAPAddress) async throws(HAPError) -> [SocketAddress] {
        if let numeric = try? lookUp(address, flags: AI_NUMERICHOST | AI_NUMERICSERV).get() { return numeric }
        let result = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: lookUp(address, flags: AI_NUMERICSERV | AI_ADDRCONFIG)) }
        }
        return try result.get()
    }

    static func lookUp(_ address: HAPAddress, flags: Int32) -> Result<[SocketAddress], HAPError> {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = flags
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(address.host, String(address.port), &hints, &list)
        guard code == 0 else { return .failure(.unresolvable(host: address.host, code: code)) }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry = list
        while let info = entry {
            addresses.append(SocketAddress(info.pointee))
            entry = info.pointee.ai_next
        }
        return .success(addresses)
    }
}
