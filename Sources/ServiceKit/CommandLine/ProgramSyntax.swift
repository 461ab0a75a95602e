/// What may stand on a program's command line, as a table from which it is parsed and its help is written.
public struct ProgramSyntax: Sendable {
    public var name: String
    public var version: String
    /// One sentence: what the program does.
    public var abstract: String
    /// Options of every command. `--help` and `--version` are always there.
    public var options: [OptionSyntax]
    public var commands: [CommandSyntax]
    /// The command that runs where none is named.
    public var defaultCommand: String?

    public init(
        name: String, version: String, abstract: String, options: [OptionSyntax] = [], commands: [CommandSyntax],
        defaultCommand: String? = nil
    ) {
        (self.name, self.version, self.abstract) = (name, version, abstract)
        (self.options, self.commands, self.defaultCommand) = (options, commands, defaultCommand)
    }
}

/// One subcommand.
public struct CommandSyntax: Sendable {
    public var name: String
    /// One line for the list of commands.
    public var abstract: String
    /// What a newcomer needs to know beyond that: what it prints, an example.
    public var discussion: String?
    public var positionals: [PositionalSyntax]
    public var options: [OptionSyntax]

    public init(
        _ name: String, _ abstract: String, discussion: String? = nil, positionals: [PositionalSyntax] = [], options: [OptionSyntax] = []
    ) {
        (self.name, self.abstract, self.discussion) = (name, abstract, discussion)
        (self.positionals, self.options) = (positionals, options)
    }
}

/// An argument known by its place.
public struct PositionalSyntax: Sendable {
    /// Upper case, as help shows it: `CLIP`.
    public var name: String
    public var help: String
    public var kind: ValueKind
    public var isRequired: Bool

    public init(_ name: String, _ help: String, kind: ValueKind = .text, isRequired: Bool = true) {
        (self.name, self.help, self.kind, self.isRequired) = (name, help, kind, isRequired)
    }
}

/// `--name`, `--name VALUE` or `--name=VALUE`.
public struct OptionSyntax: Sendable {
    /// Without the dashes.
    public var name: String
    public var help: String
    /// Nil for a flag; else what help shows as the value, upper case: `FILE`.
    public var value: String?
    public var kind: ValueKind
    /// Whether it may be given more than once; ``Arguments/all(_:)`` has all its values.
    public var isRepeatable: Bool

    private init(name: String, help: String, value: String?, kind: ValueKind, isRepeatable: Bool = false) {
        (self.name, self.help, self.value, self.kind, self.isRepeatable) = (name, help, value, kind, isRepeatable)
    }

    /// An option that is there or not.
    public static func flag(_ name: String, _ help: String) -> Self {
        .init(name: name, help: help, value: nil, kind: .text)
    }

    public static func value(_ name: String, _ value: String, _ help: String, kind: ValueKind = .text) -> Self {
        .init(name: name, help: help, value: value, kind: kind)
    }

    /// An option that may be given more than once.
    public static func values(_ name: String, _ value: String, _ help: String, kind: ValueKind = .text) -> Self {
        .init(name: name, help: help, value: value, kind: kind, isRepeatable: true)
    }
}

/// What a value has to be.
public enum ValueKind: Hashable, Sendable {
    case text
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    case choice([String])

    /// What would be right, nil where every text is.
    public var expectation: String? {
        switch self {
        case .text: nil
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "a number from \(range.lowerBound.shortest) to \(range.upperBound.shortest)"
        case .choice(let choices): "one of \(choices.joined(separator: ", "))"
        }
    }

    /// Whether a text is such a value.
    public func accepts(_ text: String) -> Bool {
        switch self {
        case .text: !text.isEmpty
        case .integer(let range): Int(text).map(range.contains) ?? false
        case .number(let range): Double(text).map(range.contains) ?? false
        case .choice(let choices): choices.contains(text)
        }
    }
}

extension Double {
    /// Without a fraction that says nothing: `1`, `0.25`.
    public var shortest: String {
        Int(exactly: self).map(String.init) ?? String(self)
    }
}
