import Glibc
import ServiceKit
import TestSupport
import Testing

private let syntax = ProgramSyntax(
    name: "lampctl", version: "1.2.3", abstract: "Switches lamps from the command line.",
    options: [
        .value("config", "FILE", "The configuration; without it defaults and HANDKIT_… variables."),
        .value("log-format", "FORMAT", "How the log is written.", kind: .choice(["auto", "text", "json"])),
    ],
    commands: [
        CommandSyntax("run", "Serve until stopped", options: [.flag("once", "End after one pass.")]),
        CommandSyntax(
            "set", "Set a lamp's brightness",
            discussion: """
                A brightness of 0 switches the lamp off; above 0 it is switched on if it was off, and both reach the lamp in one request, so \
                that it does not flash.

                  lampctl set desk 40
                """,
            positionals: [
                PositionalSyntax("LAMP", "Its id in the configuration."),
                PositionalSyntax("PERCENT", "Without it the lamp is only asked.", kind: .integer(0...100), isRequired: false),
            ],
            options: [
                .value("fade-over-this-many-seconds", "SECONDS", "How long it takes.", kind: .number(0...2.5)),
                .flag("json", "Print JSON."),
            ]),
    ],
    defaultCommand: "run")

private func parse(_ arguments: String...) throws(UsageError) -> Arguments {
    guard case .run(let arguments) = try syntax.parse(arguments) else { preconditionFailure("help or version") }
    return arguments
}

struct CommandLineTests {
    @Test func `the program's help`() throws {
        let expected = """
            Switches lamps from the command line.

            Usage: lampctl [COMMAND] [OPTIONS]

            Commands:
              run                 Serve until stopped (default)
              set LAMP [PERCENT]  Set a lamp's brightness

            Options of 'run':
              --once  End after one pass.

            Options:
              --config FILE        The configuration; without it defaults and HANDKIT_… variables.
              --log-format FORMAT  How the log is written. Takes one of auto, text, json.
              --help               Show this help.
              --version            Show the version.

            'lampctl COMMAND --help' explains a command.

            """
        for arguments in [["--help"], ["-h"], ["help"], ["--bogus", "--help"]] {
            #expect(try syntax.parse(arguments) == .print(expected))
        }
    }

    @Test func `a command's help`() throws {
        let expected = """
            Set a lamp's brightness.

            Usage: lampctl set LAMP [PERCENT] [OPTIONS]

            A brightness of 0 switches the lamp off; above 0 it is switched on if it was off, and both reach the
            lamp in one request, so that it does not flash.

              lampctl set desk 40

            Arguments:
              LAMP     Its id in the configuration.
              PERCENT  Without it the lamp is only asked. Takes a whole number from 0 to 100.

            Options:
              --fade-over-this-many-seconds SECONDS
                      How long it takes. Takes a number from 0 to 2.5.
              --json  Print JSON.

            Common options:
              --config FILE        The configuration; without it defaults and HANDKIT_… variables.
              --log-format FORMAT  How the log is written. Takes one of auto, text, json.
              --help               Show this help.
              --version            Show the version.

            """
        for arguments in [["set", "--help"], ["help", "set"], ["set", "desk", "-h"]] {
            #expect(try syntax.parse(arguments) == .print(expected))
        }
    }

    @Test func `the version`() throws {
        #expect(try syntax.parse(["--version"]) == .print("lampctl 1.2.3\n"))
    }

    @Test func `options stand anywhere, with a space or an equals sign`() throws {
        let arguments = try parse("set", "--config", "a.yaml", "desk", "--fade-over-this-many-seconds=0.5", "40", "--json")
        #expect(arguments.command == "set")
        #expect(arguments["config"] == "a.yaml")
        #expect(arguments["LAMP"] == "desk")
        #expect(arguments.integer("PERCENT") == 40)
        #expect(arguments.number("fade-over-this-many-seconds") == 0.5)
        #expect(arguments.has(flag: "json"))
        #expect(!arguments.has(flag: "once"))
    }

    @Test func `without a command the default one runs, its options included`() throws {
        #expect(try parse().command == "run")
        let arguments = try parse("--once", "--config=x")
        #expect(arguments.command == "run")
        #expect(arguments.has(flag: "once"))
    }

