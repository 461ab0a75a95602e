internal import Contract
internal import FoundationEssentials
public import Gestures
internal import ServiceKit
public import Settings
internal import Synchronization

/// The gesture settings that are in force, which a page changes while the recogniser runs.
public final class Tuning: Sendable {
    private struct State {
        var settings: GestureSettings
        var profile: String?
    }

    public let profiles: GestureProfiles
    private let state: Mutex<State>
    private let start: GestureSettings

    public init(_ settings: GestureSettings, profile: String? = nil, profiles: GestureProfiles) {
        (start, self.profiles) = (settings, profiles)
        state = Mutex(State(settings: settings, profile: profile))
    }

    public var settings: GestureSettings { state.withLock { $0.settings } }

    /// One value of a request or an answer.
    enum Scalar: Codable, Equatable {
        case number(Double)
        case text(String)

        init(_ value: GestureField.Value) {
            switch value {
            case .number(let number): self = .number(number)
            case .choice(let name): self = .text(name)
            }
        }

        var value: GestureField.Value {
            switch self {
            case .number(let number): .number(number)
            case .text(let text): .choice(text)
            }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number): try container.encode(number)
            case .text(let text): try container.encode(text)
            }
        }
    }

    struct Problem: Encodable, Equatable, Error {
        var key: String
        var expected: String
    }

    /// Takes over all of the values or none.
    /// - Returns: What is wrong.
    func change(_ values: [String: Scalar]) -> [Problem] {
        state.withLock { state in
            var settings = state.settings
            var problems: [Problem] = []
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                guard let field = GestureField.all.first(where: { $0.key == key }) else {
                    problems.append(Problem(key: key, expected: "a key that there is"))
                    continue
                }
                if let expected = field.set(value.value, in: &settings) { problems.append(Problem(key: key, expected: expected)) }
            }
            problems += settings.faults.map { Problem(key: $0.key, expected: $0.expected) }
            if problems.isEmpty { state.settings = settings }
            return problems
        }
    }

    /// Goes back to what the configuration says.
    func reset() {
        state.withLock { $0.settings = start }
    }

    func save(as name: Identifier) throws(FileFailure) {
        try profiles.save(settings, as: name)
        state.withLock { $0.profile = name.rawValue }
    }

    func use(_ name: Identifier) throws(SettingsError) {
        let loaded = try profiles.load(name, over: start)
        state.withLock { $0 = State(settings: loaded, profile: name.rawValue) }
    }

    /// Takes over a profile that was chosen elsewhere.
    func adopt(_ settings: GestureSettings, profile: Identifier) {
        state.withLock { $0 = State(settings: settings, profile: profile.rawValue) }
    }

    // MARK: The form

    struct Form: Encodable {
        struct Field: Encodable {
            var key: String
            var help: String
            var kind: String
            var minimum: Double?
            var maximum: Double?
            var unit: String?
            var choices: [String]?
            var start: Scalar
        }

        var fields: [Field]
        var values: [String: Scalar]
        var profiles: [String]
        var profile: String?
    }

    var form: Form {
        let state = state.withLock { $0 }
        let fields = GestureField.all.map { field in
            var made = Form.Field(key: field.key, help: field.help, kind: "number", start: Scalar(field.value(in: start)))
            switch field.kind {
            case .number(let range, let unit): (made.minimum, made.maximum, made.unit) = (range.lowerBound, range.upperBound, unit)
            case .integer(let range, let unit):
                (made.kind, made.minimum, made.maximum, made.unit) = ("integer", Double(range.lowerBound), Double(range.upperBound), unit)
            case .milliseconds(let range):
                (made.kind, made.minimum, made.maximum, made.unit) = ("integer", Double(range.lowerBound), Double(range.upperBound), "ms")
            case .choice(let names): (made.kind, made.choices) = ("choice", names)
            }
            return made
        }
        return Form(fields: fields, values: values(state.settings), profiles: profiles.names().map(\.rawValue), profile: state.profile)
    }

    private func values(_ settings: GestureSettings) -> [String: Scalar] {
        Dictionary(uniqueKeysWithValues: GestureField.all.map { ($0.key, Scalar($0.value(in: settings))) })
    }
}
