/// A JSON value that keeps whole numbers whole: identifiers of 64 bits do not survive a floating-point number.
enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Above `Int64.max`.
    case unsigned(UInt64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// Where a text stops being JSON.
    struct Fault: Error, Equatable {
        var offset: Int
    }

    /// Reads a text, forgiving commas before a closing bracket, which some accessories leave.
    init(parsing bytes: [UInt8]) throws(Fault) {
        var reader = JSONReader(bytes: bytes)
        self = try reader.document()
    }

    subscript(_ key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    var array: [JSON]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    var uint64: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .unsigned(let value): value
        case .number(let value): UInt64(exactly: value)
        default: nil
        }
    }

    var int64: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}

/// Reads one JSON text; nesting is limited so that no text can exhaust the stack.
private struct JSONReader {
    static let maximumDepth = 64

    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }
    private var fault: JSON.Fault { JSON.Fault(offset: position) }

    mutating func document() throws(JSON.Fault) -> JSON {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        let value = try value(depth: 0)
        skipBlanks()
        // Trailing zero bytes come from senders that count a C string's end.
        while next == 0 { position += 1 }
        guard position == bytes.count else { throw fault }
        return value
    }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func value(depth: Int) throws(JSON.Fault) -> JSON {
        guard depth < Self.maximumDepth else { throw fault }
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return try number()
        }
    }

    private mutating func literal(_ text: StaticString, _ value: JSON) throws(JSON.Fault) -> JSON {
        let count = text.utf8CodeUnitCount
        guard bytes[position...].prefix(count).elementsEqual("\(text)".utf8) else { throw fault }
        position += count
        return value
    }

    private mutating func object(depth: Int) throws(JSON.Fault) -> JSON {
        position += 1
        var members: [String: JSON] = [:]
        while true {
            skipBlanks()
            if next == UInt8(ascii: "}") { break }
            guard next == UInt8(ascii: "\"") else { throw fault }
            let key = try string()
            skipBlanks()
            guard next == UInt8(ascii: ":") else { throw fault }
            position += 1
            members[key] = try value(depth: depth + 1)
            try separator(closing: UInt8(ascii: "}"))
        }
        position += 1
        return .object(members)
    }

    private mutating func array(depth: Int) throws(JSON.Fault) -> JSON {
        position += 1
        var elements: [JSON] = []
        while true {
            skipBlanks()
            if next == UInt8(ascii: "]") { break }
            elements.append(try value(depth: depth + 1))
            try separator(closing: UInt8(ascii: "]"))
        }
        position += 1
        return .array(elements)
    }

    private mutating func separator(closing: UInt8) throws(JSON.Fault) {
        skipBlanks()
        if next == UInt8(ascii: ",") {
            position += 1
        } else if next != closing {
            throw fault
        }
    }

    private mutating func string() throws(JSON.Fault) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            default: text.append(byte)
            }
        }
        throw fault
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSON.Fault) {
        guard let byte = next else { throw fault }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "u"):
            var scalar = UInt32(try codeUnit())
            if (0xD800...0xDBFF).contains(scalar), bytes[position...].starts(with: Array("\\u".utf8)) {
                position += 2
                let low = UInt32(try codeUnit())
                guard (0xDC00...0xDFFF).contains(low) else { throw fault }
                scalar = 0x10000 + (scalar - 0xD800) << 10 + (low - 0xDC00)
            }
            text += Array(String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        default: throw fault
        }
    }

    private mutating func codeUnit() throws(JSON.Fault) -> UInt16 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw fault }
        position += 4
        return unit
    }

    private mutating func number() throws(JSON.Fault) -> JSON {
        let characters = bytes[position...].prefix { byte in
            (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x2B || byte == 0x2E || byte == 0x65 || byte == 0x45
        }
        guard let first = characters.first, first == 0x2D || (0x30...0x39).contains(first), characters.count <= 64 else { throw fault }
        let text = String(decoding: characters, as: UTF8.self)
        let value: JSON
        if let integer = Int64(text) {
            value = .integer(integer)
        } else if let unsigned = UInt64(text) {
            value = .unsigned(unsigned)
        } else if let number = Double(text), number.isFinite {
            value = .number(number)
        } else {
            throw fault
        }
        position += characters.count
        return value
    }
}
