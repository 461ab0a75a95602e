import COpenSSL

/// Owns bytes nobody may see: wiped when the last reference goes, compared in constant time, never printed.
public final class SecretBytes: Sendable {
    // Written only before `init` returns, so that sharing it between threads is safe.
    private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer

    /// How many bytes there are.
    public var count: Int { storage.count }

    /// Makes `count` bytes and has `body` fill them.
    ///
    /// - Parameter body: Fills the buffer, which starts as zeros. When it throws, the bytes are wiped and released.
    public init<Failure: Error>(
        count: Int, filledBy body: (_ buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        storage = .allocate(byteCount: count, alignment: 16)
        storage.initializeMemory(as: UInt8.self, repeating: 0)
        try body(storage)
    }

    /// Copies `bytes`; wiping the original is the caller's business.
    public convenience init(copying bytes: some Collection<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Fresh bytes from libcrypto's generator for private material.
    public static func random(count: Int) -> SecretBytes {
        SecretBytes(count: count) { buffer in
            guard let base = buffer.baseAddress else { return }
            require(RAND_priv_bytes(base.assumingMemoryBound(to: UInt8.self), CInt(buffer.count)) == 1, "RAND_priv_bytes")
        }
    }

    deinit {
        if let base = storage.baseAddress { OPENSSL_cleanse(base, storage.count) }
        storage.deallocate()
    }

    /// Lends the bytes for as long as `body` runs.
    public func withBytes<Result, Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> Result) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(storage).bindMemory(to: UInt8.self).span)
    }

    /// The bytes in a plain array, which the caller keeps no longer than needed.
    public func copied() -> [UInt8] { Array(UnsafeRawBufferPointer(storage)) }

    /// Whether the first byte is zero; the one property of a secret that the SRP rules of HAP need to know.
    var startsWithZero: Bool { storage.first == 0 }
}

extension SecretBytes: Equatable {
    public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        left.withBytes { left in right.withBytes { right in constantTimeEqual(left, right) } }
    }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
    public var description: String { "SecretBytes(\(count))" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Compares two byte strings in a time that depends on their lengths alone.
public func constantTimeEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return left.withPointer { left, count in right.withPointer { right, _ in CRYPTO_memcmp(left, right, count) == 0 } }
}

/// Overwrites `bytes` with zeros in a way the optimiser keeps; for copies of secrets in plain buffers.
public func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { buffer in
        if let base = buffer.baseAddress { OPENSSL_cleanse(base, buffer.count) }
    }
}
