import COpenSSL

/// A key that is not one: wrong length, or a point that yields no secret.
public struct InvalidKey: Error, Equatable {
    public init() {}
}

/// Owns one `EVP_PKEY`, which libcrypto wipes when it is freed.
private final class KeyHandle: Sendable {
    // `EVP_PKEY` is reference-counted and immutable once made.
    nonisolated(unsafe) let pointer: OpaquePointer

    init(privateKey: SecretBytes, type: CInt) throws(InvalidKey) {
        let key = privateKey.withBytes { bytes in bytes.withPointer { EVP_PKEY_new_raw_private_key(type, nil, $0, $1) } }
        guard let key else { throw Self.refusal() }
        pointer = key
    }

    init(publicKey: [UInt8], type: CInt) throws(InvalidKey) {
        guard let key = EVP_PKEY_new_raw_public_key(type, nil, publicKey, publicKey.count) else { throw Self.refusal() }
        pointer = key
    }

    deinit { EVP_PKEY_free(pointer) }

    var publicKey: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            count = 32
            require(EVP_PKEY_get_raw_public_key(pointer, buffer.baseAddress, &count) == 1, "EVP_PKEY_get_raw_public_key")
        }
    }

    static func refusal() -> InvalidKey {
        ERR_clear_error()
        return InvalidKey()
    }
}

/// A private key for X25519 (RFC 7748).
public struct X25519PrivateKey: Sendable {
    private let handle: KeyHandle

    /// The 32-byte public key.
    public let publicKey: [UInt8]

    /// Takes a 32-byte scalar; a fresh random one by default.
    public init(_ scalar: SecretBytes = .random(count: 32)) throws(InvalidKey) {
        handle = try KeyHandle(privateKey: scalar, type: EVP_PKEY_X25519)
        publicKey = handle.publicKey
    }

    /// The secret shared with the owner of `publicKey`; refuses points of small order, whose secret everybody knows.
    public func sharedSecret(with publicKey: [UInt8]) throws(InvalidKey) -> SecretBytes {
        let peer = try KeyHandle(publicKey: publicKey, type: EVP_PKEY_X25519)
        let context = require(EVP_PKEY_CTX_new(handle.pointer, nil), "EVP_PKEY_CTX_new")
        defer { EVP_PKEY_CTX_free(context) }
        require(EVP_PKEY_derive_init(context) == 1, "EVP_PKEY_derive_init")
        guard EVP_PKEY_derive_set_peer(context, peer.pointer) == 1 else { throw KeyHandle.refusal() }
        return try SecretBytes(count: 32) { (buffer) throws(InvalidKey) in
            var length = buffer.count
            guard EVP_PKEY_derive(context, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), &length) == 1, length == 32 else {
                throw KeyHandle.refusal()
            }
        }
    }
}

/// A private key for Ed25519 (RFC 8032).
public struct Ed25519PrivateKey: Sendable {
    private let handle: KeyHandle

    /// The 32-byte seed the key is made of.
    public let seed: SecretBytes

    /// The 32-byte public key.
    public let publicKey: [UInt8]

    /// Takes a 32-byte seed; a fresh random one by default.
    public init(seed: SecretBytes = .random(count: 32)) throws(InvalidKey) {
        handle = try KeyHandle(privateKey: seed, type: EVP_PKEY_ED25519)
        self.seed = seed
        publicKey = handle.publicKey
    }

    /// The 64-byte signature of `message`.
    public func signature(for message: [UInt8]) -> [UInt8] {
        let context = require(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        defer { EVP_MD_CTX_free(context) }
        require(EVP_DigestSignInit(context, nil, nil, nil, handle.pointer) == 1, "EVP_DigestSignInit")
        return [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
            count = 64
            require(EVP_DigestSign(context, buffer.baseAddress, &count, message, message.count) == 1, "EVP_DigestSign")
        }
    }
}

/// Checks of Ed25519 signatures (RFC 8032).
public enum Ed25519 {
    /// Whether `signature` over `message` was made by the owner of `publicKey`; false too for a key or signature of the wrong length.
    public static func isValid(signature: [UInt8], for message: [UInt8], publicKey: [UInt8]) -> Bool {
        guard let key = try? KeyHandle(publicKey: publicKey, type: EVP_PKEY_ED25519) else { return false }
        let context = require(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        defer { EVP_MD_CTX_free(context) }
        require(EVP_DigestVerifyInit(context, nil, nil, nil, key.pointer) == 1, "EVP_DigestVerifyInit")
        let valid = EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        ERR_clear_error()
        return valid
    }
}
