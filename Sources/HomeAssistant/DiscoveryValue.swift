/// What an option of a discovery message may be.
public enum DiscoveryValue: Hashable, Sendable, Encodable {
    case none
    case flag(Bool)
    case number(Int)
    case text(String)
    case list([DiscoveryValue])
    case map([String: DiscoveryValue])

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .none: try container.encodeNil()
        case .flag(let flag): try container.encode(flag)
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .list(let list): try container.encode(list)
        case .map(let map): try container.encode(map)
        }
    }
}

extension DiscoveryValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral {
    public init(stringLiteral text: String) { self = .text(text) }
    public init(integerLiteral number: Int) { self = .number(number) }
    public init(booleanLiteral flag: Bool) { self = .flag(flag) }
    public init(arrayLiteral elements: DiscoveryValue...) { self = .list(elements) }
}
