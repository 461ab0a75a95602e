import HomeKit
import MDNS
import ServiceKit
import TestSupport
import Testing

@testable import Lamp

/// Each quirk as our own controller meets it: what a person would see, and what it makes of it.
@Suite(.timeLimit(.minutes(3))) struct `A lamp with quirks` {
    /// Short where an answer that never comes is waited for.
    private static let impatient = HAPTimeouts(request: .seconds(1))

    private func address(_ lamp: HandKitLamp) -> HAPAddress { HAPAddress(host: "127.0.0.1", port: lamp.port) }

    private func pair(_ lamp: HandKitLamp) async throws -> PairingRecord {
        try await HAPPairing.pair(at: [address(lamp)], code: try SetupCode(HandKitLamp.code))
    }

    /// A lamp, a session with it, and its bulb.
    private struct Scene {
        var lamp: HandKitLamp
        var record: PairingRecord
        var session: HAPSession
        var on: CharacteristicID
        var brightness: CharacteristicID

        func write(on isOn: Bool? = nil, brightness percent: Int64? = nil) async throws -> [HAPStatus] {
            let writes = [isOn.map { CharacteristicWrite(on, .bool($0)) }, percent.map { CharacteristicWrite(brightness, .integer($0)) }]
            return try await session.write(writes.compactMap(\.self)).map(\.status)
        }

        func read() async throws -> [CharacteristicValue?] { try await session.read([on, brightness]).map(\.value) }
    }

    private func scene(_ quirks: String..., timeouts: HAPTimeouts = HAPTimeouts()) async throws -> Scene {
        let lamp = try await HandKitLamp.start(quirks: quirks)
        let record = try await pair(lamp)
        let session = try await HAPSession.open(record, timeouts: timeouts)
        let bulb = try #require(Lightbulb.all(in: try await session.accessories()).first)
        return Scene(lamp: lamp, record: record, session: session, on: bulb.on, brightness: try #require(bulb.brightness?.id))
    }

    @Test(arguments: [
        "delay=50", "segment", "segment=1", "framing=length", "framing=chunked", "lower-case-headers", "newline-after-body", "bad-json",
        "leading-zeros=apple", "leading-zeros=as-sent", "zero-salt", "no-state", "one-piece", "strict-requests", "ignores-true",
        "dimmer-lag=20", "new-instances", "event-echo", "events-max", "unpairing-hangs-up",
    ])
    func `odd as it is, it is paired, switched, read and unpaired`(quirk: String) async throws {
        let scene = try await scene(quirk)
        #expect(try await scene.write(on: true, brightness: 57) == [.success, .success])
        let values = try await scene.read()
        #expect(values[0]?.bool == true && values[1] == .integer(57))
        await scene.session.close()
        try await HAPPairing.unpair(scene.record)
    }

    @Test func `a connection dropped in place of an answer ends the session`() async throws {
        // Verification takes two requests and the database one.
        let scene = try await scene("drop-after=3")
        await #expect(throws: HAPError.closed(errno: 0)) { try await scene.read() }
    }

    @Test func `a lamp that has gone silent times out, and the session with it`() async throws {
        let scene = try await scene("mute-after=3", timeouts: Self.impatient)
        await #expect(throws: HAPError.timedOut(.read)) { try await scene.read() }
        #expect(await scene.session.end == .timedOut(.read))
    }

    @Test func `a connection closed for being idle is seen to be`() async throws {
        let scene = try await scene("idle-close=1")
        try await eventually("the session ended") { await scene.session.end == .closed(errno: 0) }
        // And another one is to be had; a busy machine may let it be idle for too long as well.
        try await eventually("another session worked") { () async throws -> Bool in
            guard let session = try? await HAPSession.open(scene.record) else { return false }
            return (try? await session.read([scene.on]).count) == 1
        }
    }

    @Test func `sessions beyond the limit are refused with 503`() async throws {
        let lamp = try await HandKitLamp.start(quirks: ["sessions=1"])
        let record = try await pair(lamp)
        let refusal = HAPError.httpStatus(.pairVerifyStart, code: 503, status: nil)
        // The lamp may not have seen yet that the connection of pair-setup is over.
        let session = try await eventually("there was room") { () async throws -> HAPSession? in
            do { return try await HAPSession.open(record) } catch let error as HAPError where error == refusal { return nil }
        }
        await #expect(throws: refusal) { try await HAPSession.open(record) }
        await session.close()
    }

    @Test func `470 without a length does not stall, and ends the session`() async throws {
        let scene = try await scene("bare-470=1")
        await #expect(throws: HAPError.httpStatus(.read, code: 470, status: nil)) { try await scene.read() }
        #expect(await scene.session.end != nil)
    }

    @Test func `JSON that is rubbish ends what it was for, and says so`() async throws {
        let lamp = try await HandKitLamp.start(quirks: ["bad-json=garbage"])
        let session = try await HAPSession.open(try await pair(lamp))
        await #expect { try await session.accessories() } throws: { error in
            guard case .malformed(.accessories, _) = error as? HAPError else { return false }
            return true
        }
    }

    @Test(arguments: [
        ("positive", HAPStatus.notAllowedInCurrentState), ("true", .notAllowedInCurrentState), ("top-level", .notAllowedInCurrentState),
    ])
    func `a refusal is a refusal however its status is written`(how: String, status: HAPStatus) async throws {
        let scene = try await scene("brightness-needs-on=rejected", "status=\(how)")
        #expect(try await scene.write(brightness: 57) == [status])
        #expect(try await scene.write(on: true, brightness: 57) == [.success, .success])
        #expect(try await scene.read()[1] == .integer(57))
    }

    @Test func `answers one behind are never taken for the right ones`() async throws {
        let lamp = try await HandKitLamp.start(quirks: ["stale-answers"])
        let session = try await HAPSession.open(try await pair(lamp), timeouts: Self.impatient)
        await #expect(throws: HAPError.timedOut(.accessories)) { try await session.accessories() }
        await #expect(throws: HAPError.self) { try await session.accessories() }
    }

    @Test(arguments: [
        ("busy", HAPError.busy), ("429", .busy), ("503", .busy), ("max-tries", .tooManyTries), ("max-peers", .tooManyControllers),
        ("paired", .alreadyPaired), ("backoff", .backoff(seconds: nil)), ("unknown", .refused(.pairSetupStart, code: 1)),
    ])
    func `a refused pairing says why`(refusal: String, error: HAPError) async throws {
        let lamp = try await HandKitLamp.start(quirks: ["pair-setup=\(refusal)"])
        await #expect(throws: error) { try await pair(lamp) }
    }

    @Test(arguments: ["400", "470"])
    func `a wrong code is one, whatever status it is refused with`(status: String) async throws {
        let lamp = try await HandKitLamp.start(quirks: ["refusal-status=\(status)"])
        await #expect(throws: HAPError.wrongSetupCode) { try await HAPPairing.pair(at: [address(lamp)], code: try SetupCode("111-22-334")) }
    }

    @Test func `a pairing that is gone is known to be, whatever status the lamp says it with`() async throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let first = try await HandKitLamp.start(folder: folder)
        let record = try await pair(first)
        _ = try await first.stop()
        let second = try await HandKitLamp.start(quirks: ["forgets", "refusal-status"], folder: folder)
        await #expect(throws: HAPError.pairingLost) { try await HAPSession.open(record, at: [address(second)]) }
    }

    @Test func `a lamp that hangs up instead of saying that it is unpaired, is`() async throws {
        let lamp = try await HandKitLamp.start(quirks: ["unpairing-hangs-up"])
        let record = try await pair(lamp)
        try await HAPPairing.unpair(record)
        try await eventually("the lamp told of it") { lamp.events.contains { $0.event == "unpaired" } }
        _ = try await pair(lamp)
    }

    @Test func `a lamp without events is used without them`() async throws {
        let scene = try await scene("no-events")
        let statuses = try await scene.session.subscribe(to: [scene.on, scene.brightness]).map(\.status)
        #expect(statuses == [.notificationNotSupported, .notificationNotSupported])
        #expect(try await scene.write(on: true, brightness: 57) == [.success, .success])
    }

    @Test func `what is between two steps is refused, and the nearest is taken`() async throws {
        let scene = try await scene("dimmer-step=5")
        #expect(try await scene.write(on: true, brightness: 57) == [.success, .invalidValue])
        let bulb = try #require(Lightbulb.all(in: try await scene.session.accessories()).first)
        #expect(bulb.brightness?.scale.value(percent: 57) == .integer(55))
        #expect(try await scene.write(on: true, brightness: 55) == [.success, .success])
    }

    @Test func `a lamp that was reset is told from one that is away`() async throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let first = try await HandKitLamp.start(folder: folder)
        let record = try await pair(first)
        _ = try await first.stop()
        let second = try await HandKitLamp.start(quirks: ["forgets"], folder: folder)
        #expect(second.id == record.accessoryID)
        await #expect(throws: HAPError.pairingLost) { try await HAPSession.open(record, at: [address(second)]) }
    }

    @Test func `On and Brightness are found again when their numbers have changed`() async throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        var record: PairingRecord?
        var numbers: [CharacteristicID] = []
        for _ in 0..<2 {
            let lamp = try await HandKitLamp.start(quirks: ["new-instances", "new-port"], folder: folder)
            if record == nil { record = try await pair(lamp) }
            let session = try await HAPSession.open(try #require(record), at: [address(lamp)])
            let bulb = try #require(Lightbulb.all(in: try await session.accessories()).first)
            #expect(try await session.read([bulb.on])[0].value?.bool == false)
            numbers.append(bulb.on)
            _ = try await lamp.stop()
        }
        #expect(numbers[0] != numbers[1])
    }

    @Test func `brightness is ignored while it is off`() async throws {
        let scene = try await scene("brightness-needs-on")
        #expect(try await scene.write(brightness: 57) == [.success])
        #expect(try await scene.read()[1] == .integer(40))
        #expect(try await scene.write(on: true, brightness: 57) == [.success, .success])
        #expect(try await scene.read()[1] == .integer(57))
    }

    @Test func `zero with On makes it fully bright`() async throws {
        let scene = try await scene("zero-is-full")
        _ = try await scene.write(on: true, brightness: 0)
        #expect(try await scene.read()[1] == .integer(100))
    }

    @Test func `it jumps back to full after On and Brightness while on, and not after Brightness alone`() async throws {
        let scene = try await scene("jump-back=50")
        _ = try await scene.write(on: true, brightness: 30)
        _ = try await scene.write(brightness: 31)
        #expect(try await scene.read()[1] == .integer(31))
        _ = try await scene.write(on: true, brightness: 32)
        try await eventually("the lamp jumped to full") { try await scene.read()[1] == .integer(100) }
    }

    @Test func `its echo of an own write arrives as an event`() async throws {
        let scene = try await scene("event-echo", "event-interval=10")
        _ = try await scene.session.subscribe(to: [scene.brightness])
        _ = try await scene.write(brightness: 57)
        var events = scene.session.events.makeAsyncIterator()
        #expect(await events.next()?.value == .integer(57))
    }
}

