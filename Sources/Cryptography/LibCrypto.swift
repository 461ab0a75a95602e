import COpenSSL

/// Stops the program where libcrypto refuses something that cannot fail with the arguments given: only exhausted memory or a broken
/// installation gets here, and going on without cryptography would be worse.
func require(_ condition: Bool, _ function: StaticString) {
    guard condition else { fatalError("libcrypto: \(function) failed, code \(ERR_peek_last_error())") }
}

/// Unwraps a handle that libcrypto can only refuse when memory is exhausted.
func require<Handle>(_ handle: Handle?, _ function: StaticString) -> Handle {
    guard let handle else { fatalError("libcrypto: \(function) failed, code \(ERR_peek_last_error())") }
    return handle
}

extension Span<UInt8> {
    /// Lends the bytes to C; never a null pointer, which libcrypto gives a meaning of its own.
    func withPointer<Result, Failure: Error>(
        _ body: (_ bytes: UnsafePointer<UInt8>, _ count: Int) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBufferPointer { (buffer) throws(Failure) -> Result in
            guard let base = buffer.baseAddress else {
                var nothing: UInt8 = 0
                return try body(&nothing, 0)
            }
            return try body(base, buffer.count)
        }
    }
}
