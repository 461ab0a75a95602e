internal import Cryptography

/// An accessory's setup code, `ddd-dd-ddd`; never printed.
public struct SetupCode: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// Why a text is no setup code.
    public enum Fault: Error, Equatable, Sendable {
        /// Neither `ddd-dd-ddd` nor eight digits.
        case malformed
    }

    /// The code with its dashes, the form that SRP hashes.
    let text: SecretBytes

    /// Whether the code is one of the twelve that accessories must not have (all digits equal, 12345678, 87654321); a genuine accessory
    /// never shows one, so it is worth a warning.
    public let isTrivial: Bool

    /// Takes `ddd-dd-ddd` or eight digits, with spaces around.
    public init(_ text: String) throws(Fault) {
        var bytes = Array(text.utf8)
        defer { wipe(&bytes) }
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
        while let last = bytes.last, blanks.contains(last) { bytes.removeLast() }
        while let first = bytes.first, blanks.contains(first) { bytes.removeFirst() }

        let dash = UInt8(ascii: "-")
        if bytes.count == 10 {
            guard bytes[3] == dash, bytes[6] == dash else { throw .malformed }
            bytes.remove(at: 6)
            bytes.remove(at: 3)
        }
        guard bytes.count == 8, bytes.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { throw .malformed }
        isTrivial =
            bytes.allSatisfy { $0 == bytes[0] } || bytes.elementsEqual("12345678".utf8) || bytes.elementsEqual("87654321".utf8)
        self.text = SecretBytes(count: 10) { buffer in
            for (index, digit) in bytes.enumerated() { buffer[index + (index >= 3 ? 1 : 0) + (index >= 5 ? 1 : 0)] = digit }
            buffer[3] = dash
            buffer[6] = dash
        }
    }

    public var description: String { "SetupCode" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
