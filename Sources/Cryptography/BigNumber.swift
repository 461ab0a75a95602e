import COpenSSL

/// Owns one `BIGNUM`, wiped when freed.
final class BigNumber: Sendable {
    // Written only while it is being made.
    nonisolated(unsafe) let pointer: OpaquePointer

    private init() { pointer = require(BN_new(), "BN_new") }

    /// Reads big-endian bytes.
    convenience init(_ bytes: Span<UInt8>) {
        self.init()
        bytes.withPointer { bytes, count in _ = require(BN_bin2bn(bytes, CInt(count), pointer), "BN_bin2bn") }
    }

    convenience init(_ bytes: [UInt8]) { self.init(bytes.span) }

    convenience init(_ bytes: SecretBytes) {
        self.init()
        bytes.withBytes { bytes in
            bytes.withPointer { bytes, count in _ = require(BN_bin2bn(bytes, CInt(count), pointer), "BN_bin2bn") }
        }
    }

    deinit { BN_clear_free(pointer) }

    var isZero: Bool { BN_is_zero(pointer) == 1 }

    /// Bytes of the shortest big-endian form.
    private var byteCount: Int { (Int(BN_num_bits(pointer)) + 7) / 8 }

    /// The shortest big-endian form, or one padded with zeros in front to `count` bytes.
    func bytes(paddedTo count: Int? = nil) -> [UInt8] {
        let count = count ?? byteCount
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            require(BN_bn2binpad(pointer, buffer.baseAddress, CInt(count)) == CInt(count), "BN_bn2binpad")
            written = count
        }
    }

    /// The shortest big-endian form of a number nobody may see.
    func secretBytes() -> SecretBytes {
        SecretBytes(count: byteCount) { buffer in
            let base = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            require(BN_bn2binpad(pointer, base, CInt(buffer.count)) == CInt(buffer.count), "BN_bn2binpad")
        }
    }

    /// `self ^ exponent mod modulus`, in a time that does not depend on the exponent's bits.
    func power(_ exponent: BigNumber, modulo modulus: BigNumber) -> BigNumber {
        BN_set_flags(exponent.pointer, BN_FLG_CONSTTIME)
        return Self.computing("BN_mod_exp") { BN_mod_exp($0, pointer, exponent.pointer, modulus.pointer, $1) }
    }

    func times(_ other: BigNumber, modulo modulus: BigNumber) -> BigNumber {
        Self.computing("BN_mod_mul") { BN_mod_mul($0, pointer, other.pointer, modulus.pointer, $1) }
    }

    func minus(_ other: BigNumber, modulo modulus: BigNumber) -> BigNumber {
        Self.computing("BN_mod_sub") { BN_mod_sub($0, pointer, other.pointer, modulus.pointer, $1) }
    }

    func times(_ other: BigNumber) -> BigNumber {
        Self.computing("BN_mul") { BN_mul($0, pointer, other.pointer, $1) }
    }

    func plus(_ other: BigNumber) -> BigNumber {
        Self.computing("BN_add") { result, _ in BN_add(result, pointer, other.pointer) }
    }

    func remainder(modulo modulus: BigNumber) -> BigNumber {
        Self.computing("BN_nnmod") { BN_nnmod($0, pointer, modulus.pointer, $1) }
    }

    private static func computing(
        _ function: StaticString, _ operation: (_ result: OpaquePointer, _ scratch: OpaquePointer) -> CInt
    ) -> BigNumber {
        let scratch = require(BN_CTX_new(), "BN_CTX_new")
        defer { BN_CTX_free(scratch) }
        let result = BigNumber()
        require(operation(result.pointer, scratch) == 1, function)
        return result
    }
}
