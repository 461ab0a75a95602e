/// One line of a log before it becomes text.
public struct LogRecord: Sendable {
    public struct Field: Sendable {
        public let name: String
        public var value: Logger.Value

        public init(name: String, value: Logger.Value) {
            (self.name, self.value) = (name, value)
        }
    }

    public let time: WallTime
    public let level: Logger.Level
    public let program: String
    public let message: String
    /// In the order they were given.
    public let fields: [Field]

    public init(time: WallTime, level: Logger.Level, program: String, message: String, fields: [Field]) {
        (self.time, self.level, self.program, self.message, self.fields) = (time, level, program, message, fields)
    }

    /// The description of a field's value.
    public subscript(field: String) -> String? {
        fields.first { $0.name == field }.map { "\($0.value)" }
    }

    /// `2026-11-30T15:39:47.123Z info    handkit-bridge: connected host=localhost port=1883`
    ///
    /// Values with spaces are quoted; control characters are escaped, so that nothing logged can forge a line or steer a terminal.
    public var text: String {
        var line = "\(time) \(level.rawValue)"
        line += String(repeating: " ", count: max(1, 8 - level.rawValue.count))
        line += "\(program): \(message)"
        for field in fields {
            let value = "\(field.value)"
            let isPlain =
                !value.isEmpty && !value.unicodeScalars.contains { $0.value <= 0x20 || $0 == "\"" || $0 == "=" || Self.isControl($0) }
            line += " \(field.name)=" + (isPlain ? value : Self.quoted(value))
        }
        return line
    }

    /// `{"time":"…","level":"info","program":"…","message":"…","fields":{…}}`; the five names are always there.
    public var json: String {
        var line = "{\"time\":\"\(time)\",\"level\":\"\(level.rawValue)\",\"program\":\(Self.quoted(program))"
        line += ",\"message\":\(Self.quoted(message)),\"fields\":{"
        line += fields.map { "\(Self.quoted($0.name)):\(Self.jsonValue($0.value))" }.joined(separator: ",")
        return line + "}}"
    }

    private static func jsonValue(_ value: Logger.Value) -> String {
        switch value {
        case let number as any BinaryInteger: "\(number)"
        case let number as Double where number.isFinite: "\(number)"
        case let number as Float where number.isFinite: "\(number)"
        case let flag as Bool: "\(flag)"
        default: quoted("\(value)")
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where isControl(scalar):
                let hex = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// C0, DEL and C1, and the two Unicode line separators.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0, 0x2028, 0x2029: true
        default: false
        }
    }
}
