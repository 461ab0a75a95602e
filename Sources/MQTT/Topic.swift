/// A topic a message can be published to: valid UTF-8 of 1…65535 bytes without wildcards or control characters.
public struct TopicName: Hashable, Sendable, CustomStringConvertible {
    public let string: String

    public init(_ string: String) throws(TopicFault) {
        try TopicFault.check(string)
        if let wildcard = string.first(where: { $0 == "+" || $0 == "#" }) { throw .wildcard(wildcard, topic: string) }
        self.string = string
    }

    /// A topic that a broker delivered, which libmosquitto has checked already.
    init(delivered string: String) {
        self.string = string
    }

    public var description: String { string }
}

/// What a subscription matches: a topic in which `+` stands for one level and a last `#` for all levels below.
public struct TopicFilter: Hashable, Sendable, CustomStringConvertible {
    public let string: String

    public init(_ string: String) throws(TopicFault) {
        try TopicFault.check(string)
        let levels = string.split(separator: "/", omittingEmptySubsequences: false)
        for (index, level) in levels.enumerated() {
            if level.contains("+") && level != "+" { throw .wildcard("+", topic: string) }
            if level.contains("#") && (level != "#" || index != levels.count - 1) { throw .wildcard("#", topic: string) }
        }
        self.string = string
    }

    /// The filter that matches exactly one topic.
    public init(_ name: TopicName) {
        string = name.string
    }

    /// Whether a message on `topic` belongs to this subscription (MQTT 5.0, 4.7).
    public func matches(_ topic: TopicName) -> Bool {
        let filter = string.split(separator: "/", omittingEmptySubsequences: false)
        let levels = topic.string.split(separator: "/", omittingEmptySubsequences: false)
        if levels[0].hasPrefix("$") && (filter[0] == "+" || filter[0] == "#") { return false }
        for (index, level) in filter.enumerated() {
            if level == "#" { return true }
            guard index < levels.count, level == "+" || level == levels[index] else { return false }
        }
        return filter.count == levels.count
    }

    public var description: String { string }
}

/// Why a text is no topic.
public enum TopicFault: Error, Hashable, Sendable {
    case empty
    /// Longer than the 65535 bytes that MQTT can carry.
    case tooLong(bytes: Int)
    /// A control character, by its code point (MQTT 5.0, 1.5.4: U+0000 must not occur, the others should not).
    case controlCharacter(UInt32, topic: String)
    /// A wildcard where there may be none.
    case wildcard(Character, topic: String)

    fileprivate static func check(_ string: String) throws(TopicFault) {
        guard !string.isEmpty else { throw .empty }
        guard string.utf8.count <= 65535 else { throw .tooLong(bytes: string.utf8.count) }
        for scalar in string.unicodeScalars where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) {
            throw .controlCharacter(scalar.value, topic: string)
        }
    }
}
