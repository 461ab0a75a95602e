/// A camera, lamp, route or bridge name as it stands in topics: a slug of `[a-z0-9_-]`, 1 to 64 characters.
///
/// Everything that becomes part of a topic is one of these, so no topic ever holds a wildcard, a slash or a space.
public struct Identifier: Hashable, Sendable, CustomStringConvertible {
    public static let maximumLength = 64

    public let rawValue: String
    public var description: String { rawValue }

    /// Why a text is no identifier.
    public enum Fault: Error, Equatable, Sendable {
        case empty
        case tooLong(length: Int)
        case illegal(character: Character)
    }

    public init(_ text: String) throws(Fault) {
        guard !text.isEmpty else { throw .empty }
        if let character = text.first(where: { !Self.isAllowed($0) }) { throw .illegal(character: character) }
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong(length: text.utf8.count) }
        rawValue = text
    }

    private static func isAllowed(_ character: Character) -> Bool {
        switch character {
        case "a"..."z", "0"..."9", "_", "-": character.utf8.count == 1
        default: false
        }
    }
}

extension Identifier: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        do {
            try self.init(text)
        } catch {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "'\(text)' is no id: \(error)"))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
