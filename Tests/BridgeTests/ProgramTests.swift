import Contract
import HomeKit
import ServiceKit
import Settings
import Testing

@testable import Bridge

@Suite struct ProgramTests {
    @Test func `without a command the bridge runs`() throws {
        guard case .run(let arguments) = try BridgeProgram.syntax.parse(["--config", "a.yaml"]) else {
            Issue.record("it prints something instead")
            return
        }
        #expect(arguments.command == "run")
        #expect(arguments["config"] == "a.yaml")
    }

    @Test(arguments: BridgeProgram.syntax.commands.map(\.name))
    func `every command has a help`(command: String) throws {
        guard case .print(let text) = try BridgeProgram.syntax.parse([command, "--help"]) else {
            Issue.record("no help")
            return
        }
        #expect(text.contains("Usage: handkit-bridge \(command)"))
    }

    @Test func `no option takes a setup code`() {
        let options = BridgeProgram.syntax.commands.flatMap(\.options) + BridgeProgram.syntax.options
        #expect(options.filter { $0.name.contains("code") }.map(\.name) == ["code-file", "code-stdin"])
    }

    @Test(arguments: [("on", LampCommand.power(true)), ("off", .power(false)), ("toggle", .toggle), ("0", .level(0)), ("100", .level(100))])
    func `what set takes becomes a command`(text: String, command: LampCommand) {
        #expect(LampCommand(argument: text) == command)
    }

    @Test(arguments: ["", "ON", "101", "-1", "5%", "5.5"])
    func `what set does not take is refused`(text: String) {
        #expect(LampCommand(argument: text) == nil)
    }
}

@Suite struct BridgePlanTests {
    @Test func `where no lamp is configured every pairing is one, driven by the configured camera`() {
        let plan = BridgePlan(Settings(), pairings: ["hall", "desk", "Küche"])
        #expect(plan.lamps.map(\.id.rawValue) == ["desk", "hall"])
        #expect(plan.routes == [Settings().camera.id: plan.lamps.map(\.id)])
        #expect(plan.unusable == ["Küche"])
    }

    @Test func `configured lamps and routes are taken as they are, several routes of a camera together`() throws {
        var settings = Settings()
        let (desk, hall, camera) = (try Identifier("desk"), try Identifier("hall"), try Identifier("cam"))
        settings.lamps = [.init(id: desk), .init(id: hall)]
        settings.routes = [.init(camera: camera, lamps: [hall]), .init(camera: camera, lamps: [desk, hall])]
        let plan = BridgePlan(settings, pairings: ["attic"])
        #expect(plan.lamps.map(\.id) == [desk, hall])
        #expect(plan.routes == [camera: [hall, desk]])
        #expect(plan.unusable.isEmpty)
    }

    @Test func `without lamps there is nothing to route`() {
        let plan = BridgePlan(Settings(), pairings: [])
        #expect(plan.lamps.isEmpty)
        #expect(plan.routes.isEmpty)
    }
}

@Suite struct WordingTests {
    @Test(arguments: [
        BridgeFailure.lamp(name: "desk", address: .init(host: "10.0.0.1", port: 80), .hap(.wrongSetupCode), pairing: true),
        .lamp(name: "desk", address: .init(host: "10.0.0.1", port: 80), .hap(.pairingLost), pairing: false),
        .lamp(
            name: "desk", address: .init(host: "10.0.0.1", port: 80), .hap(.connectFailed(host: "10.0.0.1", port: 80, errno: 111)),
            pairing: false),
        .lamp(name: "desk", address: .init(host: "10.0.0.1", port: 80), .noLightbulb, pairing: true),
        .pairings(.tooOpen(path: "/x/pairings.json", mode: 0o644)), .unknownLamp("desk", known: []), .unknownLamp("desk", known: ["hall"]),
        .notPaired(lamp: "desk"), .alreadyPaired(name: "desk", path: "/x"), .badSetupCode, .noTerminal,
        .commandDropped(lamp: "desk", .refused(status: -70410)),
    ])
    func `every failure is one line that says what to do`(failure: BridgeFailure) throws {
        let report = try #require(failure.reports.first)
        #expect(failure.reports.count == 1)
        #expect(report.remedy != nil)
        #expect(!report.description.contains("\n"))
    }
}
