internal import FoundationEssentials

/// JSON as it stands in messages.
public enum Payload {
    /// Longest payload looked at, in bytes; the contract's own are below 1,000.
    public static let maximumLength = 4096

    /// The JSON of a payload, keys sorted so that the same value is always the same bytes.
    public static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { preconditionFailure("the contract's payloads can always be encoded") }
        return Array(data)
    }

    /// Reads a payload; unknown keys are ignored.
    public static func decode<Value: Decodable>(_ type: Value.Type, from payload: [UInt8]) throws(PayloadFault) -> Value {
        guard payload.count <= maximumLength else { throw .tooLong(bytes: payload.count) }
        do {
            return try JSONDecoder().decode(type, from: Data(payload))
        } catch DecodingError.keyNotFound(let key, _) {
            throw .missing(key: key.stringValue)
        } catch DecodingError.valueNotFound(_, let context), DecodingError.typeMismatch(_, let context) {
            guard let key = context.codingPath.last?.stringValue else { throw .noJSON }
            throw .value(key: key, wanted: "of another type")
        } catch DecodingError.dataCorrupted(let context) {
            guard let key = context.codingPath.last?.stringValue else { throw .noJSON }
            throw .value(key: key, wanted: "one of the contract's values")
        } catch {
            throw .noJSON
        }
    }
}

/// Why a payload was left alone.
public enum PayloadFault: Error, Equatable, Sendable, CustomStringConvertible {
    case tooLong(bytes: Int)
    case noJSON
    case missing(key: String)
    case value(key: String, wanted: String)

    public var description: String {
        switch self {
        case .tooLong(let bytes): "\(bytes) bytes are too long for a payload"
        case .noJSON: "the payload is no JSON object"
        case .missing(let key): "'\(key)' is missing"
        case .value(let key, let wanted): "'\(key)' must be \(wanted)"
        }
    }
}
