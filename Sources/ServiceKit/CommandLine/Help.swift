extension ProgramSyntax {
    private static let width = 100

    /// The help of a command, or of the program where none is given.
    public func help(for command: CommandSyntax?) -> String {
        command.map(commandHelp) ?? programHelp
    }

    private var programHelp: String {
        var text = Self.wrap(abstract, indent: 0)
        text += "\nUsage: \(name) \(defaultCommand == nil ? "COMMAND" : "[COMMAND]") [OPTIONS]\n"
        text += "\nCommands:\n"
        text += Self.table(
            commands.map { command in
                let usage = ([command.name] + command.positionals.map(Self.usage)).joined(separator: " ")
                return (usage, command.abstract + (command.name == defaultCommand ? " (default)" : ""))
            })
        let own = defaultCommand.flatMap { name in commands.first { $0.name == name } }
        if let own, !own.options.isEmpty { text += "\nOptions of '\(own.name)':\n" + Self.table(own.options.map(Self.row)) }
        text += "\nOptions:\n" + commonOptions
        text += "\n'\(name) COMMAND --help' explains a command.\n"
        return text
    }

    private func commandHelp(_ command: CommandSyntax) -> String {
        var text = Self.wrap(command.abstract + ".", indent: 0)
        let parts = [name, command.name] + command.positionals.map(Self.usage) + ["[OPTIONS]"]
        text += "\nUsage: \(parts.joined(separator: " "))\n"
        if let discussion = command.discussion {
            text +=
                "\n" + discussion.split(separator: "\n", omittingEmptySubsequences: false).map { Self.wrap(String($0), indent: 0) }.joined()
        }
        if !command.positionals.isEmpty {
            text += "\nArguments:\n" + Self.table(command.positionals.map { ($0.name, Self.explained($0.help, $0.kind)) })
        }
        let title = command.options.isEmpty ? "" : "\nOptions:\n" + Self.table(command.options.map(Self.row))
        return text + title + "\nCommon options:\n" + commonOptions
    }

    private var commonOptions: String {
        Self.table(options.map(Self.row) + [("--help", "Show this help."), ("--version", "Show the version.")])
    }

    private static func usage(_ positional: PositionalSyntax) -> String {
        positional.isRequired ? positional.name : "[\(positional.name)]"
    }

    private static func row(_ option: OptionSyntax) -> (String, String) {
        ("--\(option.name)" + (option.value.map { " \($0)" } ?? ""), explained(option.help, option.kind))
    }

    private static func explained(_ help: String, _ kind: ValueKind) -> String {
        kind.expectation.map { "\(help) Takes \($0)." } ?? help
    }

    private static func table(_ rows: [(String, String)]) -> String {
        let column = 4 + (rows.map(\.0.count).filter { $0 <= 26 }.max() ?? 0)
        return rows.map { term, explanation in
            let lead = "  " + term
            let body = wrap(explanation, indent: column)
            guard lead.count + 2 <= column else { return lead + "\n" + body }
            return lead + String(repeating: " ", count: column - lead.count) + body.dropFirst(column)
        }.joined()
    }

    /// Breaks at spaces; a line that is indented already, such as an example, stays as it is.
    private static func wrap(_ text: String, indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        guard !text.hasPrefix(" ") else { return margin + text + "\n" }
        var lines = [""]
        for word in text.split(separator: " ") {
            if !lines[lines.count - 1].isEmpty, indent + lines[lines.count - 1].count + 1 + word.count > width { lines.append("") }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
        }
        return lines.map { ($0.isEmpty ? "" : margin + $0) + "\n" }.joined()
    }
}
