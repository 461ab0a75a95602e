package import Cryptography

/// Why an encrypted stream is at its end.
package enum FrameFault: Error, Equatable {
    /// A frame announces more than 1024 bytes.
    case tooLong(Int)
    /// A frame's tag is wrong: forged, or the counters have come apart.
    case notAuthentic
}

/// Cuts outgoing bytes into encrypted frames: length, ciphertext, tag.
package struct FrameSealer: Sendable {
    static let maximumPlaintext = 1024

    private let key: SecretBytes
    private var counter: UInt64 = 0

    package init(key: SecretBytes) { self.key = key }

    package mutating func seal(_ plaintext: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(plaintext.count + (plaintext.count / Self.maximumPlaintext + 1) * 18)
        var rest = plaintext[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(Self.maximumPlaintext)
            rest = rest.dropFirst(chunk.count)
            let length = [UInt8(truncatingIfNeeded: chunk.count), UInt8(truncatingIfNeeded: chunk.count >> 8)]
            output += length
            output += ChaChaPoly.seal(chunk.span, key: key, nonce: Nonce.counter(counter), authenticating: length.span)
            counter += 1
        }
        return output
    }
}

/// Puts incoming bytes together to frames and decrypts them.
///
/// The counter is fatal state: after one fault nothing more can be read, and every further call throws it again.
package struct FrameOpener: Sendable {
    private let key: SecretBytes
    private var counter: UInt64 = 0
    private var buffer: [UInt8] = []
    private var fault: FrameFault?

    package init(key: SecretBytes) { self.key = key }

    /// Takes bytes as they arrive and returns the plaintext of every frame they complete.
    package mutating func open(_ bytes: [UInt8]) throws(FrameFault) -> [UInt8] {
        if let fault { throw fault }
        buffer += bytes
        var plaintext: [UInt8] = []
        var start = 0
        while buffer.count - start >= 2 {
            let length = Int(buffer[start]) | Int(buffer[start + 1]) << 8
            guard length <= FrameSealer.maximumPlaintext else { throw fail(.tooLong(length)) }
            let end = start + 2 + length + ChaChaPoly.tagByteCount
            guard end <= buffer.count else { break }
            do {
                plaintext += try ChaChaPoly.open(
                    buffer[start + 2..<end].span, key: key, nonce: Nonce.counter(counter), authenticating: buffer[start..<start + 2].span)
            } catch {
                throw fail(.notAuthentic)
            }
            counter += 1
            start = end
        }
        buffer.removeFirst(start)
        return plaintext
    }

    private mutating func fail(_ fault: FrameFault) -> FrameFault {
        self.fault = fault
        buffer = []
        return fault
    }
}
