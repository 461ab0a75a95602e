/// The type of a service or characteristic: Apple's short form (`25`) where it has one, else a full upper-case UUID.
///
/// Accessories send either form, in either case, with or without leading zeros; here they are all equal.
public struct HAPType: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    private static let baseSuffix = "-0000-1000-8000-0026BB765291"

    public let rawValue: String

    public init(_ text: String) {
        let upper = text.uppercased()
        let short = upper.hasSuffix(Self.baseSuffix) ? upper.dropLast(Self.baseSuffix.count) : upper[...]
        guard short.utf8.count <= 8, short.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            rawValue = upper
            return
        }
        let stripped = short.drop { $0 == "0" }
        rawValue = stripped.isEmpty ? "0" : String(stripped)
    }

    public init(stringLiteral text: String) { self.init(text) }

    public var description: String { rawValue }

    public static let accessoryInformation: HAPType = "3E"
    public static let identify: HAPType = "14"
    public static let name: HAPType = "23"
    public static let manufacturer: HAPType = "20"
    public static let model: HAPType = "21"
    public static let serialNumber: HAPType = "30"
    public static let firmwareRevision: HAPType = "52"
    public static let lightbulb: HAPType = "43"
    public static let on: HAPType = "25"
    public static let brightness: HAPType = "8"
}

/// Names one characteristic: its accessory (`aid`) and its instance (`iid`).
public struct CharacteristicID: Hashable, Sendable, CustomStringConvertible {
    public var accessory: UInt64
    public var instance: UInt64

    public init(accessory: UInt64, instance: UInt64) {
        self.accessory = accessory
        self.instance = instance
    }

    public var description: String { "\(accessory).\(instance)" }
}

/// The value of a characteristic.
public enum CharacteristicValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Above `Int64.max`.
    case unsigned(UInt64)
    case number(Double)
    case string(String)

    /// True or false, also where the accessory sends 1 or 0, as a number or as a text.
    public var bool: Bool? {
        switch self {
        case .bool(let value): value
        case .integer(0), .number(0), .string("0"), .string("false"): false
        case .integer(1), .number(1), .string("1"), .string("true"): true
        default: nil
        }
    }

    /// A number, also where the accessory sends it as a text.
    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .number(let value): value
        case .string(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
        case .null, .bool: nil
        }
    }

    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }
}

/// One accessory of an accessory database: a lamp is one, a gateway holds many.
public struct Accessory: Hashable, Sendable {
    public struct Service: Hashable, Sendable {
        public var instance: UInt64
        public var type: HAPType
        public var characteristics: [Characteristic]

        /// The first characteristic of a type.
        public func characteristic(_ type: HAPType) -> Characteristic? { characteristics.first { $0.type == type } }
    }

    public struct Characteristic: Hashable, Sendable {
        public var id: CharacteristicID
        public var type: HAPType
        /// HAP's permissions as they came: `pr` paired read, `pw` paired write, `ev` events, `tw` timed write, `wr` write response.
        public var permissions: Set<String>
        public var format: String?
        public var unit: String?
        public var minimum: Double?
        public var maximum: Double?
        public var step: Double?
        /// The value at the time the database was read, nil where it had none.
        public var value: CharacteristicValue?
    }

    public var id: UInt64
    public var services: [Service]

    /// The first service of a type.
    public func service(_ type: HAPType) -> Service? { services.first { $0.type == type } }

    /// A text from the accessory information service, such as ``HAPType/name`` or ``HAPType/model``.
    public func information(_ type: HAPType) -> String? {
        service(.accessoryInformation)?.characteristic(type)?.value?.string
    }
}
