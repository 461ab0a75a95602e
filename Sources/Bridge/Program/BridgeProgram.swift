import BrokerLink
import Contract
import CrashCapture
import Diagnostics
import FoundationEssentials
import HomeAssistant
import HomeKit
import MQTT
import Monitoring
import ServiceKit
import Settings

/// The program `handkit-bridge`.
public enum BridgeProgram {
    static let syntax = ProgramSyntax(
        name: "handkit-bridge", version: Product.version,
        abstract: "Drives HomeKit lamps from the events of HandKit cameras on an MQTT broker, and publishes how the lamps are.",
        options: [
            .value("config", "FILE", "The YAML configuration; without it, defaults and environment."),
            .value("log-format", "FORMAT", "How log lines on standard error look.", kind: .choice(LogFormat.allCases.map(\.rawValue))),
        ],
        commands: [
            CommandSyntax(
                "run", "Connect broker and lamps, until SIGTERM or Ctrl-C",
                discussion: """
                    Lamps and routes come from the configuration. Where it names no lamps, every paired lamp is \
                    driven by the configured camera.
                    A broker or lamp that is not there is tried again for ever.
                    """,
                options: [CrashTest.option]),
            CommandSyntax(
                "discover", "List the HomeKit accessories on the network",
                discussion: "PAIRED says what the accessory itself says: 'no', 'yes', or the name of our pairing with it.",
                options: [
                    jsonOption, .value("seconds", "N", "How long to look.", kind: .number(0.1...600)),
                ]),
            CommandSyntax(
                "pair", "Pair with a lamp and keep the pairing under a name",
                discussion: """
                    The setup code is asked for in the terminal and not shown, or read from a file or from standard input; \
                    never from the command line, where others could see it. The text of its QR code (X-HM://…) does as well, and \
                    tells which lamp it is. Where neither that nor an option does, it is the only lamp on the network that is not \
                    paired. For example:
                      handkit-bridge pair desk
                      handkit-bridge pair desk --lamp AA:BB:CC:DD:EE:FF
                      handkit-bridge pair desk --host 192.168.1.20:51826
                    """,
                positionals: [PositionalSyntax("NAME", "What the lamp is to be called, in topics too.")],
                options: [
                    .value("lamp", "LAMP", "Which lamp on the network: its name or id, as 'discover' shows them."),
                    .value("host", "HOST:PORT", "Where the lamp answers, without looking at the network."),
                    .value("code-file", "FILE", "Read the setup code from a file."),
                    .flag("code-stdin", "Read the setup code from standard input."),
                    .flag("replace", "Replace the pairing of that name, of a lamp that was reset."),
                ]),
            CommandSyntax("lamps", "List the paired lamps and how they are", options: [jsonOption]),
            CommandSyntax(
                "get", "Print how a lamp is", positionals: [PositionalSyntax("LAMP", "Name of a paired lamp.")], options: [jsonOption]),
            CommandSyntax(
                "set", "Switch or dim a lamp, and print how it is then",
                positionals: [
                    PositionalSyntax("LAMP", "Name of a paired lamp."),
                    PositionalSyntax("VALUE", "on, off, toggle or a percentage from 0 (off) to 100."),
                ],
                options: [jsonOption]),
            CommandSyntax(
                "identify", "Let a lamp make itself noticed, as by blinking",
                positionals: [
                    PositionalSyntax("LAMP", "Name of a paired lamp; or name, id or HOST:PORT of one that nobody is paired with.")
                ]),
            CommandSyntax(
                "watch", "Print how a lamp is, and every change as it tells of it",
                positionals: [PositionalSyntax("LAMP", "Name of a paired lamp.")], options: [jsonOption]),
            CommandSyntax(
                "bulbs", "List the light bulbs behind a pairing: what 'bulb' of a lamp can name",
                positionals: [PositionalSyntax("LAMP", "Name of a paired lamp.")], options: [jsonOption]),
            CommandSyntax(
                "pairings", "List the controllers that a lamp is paired with",
                positionals: [PositionalSyntax("LAMP", "Name of a paired lamp.")], options: [jsonOption]),
            CommandSyntax(
                "import", "Take over pairings of aiohomekit, homekit_python or Home Assistant",
                discussion: "The file holds aiohomekit's JSON, {\"alias\": {\"AccessoryPairingID\": …}}. Aliases become names.",
                positionals: [PositionalSyntax("FILE", "The pairing file.")],
                options: [.flag("replace", "Replace pairings of the same names.")]),
            CommandSyntax(
                "export", "Write pairings, private keys included, in aiohomekit's form",
                positionals: [
                    PositionalSyntax("FILE", "A new file, which only you will be able to read."),
                    PositionalSyntax("LAMP", "Name of a pairing; all where it is left out.", isRequired: false),
                ]),
            CommandSyntax(
                "unpair", "Take this controller's pairing off a lamp and forget it",
                positionals: [PositionalSyntax("LAMP", "Name of a paired lamp.")],
                options: [.flag("force-local", "Forget the pairing even where the lamp cannot be reached or does not know it.")]),
        ],
        defaultCommand: "run")

    private static let jsonOption = OptionSyntax.flag("json", "Print JSON, as the topics of the lamps carry it.")

