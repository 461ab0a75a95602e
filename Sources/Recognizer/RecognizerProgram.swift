internal import BrokerLink
internal import Camera
internal import Contract
internal import CrashCapture
internal import Diagnostics
internal import FoundationEssentials
internal import Gestures
internal import HomeAssistant
internal import Imaging
internal import MQTT
internal import Monitoring
internal import Preview
internal import ServiceKit
internal import Settings

/// The program `handkit-recognizer`.
public enum RecognizerProgram {
    /// Runs the program with the arguments after its name.
    /// - Returns: The exit code: 0 fine, 1 failed, 2 wrong usage.
    public static func main(_ arguments: [String]) async -> Int32 {
        await syntax.run(arguments) { arguments in
            switch arguments.command {
            case "replay": try await replay(arguments)
            case "calibrate": try await calibrate(arguments)
            case "cameras": printCameras()
            case "watch": try await watch(arguments)
            default: try await run(arguments)
            }
        }.rawValue
    }

    static let syntax = ProgramSyntax(
        name: "handkit-recognizer", version: Product.version,
        abstract: "Watches a hand through a camera and publishes what it means on MQTT: a pinch toggles, a sideways move dims.",
        options: [
            .value("config", "FILE", "Read the settings from FILE; without it the defaults and HANDKIT_… variables count."),
            .value("log-format", "FORMAT", "How to log on standard error.", kind: .choice(["auto", "text", "json"])),
        ],
        commands: [
            CommandSyntax(
                "run", "Capture, recognise and publish until stopped",
                discussion: """
                    Needs an MQTT broker; while there is none it goes on trying. Watch what it says with
                      mosquitto_sub -v -t 'handkit/#'
                    """,
                options: [
                    .value(
                        "source", "SOURCE",
                        "auto (the first camera), a device such as /dev/video0, or a recorded clip, which is played at its own pace."),
                    .flag("loop", "Begin a clip anew when it ends, instead of stopping."), CrashTest.option,
                ]),
            CommandSyntax(
                "replay", "Recognise a recorded clip as fast as possible, without a broker",
                discussion: """
                    Prints one JSON object a line for every event; 't' is seconds of clip time:
                      {"t":1.234,"event":"toggle","hand":"right","confidence":0.97}
                      {"t":2.345,"event":"brightness","value":57.3,"phase":"changed","displacement":0.12}
                    """,
                positionals: [PositionalSyntax("CLIP", "A video file in any format that FFmpeg reads.")],
                options: [
                    .flag("landmarks", "Print the hands of every frame too: 21 points, x and y from 0 to 1."),
                    .flag("diagnosis", "Print for every frame what the gestures make of the hand: gap, reach and states."),
                    .value(
                        "start-brightness", "N", "Where the first slide starts from, 50 unless given.", kind: .number(0...100)),
                ]),
            CommandSyntax(
                "watch", "Show in the terminal what a camera sees and does",
                discussion: """
                    Reads from the broker, so it runs on any machine that reaches it; where the output is no terminal it prints lines.
                    """,
                options: [.value("camera", "ID", "The camera; without it the one of the configuration.")]),
            CommandSyntax(
                "calibrate", "Measure your hand and write a profile that fits it",
                discussion: """
                    Asks for four poses, a few seconds each: open, pinched, pointing, still. Refuses what would not work.
                    """,
                options: [
                    .value("source", "SOURCE", "auto (the first camera), a device such as /dev/video0, or a clip that shows the poses."),
                    .value("profile", "NAME", "Name of the profile, 'calibrated' unless given."),
                ]),
            CommandSyntax("cameras", "List the cameras with their formats and rates"),
        ],
        defaultCommand: "run")

    private static func settings(_ arguments: Arguments) throws -> Settings {
        try Settings.load(file: arguments["config"], environment: ProcessInfo.processInfo.environment)
    }

    private static func logger(_ arguments: Arguments, _ settings: Settings) -> Logger {
        let format = arguments["log-format"].flatMap(LogFormat.init) ?? settings.log.format
        let logger = Logger(program: syntax.name, level: settings.log.level, destination: LogStream(format: format))
        for warning in settings.warnings { logger.warning("odd configuration", ["reason": warning.report]) }
        return logger
    }

