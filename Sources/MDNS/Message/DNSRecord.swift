/// What kind of data a record has, as it stands on the wire.
public struct DNSType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let a = DNSType(rawValue: 1)
    public static let ptr = DNSType(rawValue: 12)
    public static let txt = DNSType(rawValue: 16)
    public static let aaaa = DNSType(rawValue: 28)
    public static let srv = DNSType(rawValue: 33)
    public static let nsec = DNSType(rawValue: 47)
    /// In questions alone: every type there is.
    public static let any = DNSType(rawValue: 255)
}

/// One question of a message, always of the Internet class.
public struct DNSQuestion: Hashable, Sendable {
    public var name: DNSName
    public var type: DNSType
    /// Whether the asker would rather have the answer to itself (RFC 6762, 5.4).
    public var wantsUnicast: Bool

    public init(_ name: DNSName, _ type: DNSType, wantsUnicast: Bool = false) {
        self.name = name
        self.type = type
        self.wantsUnicast = wantsUnicast
    }
}

/// One record of a message, always of the Internet class.
public struct DNSRecord: Hashable, Sendable {
    public enum Value: Hashable, Sendable {
        /// Four bytes of an IPv4 address.
        case a([UInt8])
        /// Sixteen bytes of an IPv6 address.
        case aaaa([UInt8])
        case ptr(DNSName)
        case srv(priority: UInt16, weight: UInt16, port: UInt16, target: DNSName)
        /// The strings as they stand, each at most 255 bytes; see ``TXTRecord``.
        case txt([[UInt8]])
        /// The types that exist for the name; only those below 256 are kept, as RFC 6762, 6.1 restricts it to.
        case nsec(next: DNSName, types: Set<DNSType>)
        case other(DNSType, [UInt8])
    }

    public var name: DNSName
    public var value: Value
    /// Seconds the record may be kept; 0 is a goodbye.
    public var timeToLive: UInt32
    /// Whether this record and those of its name and type in the same message are all there are (RFC 6762, 10.2).
    public var flushesCache: Bool

    public init(_ name: DNSName, _ value: Value, timeToLive: UInt32, flushesCache: Bool = false) {
        self.name = name
        self.value = value
        self.timeToLive = timeToLive
        self.flushesCache = flushesCache
    }

    public var type: DNSType {
        switch value {
        case .a: .a
        case .aaaa: .aaaa
        case .ptr: .ptr
        case .srv: .srv
        case .txt: .txt
        case .nsec: .nsec
        case .other(let type, _): type
        }
    }
}

/// The key-value pairs of a service's TXT record (RFC 6763, 6); keys compare without case, and the first of a key counts.
public struct TXTRecord: Hashable, Sendable {
    /// In the order they were given; the value is nil for a key without `=`.
    public private(set) var pairs: [(key: String, value: [UInt8]?)] = []

    public init() {}

    public init(_ pairs: KeyValuePairs<String, String>) {
        for (key, value) in pairs { self[key] = Array(value.utf8) }
    }

    /// Strings that begin with `=` or have a key that is not printable ASCII are left out, as RFC 6763 wants it.
    public init(strings: [[UInt8]]) {
        for string in strings {
            let key = string.prefix { $0 != UInt8(ascii: "=") }
            guard !key.isEmpty, key.allSatisfy({ (0x20...0x7E).contains($0) }) else { continue }
            let name = String(decoding: key, as: UTF8.self)
            guard index(of: name) == nil else { continue }
            pairs.append((name, key.count == string.count ? nil : Array(string[(key.count + 1)...])))
        }
    }

    /// The strings of the record; one empty string where there are no pairs. A pair is cut to 255 bytes.
    public var strings: [[UInt8]] {
        let strings = pairs.map { key, value in
            Array((Array(key.utf8) + (value.map { [UInt8(ascii: "=")] + $0 } ?? [])).prefix(255))
        }
        return strings.isEmpty ? [[]] : strings
    }

    /// The value of a key; nil where there is none.
    public subscript(key: String) -> [UInt8]? {
        get { index(of: key).flatMap { pairs[$0].value } }
        set {
            if let index = index(of: key) {
                pairs[index].value = newValue
            } else {
                pairs.append((key, newValue))
            }
        }
    }

    private func index(of key: String) -> Int? {
        let key = key.lowercased()
        return pairs.firstIndex { $0.key.lowercased() == key }
    }

    public static func == (left: TXTRecord, right: TXTRecord) -> Bool { left.strings == right.strings }

    public func hash(into hasher: inout Hasher) { hasher.combine(strings) }
}