    /// Runs the program.
    /// - Parameter arguments: without the program's own name.
    /// - Returns: the exit code: 0 fine, 1 failed, 2 wrong usage.
    public static func main(_ arguments: [String]) async -> Int32 {
        await syntax.run(arguments) { arguments in
            var settings = try Settings.load(file: arguments["config"], environment: ProcessInfo.processInfo.environment)
            if let format = arguments["log-format"].flatMap(LogFormat.init(rawValue:)) { settings.log.format = format }
            let logger = Logger(program: syntax.name, level: settings.log.level, destination: LogStream(format: settings.log.format))
            for warning in settings.warnings { logger.warning("odd configuration", ["reason": warning.report]) }
            let commands = LampCommands(settings: settings, shelf: PairingShelf(folder: settings.bridge.state))
            switch arguments.command {
            case "pair": try await commands.pair(arguments)
            case "lamps": try await commands.list(json: arguments.has(flag: "json"))
            case "get": try await commands.get(arguments["LAMP"] ?? "", json: arguments.has(flag: "json"))
            case "set": try await commands.set(arguments["LAMP"] ?? "", arguments["VALUE"] ?? "", json: arguments.has(flag: "json"))
            case "discover":
                try await commands.discover(json: arguments.has(flag: "json"), seconds: arguments["seconds"].flatMap { Double($0) })
            case "identify": try await commands.identify(arguments["LAMP"] ?? "")
            case "watch": try await commands.watch(arguments["LAMP"] ?? "", json: arguments.has(flag: "json"))
            case "bulbs": try await commands.bulbs(arguments["LAMP"] ?? "", json: arguments.has(flag: "json"))
            case "pairings": try await commands.controllers(arguments["LAMP"] ?? "", json: arguments.has(flag: "json"))
            case "import": try await commands.importPairings(from: arguments["FILE"] ?? "", replace: arguments.has(flag: "replace"))
            case "export": try await commands.exportPairings(arguments["LAMP"], to: arguments["FILE"] ?? "")
            case "unpair": try await commands.unpair(arguments["LAMP"] ?? "", forceLocal: arguments.has(flag: "force-local"))
            default: try await run(settings, commands.shelf, CrashTest(arguments), logger)
            }
        }.rawValue
    }

    private static func run(
        _ settings: Settings, _ shelf: PairingShelf, _ crashTest: CrashTest?, _ logger: Logger
    ) async throws {
        raiseDescriptorLimit()
        let pairings: [String: PairingRecord]
        do throws(PairingStoreError) { pairings = try await shelf.all() } catch { throw BridgeFailure.pairings(error) }
        let plan = BridgePlan(settings, pairings: Array(pairings.keys))
        for name in plan.unusable { logger.warning("a pairing's name is no lamp id, left out", ["pairing": name]) }
        if plan.lamps.isEmpty {
            logger.warning("no lamp is paired", ["remedy": "run 'handkit-bridge pair NAME', then start again"])
        }
        logger.notice("handkit-bridge starts", ["version": Product.version, "bridge": settings.bridge.id])
        for (camera, lamps) in plan.routes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            logger.notice("route", ["camera": camera, "lamps": lamps.map(\.rawValue).joined(separator: ",")])
        }
        let topics = settings.mqtt.topics
        var layout = BridgeCore.Layout(bridge: settings.bridge.id, topics: topics, lamps: plan.lamps.map(\.id), routes: plan.routes)
        layout.groups = plan.groups
        layout.homeAssistant = settings.homeAssistant
        layout.announcementPause = .seconds(Double.random(in: 0...Discovery.longestPause))
        layout.version = Product.version
        let link = BrokerLink(
            settings: settings.mqtt, role: "bridge", id: settings.bridge.id, availability: try TopicName(layout.availabilityTopic))
        let monitor = BridgeMonitor(lamps: plan.lamps.map(\.id))
        let crashTopic = try TopicName(topics.bridge(settings.bridge.id, .crash))
        let crashes = CrashDelivery(
            program: syntax.name, settings: settings.diagnostics, environment: ProcessInfo.processInfo.environment,
            secrets: settings.secrets,
            publish: { [client = link.client] in try await client.publish(.crash($0, crashTopic)) }, logger: logger)
        let service = try BridgeService(
            layout, plan, client: link.client, shelf: shelf, discovery: discovery(settings, logger), monitor: monitor, crashes: crashes,
            logger: logger)
        var members: [ServiceGroup.Member] = [.init("mqtt", link), .init("bridge", service), .init("crashes", crashes)]
        if settings.bridge.http.port != 0 {
            let http = MonitoringService(
                settings: settings.bridge.http, metrics: monitor.metrics, health: { monitor.health }, logger: logger)
            members.append(.init("http", http))
        }
        if let crashTest { members.append(.init("crash-test", crashTest)) }
        await crashes.begin()
        let manager = ServiceManager(environment: ProcessInfo.processInfo.environment)
        try await ServiceGroup(members, logger: logger, manager: manager).run()
        logger.notice("stopped")
    }

    /// What finds lamps; nil where that is not wanted or not possible.
    private static func discovery(_ settings: Settings, _ logger: Logger) -> HAPDiscovery? {
        guard settings.bridge.discovers else { return nil }
        do throws(HAPDiscovery.Failure) {
            return try HAPDiscovery()
        } catch {
            logger.warning("lamps are not looked for on the network", ["reason": "\(error.call): \(systemError(error.errno))"])
            return nil
        }
    }
}
