/// What a command line asks for.
public enum Invocation: Equatable, Sendable {
    /// Print this text and end well.
    case print(String)
    case run(Arguments)
}

/// A command with its values, all of them as the syntax wants them.
public struct Arguments: Equatable, Sendable {
    public let command: String
    fileprivate(set) var values: [String: String] = [:]
    fileprivate(set) var lists: [String: [String]] = [:]
    fileprivate(set) var flags: Set<String> = []

    /// The value of an option (by its name) or of a positional (by its name as help shows it).
    public subscript(name: String) -> String? { values[name] }

    /// The value of an option or positional of the integer kind.
    public func integer(_ name: String) -> Int? { values[name].flatMap(Int.init) }

    /// The value of an option or positional of the number kind.
    public func number(_ name: String) -> Double? { values[name].flatMap(Double.init) }

    /// The values of an option that may be repeated, in their order.
    public func all(_ name: String) -> [String] { lists[name] ?? [] }

    public func has(flag name: String) -> Bool { flags.contains(name) }
}

/// What is wrong with a command line.
public enum UsageError: Error, Equatable, Sendable {
    case missingCommand(program: String)
    case unknownCommand(String, nearest: String?, program: String)
    case unknownOption(String, nearest: String?, help: String)
    case repeatedOption(String, help: String)
    case missingValue(option: String, value: String, help: String)
    case valueForFlag(option: String, help: String)
    case wrongValue(String, of: String, expectation: String, help: String)
    case missingArgument(String, help: String)
    case unexpectedArgument(String, help: String)
}

extension ProgramSyntax {
    /// Takes the arguments after the program's name apart. `--` ends the options.
    public func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        var rest = arguments[...]
        let named = rest.first.flatMap { first in first.hasPrefix("-") ? nil : first }
        var command: CommandSyntax?
        if let named {
            guard let found = commands.first(where: { $0.name == named }) else {
                if named == "help" { return try helpCommand(rest.dropFirst()) }
                throw .unknownCommand(named, nearest: nearest(to: named, among: commands.map(\.name)), program: name)
            }
            command = found
            rest = rest.dropFirst()
        } else if let defaultCommand {
            command = commands.first { $0.name == defaultCommand }
        }

        // Help wins over anything that may be wrong beside it: whoever asks for it is looking for what is right.
        let asked = rest.prefix { $0 != "--" }
        if asked.contains("--help") || asked.contains("-h") { return .print(help(for: named == nil ? nil : command)) }
        if asked.contains("--version") { return .print("\(name) \(version)\n") }
        guard let command else {
            if let option = rest.first {
                throw .unknownOption(option, nearest: nearest(to: option, among: options.map { "--\($0.name)" }), help: "\(name) --help")
            }
            throw .missingCommand(program: name)
        }
        return .run(try parse(rest, of: command))
    }

    private func helpCommand(_ arguments: ArraySlice<String>) throws(UsageError) -> Invocation {
        guard let topic = arguments.first else { return .print(help(for: nil)) }
        guard let command = commands.first(where: { $0.name == topic }) else {
            throw .unknownCommand(topic, nearest: nearest(to: topic, among: commands.map(\.name)), program: name)
        }
        return .print(help(for: command))
    }

    private func parse(_ arguments: ArraySlice<String>, of command: CommandSyntax) throws(UsageError) -> Arguments {
        let help = "\(name) \(command.name) --help"
        let known = command.options + options
        var parsed = Arguments(command: command.name)
        var positionals = command.positionals[...]
        var rest = arguments
        var optionsEnded = false

        while let argument = rest.popFirst() {
            if argument == "--", !optionsEnded {
                optionsEnded = true
            } else if argument.hasPrefix("-"), argument != "-", !optionsEnded {
                let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                guard let option = known.first(where: { "--\($0.name)" == parts[0] }) else {
                    throw .unknownOption(parts[0], nearest: nearest(to: parts[0], among: known.map { "--\($0.name)" }), help: help)
                }
                guard parsed.values[option.name] == nil, !parsed.flags.contains(option.name) else {
                    throw .repeatedOption(parts[0], help: help)
                }
                guard let valueName = option.value else {
                    guard parts.count == 1 else { throw .valueForFlag(option: parts[0], help: help) }
                    parsed.flags.insert(option.name)
                    continue
                }
                // A word that is itself an option is more likely the next one than this one's value; `=` takes anything.
                let next = parts.count == 1 ? rest.first.flatMap { isOption($0, known) ? nil : $0 } : parts[1]
                guard let value = next else { throw .missingValue(option: parts[0], value: valueName, help: help) }
                if parts.count == 1 { rest = rest.dropFirst() }
                guard option.kind.accepts(value) else {
                    throw .wrongValue(value, of: parts[0], expectation: option.kind.expectation ?? "not empty", help: help)
                }
                if option.isRepeatable {
                    parsed.lists[option.name, default: []].append(value)
                } else {
                    parsed.values[option.name] = value
                }
            } else {
                guard let positional = positionals.popFirst() else { throw .unexpectedArgument(argument, help: help) }
                guard positional.kind.accepts(argument) else {
                    throw .wrongValue(argument, of: positional.name, expectation: positional.kind.expectation ?? "not empty", help: help)
                }
                parsed.values[positional.name] = argument
            }
        }
        if let missing = positionals.first(where: \.isRequired) { throw .missingArgument(missing.name, help: help) }
        return parsed
    }

    private func isOption(_ argument: String, _ known: [OptionSyntax]) -> Bool {
        known.contains { argument == "--\($0.name)" || argument.hasPrefix("--\($0.name)=") } || argument == "--"
    }
}

extension UsageError: UserFacingFailure {
    public var exitCode: ExitCode { .wrongUsage }

    public var reports: [FailureReport] {
        func report(_ what: String, _ remedy: String) -> [FailureReport] { [FailureReport(what, remedy: remedy)] }
        func hint(_ nearest: String?, _ help: String) -> String {
            (nearest.map { "did you mean '\($0)'? " } ?? "") + "'\(help)' lists what there is"
        }
        return switch self {
        case .missingCommand(let program): report("a command is missing", "'\(program) --help' lists the commands")
        case .unknownCommand(let name, let nearest, let program):
            report("there is no command '\(name)'", hint(nearest, "\(program) --help"))
        case .unknownOption(let name, let nearest, let help): report("there is no option '\(name)'", hint(nearest, help))
        case .repeatedOption(let name, let help): report("'\(name)' is given twice", "give it once; see '\(help)'")
        case .missingValue(let option, let value, let help):
            report("'\(option)' needs a value", "write '\(option) \(value)'; see '\(help)'")
        case .valueForFlag(let option, let help): report("'\(option)' takes no value", "write '\(option)' alone; see '\(help)'")
        case .wrongValue(let value, let name, let expectation, let help):
            report("'\(value)' is no value for \(name)", "it has to be \(expectation); see '\(help)'")
        case .missingArgument(let name, let help): report("\(name) is missing", "see '\(help)'")
        case .unexpectedArgument(let text, let help): report("'\(text)' is one argument too many", "see '\(help)'")
        }
    }
}