    private static func run(_ arguments: Arguments) async throws {
        let settings = try settings(arguments)
        let logger = logger(arguments, settings)
        let specification =
            switch arguments["source"] {
            case .some(let text): try SourceSpecification(text, username: settings.camera.username, password: settings.camera.password)
            case nil: try SourceSpecification(settings.camera)
            }
        let camera = settings.camera
        let topics = CameraTopics(settings.mqtt.topics, camera: camera.id)
        let recognition = try await RecognitionThread { try Recognition(settings: settings) }
        let link = BrokerLink(settings: settings.mqtt, role: "recognizer", id: camera.id, availability: topics.availability)
        let crashes = CrashDelivery(
            program: syntax.name, settings: settings.diagnostics, environment: ProcessInfo.processInfo.environment,
            secrets: settings.secrets,
            publish: { [client = link.client] in try await client.publish(.crash($0, topics.crash)) }, logger: logger)
        let ended = Shutdown()
        let monitor = RecognizerMonitor(settings: settings)
        let service = RecognizerService(
            source: .init(
                specification: specification, request: CaptureRequest(camera), rotation: Rotation(degrees: camera.rotation),
                loops: arguments.has(flag: "loop"),
                onEnd: { ended.request() }),
            topics: topics, discovery: discovery(settings), client: link.client, recognition: recognition, boot: .random(in: .min ... .max),
            profiles: .init(
                files: settings.profiles, settings: settings.gestures, current: settings.profile,
                device: { device(settings, profiles: $0) }),
            monitor: monitor, crashes: crashes, logger: logger)
        var members: [ServiceGroup.Member] = [.init("mqtt", link), .init("recognizer", service), .init("crashes", crashes)]
        if let preview = monitor.preview {
            preview.connect(
                .init(
                    apply: { settings in Task { await recognition.apply(settings) } },
                    enable: { isOn in Task { await service.enable(isOn) } },
                    choose: { profile in Task { await service.chose(profile) } }))
            let http = MonitoringService(
                settings: settings.preview.http, metrics: monitor.metrics, health: { monitor.health(at: steadySeconds()) }, logger: logger,
                page: { preview.respond(to: $0) })
            members += [.init("preview", preview), .init("http", http)]
        }
        if let test = CrashTest(arguments) { members.append(.init("crash-test", test)) }
        await crashes.begin()
        let manager = ServiceManager(environment: ProcessInfo.processInfo.environment)
        let group = ServiceGroup(members, logger: logger, manager: manager)
        logger.notice("handkit-recognizer starts", ["version": Product.version, "camera": camera.id])
        async let stop: Void = Shutdown.$current.withValue(ended) {
            await waitForShutdown()
            if ended.isRequested { group.stop() }
        }
        try await group.run()
        ended.request()
        await stop
    }

    private static func discovery(_ settings: Settings) -> Discovery {
        let owner = settings.mqtt.topics.camera(settings.camera.id, .availability)
        return Discovery(settings.homeAssistant, owner: owner, devices: [device(settings, profiles: settings.profiles.names())])
    }

    private static func device(_ settings: Settings, profiles: [Identifier]) -> DiscoveryDevice {
        let (topics, camera) = (settings.mqtt.topics, settings.camera.id)
        let arming = settings.gestures.arming.mode
        let features = DiscoveryDevice.CameraFeatures(showsArming: arming != .off, armsByCommand: arming == .command || arming == .both)
        let choice = DiscoveryComponent.select(
            "profile", "Profile", choices: profiles.map(\.rawValue), state: topics.camera(camera, .profile),
            command: topics.camera(camera, .profileSet)
        ).category(.config).icon("account-switch")
        return .camera(
            camera, topics: topics, version: Product.version, features: features, more: [choice])
    }

    private static func replay(_ arguments: Arguments) async throws {
        let settings = try settings(arguments)
        let path = arguments["CLIP"] ?? ""
        var recognition = try Recognition(settings: settings, startBrightness: arguments.number("start-brightness") ?? 50)
        var replay = Replay(
            printsLandmarks: arguments.has(flag: "landmarks"), printsDiagnosis: arguments.has(flag: "diagnosis"), output: StandardOutput())
        let source = UprightSource(try ClipSource(path: path), rotation: Rotation(degrees: settings.camera.rotation))
        try replay.run(source, through: &recognition)
        let counters = source.counters
        if counters.corrupt > 0 || counters.missing > 0 {
            logger(arguments, settings).warning(
                "the clip is damaged or cut off; what it held there is not seen",
                ["path": path, "frames": counters.delivered, "corrupt": counters.corrupt, "missing": counters.missing])
        }
    }

    private static func watch(_ arguments: Arguments) async throws {
        let settings = try settings(arguments)
        let camera = try arguments["camera"].map { text throws(WatchFailure) in
            do { return try Identifier(text) } catch { throw WatchFailure(camera: text) }
        }
        let id = settings.mqtt.clientID(role: "watch", id: camera ?? settings.camera.id, instance: .random(in: .min ... .max))
        let client = MQTTClient(MQTTConfiguration(settings.mqtt, clientID: id))
        let connection = ClosureService {
            await withShutdownHandler {
                await client.run()
            } onShutdown: {
                client.shutdown()
            }
        }
        let watch = WatchService(topics: settings.mqtt.topics, camera: camera ?? settings.camera.id, client: client)
        var quiet = logger(arguments, settings)
        quiet.level = .warning
        try await ServiceGroup([.init("mqtt", connection), .init("watch", watch)], logger: quiet).run()
    }

    private static func calibrate(_ arguments: Arguments) async throws {
        let settings = try settings(arguments)
        let name = arguments["profile"] ?? "calibrated"
        guard let profile = try? Identifier(name) else {
            throw UsageError.wrongValue(
                name, of: "--profile", expectation: "1 to 64 of the characters a-z, 0-9, _ and -", help: "\(syntax.name) calibrate --help")
        }
        let source = try arguments["source"].map { text throws(CameraError) in try SourceSpecification(text) }
        try await CalibrationRun(settings: settings).run(source ?? SourceSpecification(settings.camera), profile: profile)
    }

    private static func printCameras() {
        var output = StandardOutput()
        output.write(CameraTable.text(CameraCatalog.list()))
    }
}
