/// A YAML text as a tree with line numbers.
///
/// Only what a configuration needs: one document of maps with scalar keys, lists and scalars. Aliases are resolved. Sizes are bounded
/// before they are reached, so that no text, whatever its aliases multiply to, costs more than the limits say.
public struct YAMLDocument: Equatable, Sendable {
    public static let maximumBytes = 1 << 20
    public static let maximumDepth = 32
    /// Counted with every alias expanded.
    public static let maximumNodes = 20_000

    public let root: YAMLNode
    /// Keys that stand twice in one map; the tree holds the first.
    public let duplicateKeys: [DuplicateKey]

    public struct DuplicateKey: Equatable, Sendable {
        public let path: ConfigurationPath
        public let line: Int
        public let firstLine: Int
    }

    /// Parses UTF-8 (or UTF-16 with a byte order mark). An empty text is an empty map.
    public init(parsing bytes: [UInt8]) throws(YAMLError) {
        guard bytes.count <= Self.maximumBytes else { throw .tooLarge(bytes: bytes.count) }
        var composer = YAMLComposer()
        let parser = YAMLEventParser(bytes)
        repeat {
            try composer.receive(try parser.next())
        } while !composer.isAtEnd
        root = composer.root ?? YAMLNode(content: .map([]), line: 1, column: 1)
        duplicateKeys = composer.duplicateKeys
    }
}

/// A value with the place it begins at; lines and columns count from 1.
public struct YAMLNode: Equatable, Sendable {
    public enum Content: Equatable, Sendable {
        /// Nothing, `~` or `null` without quotes.
        case null
        case scalar(String)
        case list([YAMLNode])
        /// In the order of the text.
        case map([Entry])
    }

    public struct Entry: Equatable, Sendable {
        public let key: String
        /// Of the key.
        public let line: Int
        public let value: YAMLNode
    }

    public let content: Content
    public let line: Int
    public let column: Int

    /// The value of a map's key; nil where there is none or this is no map.
    public subscript(key: String) -> YAMLNode? {
        guard case .map(let entries) = content else { return nil }
        return entries.first { $0.key == key }?.value
    }
}

/// Why a text is no YAML that is accepted here.
public enum YAMLError: Error, Equatable, Sendable {
    /// - Parameter problem: libyaml's words.
    case syntax(problem: String, line: Int, column: Int)
    case tooLarge(bytes: Int)
    case tooDeep(line: Int)
    case tooManyNodes(line: Int)
    case keyIsNoText(line: Int)
    case unsupportedTag(String, line: Int)
    case unknownAlias(String, line: Int)
    case secondDocument(line: Int)
}