@Suite struct `Quirks on the command line` {
    @Test func `are names, some with values`() throws {
        let quirks = try Quirks(parsing: ["delay", "segment=3", "txt-id=a=b", "bad-json"])
        #expect(quirks.milliseconds(.delay) == .milliseconds(300))
        #expect(quirks.integer(.segment) == 3 && quirks[.txtID] == "a=b" && quirks[.badJSON] == "comma")
        #expect(!quirks.has(.forgets))
    }

    @Test(arguments: [
        ("dely", "there is no quirk 'dely'; did you mean 'delay'? 'handkit-lamp quirks' lists them"),
        ("delay=soon", "'soon' is no value for the quirk; write delay[=MS]; 'handkit-lamp quirks' lists them"),
        ("forgets=1", "'1' is no value for the quirk; write forgets; 'handkit-lamp quirks' lists them"),
        ("framing", "the quirk 'framing' needs a value; write framing=HOW; 'handkit-lamp quirks' lists them"),
    ])
    func `wrong ones are refused with what would be right`(text: String, report: String) {
        do {
            _ = try Quirks(parsing: [text])
            Issue.record("accepted")
        } catch {
            #expect(error.reports.map(\.description) == [report])
            #expect(error.exitCode == .wrongUsage)
        }
    }

    @Test(arguments: Quirk.allCases) func `all explain themselves and take what they say`(quirk: Quirk) throws {
        #expect(quirk.explanation.hasSuffix("."))
        if case .optional(_, let kind, let standard) = quirk.value, !standard.isEmpty { #expect(kind.accepts(standard)) }
    }
}

@Suite struct `What a lamp announces` {
    private func text(_ quirks: String..., lamps: Int = 1) throws -> (AccessoryIdentity, [String: String]) {
        let plan = LampPlan(
            name: "Lamp", address: "::", port: 0, lamps: lamps, isAnnounced: true, quirks: try Quirks(parsing: quirks), quirkTexts: quirks)
        let identity = plan.identity(.random())
        let pairs = plan.text(identity).pairs.map { ($0.key, String(decoding: $0.value ?? [], as: UTF8.self)) }
        return (identity, Dictionary(uniqueKeysWithValues: pairs))
    }

    @Test func `is what HAP wants`() throws {
        let (identity, text) = try text()
        #expect(text["id"] == identity.id && text["c#"] == "1" && text["s#"] == "1" && text["sf"] == "1" && text["ff"] == "0")
        #expect(text["pv"] == "1.1" && text["ci"] == "5" && text["md"] == "HandKit Lamp")
        #expect(text["sh"] == SetupPayload.hash(setupID: identity.setupID, accessoryID: identity.id))
        #expect(try self.text(lamps: 2).1["ci"] == "2")
    }

    @Test func `is what the quirks make of it`() throws {
        #expect(try text("txt-id").1["id"] == "")
        #expect(try text("txt-id=nobody").1["id"] == "nobody")
        #expect(try text("txt-nul").1["md"] == "HandKit Lamp\0")
        #expect(try text("config-number=zero").1["c#"] == "0")
        #expect(try text("config-number=bump").1["c#"] == "2")
    }
}
