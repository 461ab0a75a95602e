import COpenSSL

/// SHA-512 (FIPS 180-4) over any number of pieces.
public struct SHA512: ~Copyable {
    public static let byteCount = 64

    private let context: OpaquePointer

    public init() {
        context = require(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        require(EVP_DigestInit_ex(context, EVP_sha512(), nil) == 1, "EVP_DigestInit_ex")
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Takes in the next piece.
    public mutating func update(_ bytes: Span<UInt8>) {
        bytes.withPointer { bytes, count in require(EVP_DigestUpdate(context, bytes, count) == 1, "EVP_DigestUpdate") }
    }

    public mutating func update(_ bytes: [UInt8]) { update(bytes.span) }

    public mutating func update(_ secret: SecretBytes) { secret.withBytes { update($0) } }

    /// The hash of everything taken in.
    public consuming func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
            write(to: buffer.baseAddress)
            count = Self.byteCount
        }
    }

    /// The hash of everything taken in, where the hash itself is a secret.
    public consuming func finishSecret() -> SecretBytes {
        SecretBytes(count: Self.byteCount) { write(to: $0.baseAddress?.assumingMemoryBound(to: UInt8.self)) }
    }

    private func write(to output: UnsafeMutablePointer<UInt8>?) {
        require(EVP_DigestFinal_ex(context, output, nil) == 1, "EVP_DigestFinal_ex")
    }

    /// The hash of the pieces one after the other.
    public static func hash(_ pieces: [UInt8]...) -> [UInt8] {
        var hash = SHA512()
        for piece in pieces { hash.update(piece) }
        return hash.finish()
    }
}

/// HKDF (RFC 5869) with SHA-512.
public enum HKDF {
    /// Derives `count` bytes from `secret`, bound to `salt` and `info`.
    ///
    /// - Parameter count: 1 to 16320 (255 hashes).
    public static func sha512(secret: SecretBytes, salt: [UInt8], info: [UInt8], count: Int) -> SecretBytes {
        precondition((1...255 * SHA512.byteCount).contains(count), "HKDF-SHA512 yields 1 to 16320 bytes")
        let context = require(EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil), "EVP_PKEY_CTX_new_id")
        defer { EVP_PKEY_CTX_free(context) }
        require(EVP_PKEY_derive_init(context) == 1, "EVP_PKEY_derive_init")
        require(EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha512()) == 1, "EVP_PKEY_CTX_set_hkdf_md")
        salt.span.withPointer { require(EVP_PKEY_CTX_set1_hkdf_salt(context, $0, CInt($1)) == 1, "EVP_PKEY_CTX_set1_hkdf_salt") }
        secret.withBytes { secret in
            secret.withPointer { require(EVP_PKEY_CTX_set1_hkdf_key(context, $0, CInt($1)) == 1, "EVP_PKEY_CTX_set1_hkdf_key") }
        }
        info.span.withPointer { require(EVP_PKEY_CTX_add1_hkdf_info(context, $0, CInt($1)) == 1, "EVP_PKEY_CTX_add1_hkdf_info") }
        return SecretBytes(count: count) { buffer in
            var length = buffer.count
            require(
                EVP_PKEY_derive(context, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), &length) == 1, "EVP_PKEY_derive")
        }
    }

    /// Derives a 32-byte key bound to two texts, the only shape HAP uses.
    public static func key(from secret: SecretBytes, salt: String, info: String) -> SecretBytes {
        sha512(secret: secret, salt: Array(salt.utf8), info: Array(info.utf8), count: 32)
    }
}
