/// HAP's type-length-value encoding: one byte type, one byte length, and longer values in fragments.
///
/// Fragments belong together only where the one before is 255 bytes long; some accessories send items of equal type in a row.
package struct TLV8: Equatable, Sendable {
    /// The item types of pairing.
    package enum Kind: UInt8, Sendable {
        case method = 0x00
        case identifier = 0x01
        case salt = 0x02
        case publicKey = 0x03
        case proof = 0x04
        case encryptedData = 0x05
        case state = 0x06
        case error = 0x07
        case retryDelay = 0x08
        case signature = 0x0A
        case permissions = 0x0B
        case separator = 0xFF

        fileprivate var isOneValue: Bool {
            switch self {
            case .salt, .publicKey, .proof, .encryptedData, .signature: true
            case .method, .identifier, .state, .error, .retryDelay, .permissions, .separator: false
            }
        }
    }

    package struct Item: Equatable, Sendable {
        package var type: UInt8
        package var value: [UInt8]
    }

    /// The bytes end within an item.
    package struct Truncated: Error, Equatable {}

    package var items: [Item]

    init(_ items: (Kind, [UInt8])...) {
        self.items = items.map { Item(type: $0.0.rawValue, value: $0.1) }
    }

    init(items: [Item]) { self.items = items }

    package init(decoding bytes: [UInt8]) throws(Truncated) {
        items = []
        var rest = bytes[...]
        var continues = false
        while let type = rest.popFirst() {
            guard let length = rest.popFirst(), rest.count >= length else { throw Truncated() }
            let fragment = rest.prefix(Int(length))
            rest.removeFirst(Int(length))
            if continues, items[items.count - 1].type == type {
                items[items.count - 1].value += fragment
            } else {
                items.append(Item(type: type, value: Array(fragment)))
            }
            continues = length == 255
        }
    }

    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for item in items {
            var rest = item.value[...]
            repeat {
                let fragment = rest.prefix(255)
                bytes.append(item.type)
                bytes.append(UInt8(fragment.count))
                bytes += fragment
                rest.removeFirst(fragment.count)
            } while !rest.isEmpty
        }
        return bytes
    }

    /// The first value of a type.
    ///
    /// Of what no message holds twice, everything in a row is one value: some accessories cut it into fragments of less than 255 bytes.
    subscript(_ kind: Kind) -> [UInt8]? {
        guard let start = items.firstIndex(where: { $0.type == kind.rawValue }) else { return nil }
        guard kind.isOneValue else { return items[start].value }
        return items[start...].prefix { $0.type == kind.rawValue }.flatMap(\.value)
    }

    /// The first value of a type as a little-endian whole number, nil when absent or longer than eight bytes.
    func integer(_ kind: Kind) -> UInt64? {
        guard let value = self[kind], value.count <= 8 else { return nil }
        return value.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
