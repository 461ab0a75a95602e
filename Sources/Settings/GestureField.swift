public import Gestures
internal import ServiceKit

/// One setting of the gestures: its key, what it takes and what it is for.
///
/// ``all`` is the one description of these settings, from which the configuration is read, profiles are written and the preview's form is made.
public struct GestureField: Sendable {
    public enum Kind: Hashable, Sendable {
        /// - Parameter unit: In words; empty for a share.
        case number(ClosedRange<Double>, unit: String)
        case integer(ClosedRange<Int>, unit: String)
        /// Whole milliseconds, for a time that the gestures take in seconds.
        case milliseconds(ClosedRange<Int>)
        case choice([String])
    }

    public enum Value: Hashable, Sendable {
        /// In the key's unit: milliseconds where it ends in `_ms`.
        case number(Double)
        case choice(String)
    }

    /// Below `gestures`: `pinch.close`.
    public let key: String
    public let kind: Kind
    /// One sentence for a person who tunes it.
    public let help: String
    private let read: @Sendable (GestureSettings) -> Value
    /// False for a value of the wrong kind.
    private let write: @Sendable (inout GestureSettings, Value) -> Bool

    public func value(in settings: GestureSettings) -> Value { read(settings) }

    /// - Returns: What would be right, where `value` is not; the settings are unchanged then.
    public func set(_ value: Value, in settings: inout GestureSettings) -> String? {
        isValid(value) && write(&settings, value) ? nil : expectation
    }

    /// Completes "it has to be …".
    public var expectation: String {
        switch kind {
        case .number(let range, _): "a number from \(range.lowerBound.shortest) to \(range.upperBound.shortest)"
        case .integer(let range, let unit): "a whole number of \(unit) from \(range.lowerBound) to \(range.upperBound)"
        case .milliseconds(let range): "a whole number of milliseconds from \(range.lowerBound) to \(range.upperBound)"
        case .choice(let names): "one of \(names.joined(separator: ", "))"
        }
    }

    private func isValid(_ value: Value) -> Bool {
        switch (kind, value) {
        case (.number(let range, _), .number(let number)): range.contains(number)
        case (.integer(let range, _), .number(let number)), (.milliseconds(let range), .number(let number)):
            Int(exactly: number).map(range.contains) ?? false
        case (.choice(let names), .choice(let name)): names.contains(name)
        default: false
        }
    }

    /// The value that a text stands for; nil where it is none of this field's.
    func value(of text: String) -> Value? {
        let value: Value? =
            switch kind {
            case .number: Double(text).map(Value.number)
            case .integer, .milliseconds: Int(text).map { .number(Double($0)) }
            case .choice: .choice(text)
            }
        return value.flatMap { isValid($0) ? $0 : nil }
    }
}

extension GestureField {
    typealias Path<Number> = any WritableKeyPath<GestureSettings, Number> & Sendable

    static func number(_ key: String, _ path: Path<Double>, _ range: ClosedRange<Double>, _ unit: String, _ help: String) -> Self {
        Self(
            key: key, kind: .number(range, unit: unit), help: help, read: { .number($0[keyPath: path]) },
            write: { settings, value in
                guard case .number(let number) = value else { return false }
                settings[keyPath: path] = number
                return true
            })
    }

    static func integer(_ key: String, _ path: Path<Int>, _ range: ClosedRange<Int>, _ unit: String, _ help: String) -> Self {
        Self(
            key: key, kind: .integer(range, unit: unit), help: help, read: { .number(Double($0[keyPath: path])) },
            write: { settings, value in
                guard case .number(let number) = value else { return false }
                settings[keyPath: path] = Int(number)
                return true
            })
    }

    /// - Parameter path: To a time in seconds.
    static func time(_ key: String, _ path: Path<Double>, to limit: Int = 10_000, _ help: String) -> Self {
        Self(
            key: key, kind: .milliseconds(0...limit), help: help, read: { .number(($0[keyPath: path] * 1000).rounded()) },
            write: { settings, value in
                guard case .number(let number) = value else { return false }
                settings[keyPath: path] = number / 1000
                return true
            })
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable & SendableMetatype>(
        _ key: String, _ path: Path<Choice>, _ help: String
    ) -> Self {
        Self(
            key: key, kind: .choice(Choice.allCases.map(\.rawValue)), help: help, read: { .choice($0[keyPath: path].rawValue) },
            write: { settings, value in
                guard case .choice(let name) = value, let choice = Choice(rawValue: name) else { return false }
                settings[keyPath: path] = choice
                return true
            })
    }
}