    @Test func `two dashes end the options, and one alone is an argument`() throws {
        #expect(try parse("set", "--", "--json")["LAMP"] == "--json")
        #expect(try parse("set", "-")["LAMP"] == "-")
        #expect(try parse("set", "--config", "-5", "desk")["config"] == "-5")
    }

    @Test(arguments: [
        (["st"], "there is no command 'st'; did you mean 'set'? 'lampctl --help' lists what there is"),
        (["frobnicate"], "there is no command 'frobnicate'; 'lampctl --help' lists what there is"),
        (["--confg", "x"], "there is no option '--confg'; did you mean '--config'? 'lampctl run --help' lists what there is"),
        (["set", "desk", "--once"], "there is no option '--once'; 'lampctl set --help' lists what there is"),
        (["set", "desk", "--json", "--json"], "'--json' is given twice; give it once; see 'lampctl set --help'"),
        (["--config"], "'--config' needs a value; write '--config FILE'; see 'lampctl run --help'"),
        (["--config", "--once"], "'--config' needs a value; write '--config FILE'; see 'lampctl run --help'"),
        (["--config="], "'' is no value for --config; it has to be not empty; see 'lampctl run --help'"),
        (["--once=yes"], "'--once' takes no value; write '--once' alone; see 'lampctl run --help'"),
        (["set", "desk", "101"], "'101' is no value for PERCENT; it has to be a whole number from 0 to 100; see 'lampctl set --help'"),
        (
            ["--log-format", "xml"],
            "'xml' is no value for --log-format; it has to be one of auto, text, json; see 'lampctl run --help'"
        ),
        (["set"], "LAMP is missing; see 'lampctl set --help'"),
        (["set", "a", "1", "b"], "'b' is one argument too many; see 'lampctl set --help'"),
    ])
    func `wrong usage says what would be right`(arguments: [String], expected: String) async {
        let error = #expect(throws: UsageError.self) { try syntax.parse(arguments) }
        #expect(error?.reports.map(\.description) == [expected])
        #expect(error?.exitCode == .wrongUsage)
    }

    @Test func `a program without a default command asks for one`() {
        var strict = syntax
        strict.defaultCommand = nil
        #expect(throws: UsageError.missingCommand(program: "lampctl")) { try strict.parse([]) }
        #expect(throws: UsageError.unknownOption("--once", nearest: nil, help: "lampctl --help")) { try strict.parse(["--once"]) }
    }

    @Test func `no arguments, however odd, do harm`() {
        let pieces = ["set", "run", "help", "desk", "--", "-", "--json", "--config", "--config=", "=", "", "-x", "40", "--help=1", "🖐"]
        var random = SeededGenerator(seed: 7)
        var (parsed, refused) = (0, 0)
        for _ in 0..<5000 {
            let arguments = (0..<Int.random(in: 0...5, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
            do {
                _ = try syntax.parse(arguments)
                parsed += 1
            } catch {
                #expect(error.reports.count == 1)
                refused += 1
            }
        }
        #expect(parsed > 0 && refused > 0)
    }
}

struct ProgramExitTests {
    private struct Unreachable: UserFacingFailure {
        var reports: [FailureReport] { [FailureReport("connection\nrefused", at: "lamp.local:51826", remedy: "is the lamp on?")] }
    }

    @Test func `a failure is one line on standard error and exit code 1`() async throws {
        let result = await #expect(processExitsWith: .exitCode(1), observing: [\.standardErrorContent, \.standardOutputContent]) {
            let syntax = ProgramSyntax(
                name: "lampctl", version: "1", abstract: "", commands: [CommandSyntax("run", "")], defaultCommand: "run")
            exit(await syntax.run([]) { _ in throw Unreachable() }.rawValue)
        }
        let error = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(error.contains("lampctl: lamp.local:51826: connection refused; is the lamp on?\n"))
    }

    @Test func `wrong usage is exit code 2 and a body that returns is 0`() async {
        #expect(await syntax.run(["--bogus"]) { _ in } == .wrongUsage)
        #expect(await syntax.run(["run"]) { _ in } == .fine)
    }
}
