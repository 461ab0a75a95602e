/// Writes what happened as a fixed message and the facts that vary as fields, so that lines can be searched and counted.
///
/// A value that is handed down: programs make one, libraries never do. Thread-safe.
///
///     logger.info("connected", ["host": host, "port": port])
public struct Logger: Sendable {
    /// From chatter to what needs a person; `notice` is for what happens once or twice in a program's life.
    public enum Level: String, Sendable, CaseIterable, Comparable {
        case debug, info, notice, warning, error

        public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .debug: 0
            case .info: 1
            case .notice: 2
            case .warning: 3
            case .error: 4
            }
        }
    }

    /// A field's value: numbers and booleans stay what they are in JSON, everything else is its description.
    public typealias Value = any CustomStringConvertible & Sendable

    /// Lines below this level are not written.
    public var level: Level
    public let program: String
    /// Fields that every line of this logger carries.
    public private(set) var metadata: [LogRecord.Field]

    private let destination: any LogDestination
    private let clock: @Sendable () -> WallTime

    public init(
        program: String, level: Level = .info, destination: any LogDestination, clock: @escaping @Sendable () -> WallTime = WallTime.now
    ) {
        (self.program, self.level, self.destination, self.clock) = (program, level, destination, clock)
        metadata = []
    }

    /// The same logger with more fields on every line; a field of the same name takes the new value.
    public func with(_ fields: KeyValuePairs<String, Value>) -> Logger {
        var copy = self
        copy.metadata = Self.merge(metadata, fields)
        return copy
    }

    public func log(_ level: Level, _ message: StaticString, _ fields: KeyValuePairs<String, Value> = [:]) {
        guard level >= self.level else { return }
        destination.write(
            LogRecord(time: clock(), level: level, program: program, message: "\(message)", fields: Self.merge(metadata, fields)))
    }

    public func debug(_ message: StaticString, _ fields: KeyValuePairs<String, Value> = [:]) { log(.debug, message, fields) }
    public func info(_ message: StaticString, _ fields: KeyValuePairs<String, Value> = [:]) { log(.info, message, fields) }
    public func notice(_ message: StaticString, _ fields: KeyValuePairs<String, Value> = [:]) { log(.notice, message, fields) }
    public func warning(_ message: StaticString, _ fields: KeyValuePairs<String, Value> = [:]) { log(.warning, message, fields) }
    public func error(_ message: StaticString, _ fields: KeyValuePairs<String, Value> = [:]) { log(.error, message, fields) }

    private static func merge(_ base: [LogRecord.Field], _ fields: KeyValuePairs<String, Value>) -> [LogRecord.Field] {
        var merged = base
        for (name, value) in fields {
            if let index = merged.firstIndex(where: { $0.name == name }) {
                merged[index].value = value
            } else {
                merged.append(.init(name: name, value: value))
            }
        }
        return merged
    }
}
