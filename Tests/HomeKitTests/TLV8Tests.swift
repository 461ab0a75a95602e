import TestSupport
import Testing

@testable import HomeKit

@Suite struct `TLV8 messages` {
    @Test func `a long value is cut into fragments of 255 and put together again`() throws {
        for count in [0, 1, 254, 255, 256, 509, 510, 511, 1000] {
            let message = TLV8((.state, [3]), (.publicKey, [UInt8](repeating: 0xAB, count: count)), (.proof, [1]))
            let encoded = message.encoded
            let fragments = max(1, (count + 254) / 255)
            #expect(encoded.count == 3 + count + 2 * fragments + 3)
            #expect(try TLV8(decoding: encoded) == message)
        }
    }

    @Test func `items of equal type stay apart unless the one before is full`() throws {
        // Seen from an accessory: two states in a row, which must not be read as one value of two bytes.
        let message = try TLV8(decoding: [6, 1, 2, 6, 1, 5])
        #expect(message.items.map(\.value) == [[2], [5]])
        #expect(message[.state] == [2])
    }

    @Test func `a key or a proof in short fragments is one value`() throws {
        // Seen from nobody yet; other controllers put it together, so that its maker would not notice.
        let message = try TLV8(decoding: [6, 1, 2, 3, 2, 10, 11, 3, 1, 12, 4, 1, 20, 3, 1, 13])
        #expect(message[.publicKey] == [10, 11, 12])
        #expect(message[.proof] == [20])
    }

    @Test func `a separator keeps list entries apart`() throws {
        let message = try TLV8(decoding: [1, 1, 65, 0xFF, 0, 1, 1, 66])
        #expect(message.items.map(\.type) == [1, 0xFF, 1])
    }

    @Test func `unknown types are kept and do no harm`() throws {
        let message = try TLV8(decoding: [0x77, 2, 1, 2, 6, 1, 4])
        #expect(message[.state] == [4])
    }

    @Test func `every place to cut a message off inside an item is refused`() throws {
        let encoded = TLV8((.state, [1]), (.salt, [UInt8](0..<16)), (.publicKey, [UInt8](repeating: 9, count: 300))).encoded
        // Between items a shorter message is a message too.
        let boundaries: Set<Int> = [0, 3, 21, 21 + 257, encoded.count]
        for count in 0...encoded.count {
            if boundaries.contains(count) {
                _ = try TLV8(decoding: Array(encoded[..<count]))
            } else {
                #expect(throws: TLV8.Truncated.self) { try TLV8(decoding: Array(encoded[..<count])) }
            }
        }
    }

    @Test func `whole numbers are little-endian`() throws {
        #expect(try TLV8(decoding: [8, 2, 0x2C, 0x01]).integer(.retryDelay) == 300)
        #expect(try TLV8(decoding: [8, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1]).integer(.retryDelay) == nil)
        #expect(try TLV8(decoding: [8, 0]).integer(.retryDelay) == 0)
    }

    @Test(arguments: 1...8)
    func `random bytes never crash it, and what it takes it keeps`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<4000 {
            let bytes = random.bytes(upTo: 80)
            guard let message = try? TLV8(decoding: bytes) else { continue }
            let again = try TLV8(decoding: message.encoded)
            #expect(again.items.map(\.value).joined().count == message.items.map(\.value).joined().count)
        }
    }
}
