import CrashCapture
import Diagnostics
import FoundationEssentials
import Glibc
import HomeKit
import ServiceKit
import Settings

/// The program `handkit-lamp`.
public enum LampProgram {
    static let syntax = ProgramSyntax(
        name: "handkit-lamp", version: Product.version,
        abstract:
            "A HomeKit light bulb in the terminal: Apple Home, Home Assistant and handkit-bridge can pair with it, switch and dim it.",
        options: [
            .value("state", "FOLDER", "Where the lamp keeps who it is and whom it is paired with."),
            .value("log-format", "FORMAT", "How log lines on standard error look.", kind: .choice(LogFormat.allCases.map(\.rawValue))),
        ],
        commands: [
            CommandSyntax(
                "run", "Be a lamp until SIGTERM, Ctrl-C or q",
                discussion: """
                    On a terminal it draws itself; space toggles it, arrows dim it, q ends it. Elsewhere it prints one JSON object a line for everything that happens to it. SIGUSR1 toggles it, as a hand on the lamp would. Its setup code is random at its first start, and kept.
                    """,
                options: [
                    .value("name", "NAME", "What controllers call it; 'HandKit Lamp' by default."),
                    .value("port", "PORT", "TCP port; a free one by default.", kind: .integer(0...65535)),
                    .value("address", "ADDRESS", "Listen on this address alone, and announce it alone."),
                    .value("lamps", "N", "Be a bridge with so many lamps.", kind: .integer(1...10_000)),
                    .value("code", "CODE", "Setup code of a new lamp, ddd-dd-ddd; others on this machine can see it here."),
                    .value("code-file", "FILE", "Read the setup code of a new lamp from a file."),
                    .flag("code-stdin", "Read the setup code of a new lamp from standard input."),
                    .flag("no-mdns", "Do not announce the lamp on the network."),
                    .values("quirk", "NAME[=VALUE]", "Behave like a lamp that is hard to get along with; may be repeated, see 'quirks'."),
                    CrashTest.option,
                ]),
            CommandSyntax("code", "Show the setup code and its QR code"),
            CommandSyntax("quirks", "List what --quirk can switch on"),
            CommandSyntax("reset", "Forget all controllers and begin anew, with another identity and setup code"),
        ],
        defaultCommand: "run")

    /// Runs the program.
    /// - Parameter arguments: without the program's own name.
    /// - Returns: the exit code: 0 fine, 1 failed, 2 wrong usage.
    public static func main(_ arguments: [String]) async -> Int32 {
        await syntax.run(arguments) { arguments in
            let environment = ProcessInfo.processInfo.environment
            let folder = arguments["state"] ?? Settings.Bridge(environment: environment).state + "/lamp"
            let store = AccessoryStore(folder: folder)
            let format = arguments["log-format"].flatMap(LogFormat.init(rawValue:)) ?? .auto
            let logger = Logger(program: syntax.name, level: .warning, destination: LogStream(format: format))
            switch arguments.command {
            case "code":
                guard let identity = try load(store) else { throw LampFailure.notYet(folder: folder) }
                StandardOutput.write(SetupSheet(identity).text)
            case "quirks": StandardOutput.write(quirkList)
            case "reset":
                try save(.random(), in: store)
                StandardOutput.write("the lamp in \(folder) is new again\n")
            default: try await run(arguments, store, logger)
            }
        }.rawValue
    }

    private static func run(_ arguments: Arguments, _ store: AccessoryStore, _ logger: Logger) async throws {
        let quirks = try Quirks(parsing: arguments.all("quirk"))
        let address = arguments["address"] ?? "::"
        let plan = LampPlan(
            name: arguments["name"] ?? "HandKit Lamp", address: address, port: UInt16(arguments.integer("port") ?? 0),
            lamps: arguments.integer("lamps") ?? 1, isAnnounced: !arguments.has(flag: "no-mdns"), quirks: quirks,
            quirkTexts: arguments.all("quirk"))
        let code = try setupCode(arguments)
        var identity = try load(store)
        if let known = identity, let code, known.setupCode != code {
            guard known.controllers.isEmpty else { throw LampFailure.codeIsKept }
            identity?.setupCode = code
        }
        let start = plan.identity(identity ?? .random(setupCode: code ?? .random()))
        try save(start, in: store)
        let isScreen = isatty(STDOUT_FILENO) == 1
        let service = try LampService(plan, start, store, isScreen ? ScreenOutput() : JSONOutput(), logger)
        let environment = ProcessInfo.processInfo.environment
        let crashes = CrashDelivery(
            program: syntax.name, settings: try Settings.diagnostics(environment: environment), environment: environment, secrets: [],
            publish: nil, logger: logger)
        var members: [ServiceGroup.Member] = [.init("lamp", service, mayEnd: true), .init("crashes", crashes)]
        if let test = CrashTest(arguments) { members.append(.init("crash-test", test)) }
        await crashes.begin()
        try await ServiceGroup(members, logger: logger, manager: ServiceManager(environment: environment)).run()
    }

    private static func setupCode(_ arguments: Arguments) throws -> SetupCode? {
        let given = [arguments["code"] != nil, arguments["code-file"] != nil, arguments.has(flag: "code-stdin")]
        guard given.count(where: \.self) <= 1 else { throw LampFailure.twoCodes }
        var text = arguments["code"]
        if let file = arguments["code-file"] ?? (arguments.has(flag: "code-stdin") ? "/dev/stdin" : nil) {
            do throws(FileFailure) {
                text = String(decoding: try readFile(file, limit: 256), as: UTF8.self)
            } catch {
                throw LampFailure.codeFile(error)
            }
        }
        guard let text else { return nil }
        guard let code = try? SetupCode(text) else { throw LampFailure.badSetupCode }
        guard !code.isTrivial else { throw LampFailure.trivialSetupCode }
        return code
    }

    private static func load(_ store: AccessoryStore) throws(LampFailure) -> AccessoryIdentity? {
        do throws(PairingStoreError) { return try store.load() } catch { throw .store(error) }
    }

    private static func save(_ identity: AccessoryIdentity, in store: AccessoryStore) throws(LampFailure) {
        do throws(PairingStoreError) { try store.save(identity) } catch { throw .store(error) }
    }

    private static var quirkList: String {
        let column = 2 + (Quirk.allCases.map(\.usage.count).max() ?? 0)
        return Quirk.allCases.map { quirk in
            let expectation: String? =
                switch quirk.value {
                case .none: nil
                case .optional(_, let kind, let standard):
                    (kind.expectation.map { "takes \($0)" } ?? "takes a text")
                        + ", \(standard.isEmpty ? "empty" : standard) where it is left out"
                case .required(_, let kind): kind.expectation.map { "takes \($0)" } ?? "takes a text"
                }
            let gap = String(repeating: " ", count: column - quirk.usage.count)
            let detail = expectation.map { "\n" + String(repeating: " ", count: column) + $0 } ?? ""
            return "\(quirk.usage)\(gap)\(quirk.explanation)\(detail)\n"
        }.joined()
    }
}
