/// A domain name as its labels, without the root; equal whatever the case of its ASCII letters.
///
/// Labels are bytes that service names fill with UTF-8, dots and spaces included, so a name is not its dotted text.
public struct DNSName: Sendable {
    /// Bytes a label may have (RFC 1035, 2.3.4).
    public static let maximumLabel = 63
    /// Bytes a name may have on the wire, length bytes and the root included (RFC 1035, 2.3.4).
    public static let maximumLength = 255

    /// Each 1 to 63 bytes.
    public let labels: [[UInt8]]

    /// Nil where a label is empty or too long, or the name is.
    public init?(labels: [[UInt8]]) {
        guard labels.allSatisfy({ (1...Self.maximumLabel).contains($0.count) }),
            labels.reduce(1, { $0 + $1.count + 1 }) <= Self.maximumLength
        else { return nil }
        self.labels = labels
    }

    /// The name of a dotted text that has no dots within labels, such as `_hap._tcp.local`; a final dot is left out.
    public init?(_ text: String) {
        var parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if parts.last?.isEmpty == true { parts.removeLast() }
        self.init(labels: parts.map(Array.init))
    }

    /// `label` in front of this name, cut to 63 bytes at a character; nil where the label is empty or the whole too long.
    public func prefixed(by label: String) -> DNSName? {
        var label = label
        while label.utf8.count > Self.maximumLabel { label.removeLast() }
        return DNSName(labels: [Array(label.utf8)] + labels)
    }

    /// The first label as text: the instance of a service's full name.
    public var first: String { labels.first.map { String(decoding: $0, as: UTF8.self) } ?? "" }

    /// Whether this name ends with `suffix`, or is it.
    public func hasSuffix(_ suffix: DNSName) -> Bool { folded.suffix(suffix.labels.count) == suffix.folded[...] }

    /// The labels with ASCII letters in lower case, the form in which names are compared.
    var folded: [[UInt8]] { labels.map { $0.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } } }
}

extension DNSName: Hashable {
    public static func == (left: DNSName, right: DNSName) -> Bool { left.folded == right.folded }

    public func hash(into hasher: inout Hasher) { hasher.combine(folded) }
}

extension DNSName: CustomStringConvertible {
    /// Dotted, with dots and backslashes of labels escaped and what cannot be printed as three decimal digits (RFC 1035, 5.1).
    public var description: String {
        labels.map { label in
            String(decoding: label, as: UTF8.self).unicodeScalars.map { scalar in
                switch scalar {
                case ".", "\\": "\\\(scalar)"
                case "\u{0}"..." ", "\u{7F}": "\\" + String(1000 + scalar.value).dropFirst()
                default: String(scalar)
                }
            }.joined()
        }.joined(separator: ".")
    }
}
