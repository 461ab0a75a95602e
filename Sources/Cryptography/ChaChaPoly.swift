import COpenSSL

/// ChaCha20-Poly1305 (RFC 8439) with 12-byte nonces and 16-byte tags.
public enum ChaChaPoly {
    public static let keyByteCount = 32
    public static let nonceByteCount = 12
    public static let tagByteCount = 16

    /// The ciphertext was not made with this key, nonce and additional data, or is too short to hold a tag.
    public struct AuthenticationFailure: Error, Equatable {}

    // Fetched once: an implicit fetch costs more than sealing a frame. Immutable and shared by libcrypto's own rules.
    private nonisolated(unsafe) static let cipher = require(
        EVP_CIPHER_fetch(nil, "ChaCha20-Poly1305", nil), "EVP_CIPHER_fetch(ChaCha20-Poly1305)")

    /// Encrypts `plaintext` and appends the tag.
    public static func seal(
        _ plaintext: Span<UInt8>, key: SecretBytes, nonce: [UInt8], authenticating data: Span<UInt8>
    ) -> [UInt8] {
        let context = makeContext(key: key, nonce: nonce, encrypting: true)
        defer { EVP_CIPHER_CTX_free(context) }
        authenticate(data, context)
        let count = plaintext.count
        return [UInt8](unsafeUninitializedCapacity: count + tagByteCount) { output, initialized in
            let base = require(output.baseAddress, "allocation")
            var written: CInt = 0
            if count > 0 {
                plaintext.withPointer { bytes, count in
                    require(EVP_EncryptUpdate(context, base, &written, bytes, CInt(count)) == 1, "EVP_EncryptUpdate")
                }
            }
            require(EVP_EncryptFinal_ex(context, base + count, &written) == 1, "EVP_EncryptFinal_ex")
            require(
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, CInt(tagByteCount), base + count) == 1, "EVP_CTRL_AEAD_GET_TAG")
            initialized = count + tagByteCount
        }
    }

    /// Checks the tag at the end of `ciphertext` and decrypts what precedes it.
    public static func open(
        _ ciphertext: Span<UInt8>, key: SecretBytes, nonce: [UInt8], authenticating data: Span<UInt8>
    ) throws(AuthenticationFailure) -> [UInt8] {
        guard ciphertext.count >= tagByteCount else { throw AuthenticationFailure() }
        let context = makeContext(key: key, nonce: nonce, encrypting: false)
        defer { EVP_CIPHER_CTX_free(context) }
        authenticate(data, context)
        let count = ciphertext.count - tagByteCount
        var plaintext = [UInt8](repeating: 0, count: count)
        let genuine = ciphertext.withPointer { bytes, _ in
            let tag = UnsafeMutableRawPointer(mutating: bytes + count)
            require(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, CInt(tagByteCount), tag) == 1, "EVP_CTRL_AEAD_SET_TAG")
            return plaintext.withUnsafeMutableBufferPointer { output in
                var written: CInt = 0
                if let base = output.baseAddress, count > 0 {
                    require(EVP_DecryptUpdate(context, base, &written, bytes, CInt(count)) == 1, "EVP_DecryptUpdate")
                }
                var unused: UInt8 = 0
                return EVP_DecryptFinal_ex(context, &unused, &written) == 1
            }
        }
        guard genuine else {
            ERR_clear_error()
            wipe(&plaintext)
            throw AuthenticationFailure()
        }
        return plaintext
    }

    /// Encrypts a message with no additional data.
    public static func seal(_ plaintext: [UInt8], key: SecretBytes, nonce: [UInt8]) -> [UInt8] {
        seal(plaintext.span, key: key, nonce: nonce, authenticating: [UInt8]().span)
    }

    /// Checks and decrypts a message with no additional data.
    public static func open(_ ciphertext: [UInt8], key: SecretBytes, nonce: [UInt8]) throws(AuthenticationFailure) -> [UInt8] {
        try open(ciphertext.span, key: key, nonce: nonce, authenticating: [UInt8]().span)
    }

    private static func makeContext(key: SecretBytes, nonce: [UInt8], encrypting: Bool) -> OpaquePointer {
        precondition(key.count == keyByteCount && nonce.count == nonceByteCount, "32-byte keys and 12-byte nonces only")
        let context = require(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new")
        key.withBytes { key in
            key.withPointer { key, _ in
                require(EVP_CipherInit_ex2(context, cipher, key, nonce, encrypting ? 1 : 0, nil) == 1, "EVP_CipherInit_ex2")
            }
        }
        return context
    }

    private static func authenticate(_ data: Span<UInt8>, _ context: OpaquePointer) {
        guard !data.isEmpty else { return }
        var written: CInt = 0
        data.withPointer { data, count in
            require(EVP_CipherUpdate(context, nil, &written, data, CInt(count)) == 1, "EVP_CipherUpdate")
        }
    }
}
