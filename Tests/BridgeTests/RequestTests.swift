import Contract
import FoundationEssentials
import HomeAssistant
import Testing

@testable import Bridge

@Suite struct RequestTests {
    @Test func `lamps are listed as they are, at the response topic with the correlation data`() throws {
        var desk = try Desk()
        desk.send(.lamp(desk.lamp, .state(LampValues(on: true, brightness: 57))))
        let answer = try #require(desk.ask(.lamps, "", at: "answers/me", correlation: [1, 2]).first)
        #expect(answer.topic == "answers/me")
        #expect(answer.correlation == [1, 2])
        let response = try Payload.decode(BridgeResponse.self, from: answer.payload)
        #expect(response.status == .ok)
        #expect(response.bridge.rawValue == "house")
        #expect(
            response.lamps == [
                .init(id: desk.lamp, available: true, status: "ok", state: .on, brightness: 57),
                .init(id: desk.other, available: false, status: "connecting"),
            ])
    }

    @Test(arguments: [(#"{"transaction":"a-7"}"#, Transaction.text("a-7")), (#"{"transaction":7}"#, .number(7))])
    func `without a response topic the answer is known by its transaction`(payload: String, transaction: Transaction) throws {
        var desk = try Desk()
        let answer = try #require(desk.ask(.health, payload).first)
        #expect(answer.topic == "handkit/bridge/response/health")
        #expect(answer.correlation == nil)
        let response = try Payload.decode(BridgeResponse.self, from: answer.payload)
        #expect(response.transaction == transaction)
        #expect(response.health?.healthy == false)
        #expect(response.health?.version == "1.2.3")
    }

    @Test(arguments: ["handkit/lamp/desk/set", "handkit/camera/camera/toggle", "handkit/bridge/house/availability"])
    func `an answer is never put where it would be a command or a state`(topic: String) throws {
        var desk = try Desk()
        let answer = try #require(desk.ask(.lamps, "", at: topic, correlation: [1]).first)
        #expect(answer.topic == "handkit/bridge/response/lamps")
        #expect(answer.correlation == nil)
    }

    @Test func `a request for another bridge is none of this one's`() throws {
        var desk = try Desk()
        #expect(desk.send(.request(RequestMessage(.lamps, payload: Array(#"{"bridge":"attic"}"#.utf8)), retained: false)).isEmpty)
        #expect(desk.ask(.lamps, #"{"bridge":"house"}"#).count == 1)
    }

    @Test(arguments: [
        (Topics.Request.identify, #"{"lamp":"attic"}"#, "attic"), (.identify, "{}", "lamp"), (.lamps, "rubbish", "JSON"),
        (.refresh, #"{"lamp":"DESK"}"#, "lamp"), (.health, #"{"transaction":{}}"#, "transaction"),
    ])
    func `a request that cannot be met is answered with the reason`(request: Topics.Request, payload: String, word: String) throws {
        var desk = try Desk()
        let answer = try #require(desk.ask(request, payload).first)
        let response = try Payload.decode(BridgeResponse.self, from: answer.payload)
        #expect(response.status == .error)
        #expect(response.error?.contains(word) == true)
    }

    @Test func `a retained request is no request`() throws {
        var desk = try Desk()
        let actions = desk.send(.request(RequestMessage(.refresh), retained: true))
        #expect(actions.contains { if case .rejected(.retained, _, _, _) = $0 { true } else { false } })
        #expect(!actions.contains { if case .respond = $0 { true } else { false } })
    }

    @Test func `identify is answered when the lamp has done it`() throws {
        var desk = try Desk()
        let actions = desk.send(
            .request(RequestMessage(.identify, payload: Array(#"{"lamp":"desk","transaction":1}"#.utf8)), retained: false))
        guard case .command(.identify, desk.lamp, .request(let number), let expires?) = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(expires == desk.now + .seconds(3))
        let done = desk.send(.lamp(desk.lamp, .answered(request: number, error: nil)))
        guard case .respond(let answer) = done.first else {
            Issue.record("\(done)")
            return
        }
        #expect(try Payload.decode(BridgeResponse.self, from: answer.payload).status == .ok)
        #expect(desk.send(.lamp(desk.lamp, .answered(request: number, error: nil))).isEmpty)
    }

    @Test func `identify that the lamp does not do in time is an error`() throws {
        var desk = try Desk()
        desk.ask(.identify, #"{"lamp":"desk"}"#)
        let failed = desk.send(.lamp(desk.lamp, .answered(request: 1, error: "too late")))
        guard case .respond(let answer) = failed.first else {
            Issue.record("\(failed)")
            return
        }
        #expect(try Payload.decode(BridgeResponse.self, from: answer.payload).error == "too late")
    }

    @Test func `requests that wait are bounded`() throws {
        var desk = try Desk()
        for _ in 0..<RequestDesk.capacity { #expect(desk.ask(.identify, #"{"lamp":"desk"}"#).isEmpty) }
        let answer = try #require(desk.ask(.identify, #"{"lamp":"desk"}"#).first)
        #expect(try Payload.decode(BridgeResponse.self, from: answer.payload).status == .error)
    }

    @Test func `refresh reads the lamps again and publishes everything anew`() throws {
        var desk = try Desk()
        desk.send(.connected)
        let actions = desk.send(.request(RequestMessage(.refresh), retained: false))
        #expect(actions.contains(.refresh(lamp: desk.lamp)) && actions.contains(.refresh(lamp: desk.other)))
        #expect(actions.contains { if case .publish(let message) = $0 { message.topic == "handkit/bridge/house/state" } else { false } })
        #expect(actions.contains { if case .respond = $0 { true } else { false } })
    }
}

@Suite struct AnnouncementTests {
    @Test func `bridge and lamps are announced on every connect, the bridge first`() throws {
        var desk = try Desk(homeAssistant: .init())
        for _ in 0..<2 {
            let topics = desk.published(.connected).filter { $0.hasSuffix("/config") }
            #expect(topics == ["bridge_house", "lamp_desk", "lamp_hall"].map { "homeassistant/device/handkit_\($0)/config" })
            desk.send(.disconnected)
        }
    }

    @Test func `a Home Assistant that starts is told everything after the pause`() throws {
        var desk = try Desk(homeAssistant: .init())
        desk.send(.connected)
        let birth = BridgeCore.Input.message(topic: "homeassistant/status", payload: Array("online".utf8), retained: false)
        #expect(desk.send(birth).isEmpty)
        #expect(desk.core.deadline == desk.now + .seconds(1))
        desk.now += .seconds(1)
        let topics = desk.published(.wake)
        #expect(topics.contains("homeassistant/device/handkit_lamp_desk/config"))
        #expect(topics.contains("handkit/bridge/house/availability"))
        #expect(desk.published(.wake).isEmpty)
    }

    @Test func `a lamp that turns out not to be dimmed is announced again, once`() throws {
        var desk = try Desk(homeAssistant: .init())
        desk.send(.connected)
        #expect(
            desk.published(.lamp(desk.lamp, .state(LampValues(on: true, brightness: nil)))).first
                == "homeassistant/device/handkit_lamp_desk/config")
        #expect(
            desk.published(.lamp(desk.lamp, .state(LampValues(on: false, brightness: nil)))) == [
                "handkit/lamp/desk/state", "handkit/camera/camera/target",
            ])
    }

    @Test func `what is not in the configuration any more is taken back`() throws {
        var desk = try Desk(homeAssistant: .init())
        desk.send(.connected)
        let old = DiscoveryDevice.lamp(
            try Identifier("attic"), of: try Identifier("house"), topics: try Topics(), version: "1", isDimmable: true, statuses: [])
        let topic = "homeassistant/device/handkit_lamp_attic/config"
        #expect(
            desk.send(.message(topic: topic, payload: old.payload(), retained: true)) == [.publish(.init(topic: topic, payload: []))])
    }

    @Test func `its own announcements coming back are no bad messages`() throws {
        var desk = try Desk(homeAssistant: .init())
        desk.send(.connected)
        #expect(
            desk.send(.message(topic: "homeassistant/device/handkit_lamp_desk/config", payload: [1], retained: false)).isEmpty)
    }
}

/// A bridge 'house' with the lamps 'desk' and 'hall'.
private struct Desk {
    var core: BridgeCore
    var now = ContinuousClock.now
    let lamp: Identifier
    let other: Identifier

    init(homeAssistant: Discovery.Settings? = nil) throws {
        (lamp, other) = (try Identifier("desk"), try Identifier("hall"))
        var layout = BridgeCore.Layout(
            bridge: try Identifier("house"), topics: try Topics(), lamps: [lamp, other], routes: [try Identifier("camera"): [lamp]])
        (layout.homeAssistant, layout.announcementPause, layout.version) = (homeAssistant, .seconds(1), "1.2.3")
        core = BridgeCore(layout, at: now)
    }

    @discardableResult mutating func send(_ input: BridgeCore.Input) -> [BridgeCore.Action] {
        core.handle(input, at: Moment(instant: now, utc: Timestamp(millisecondsSinceEpoch: 0)))
    }

    mutating func published(_ input: BridgeCore.Input) -> [String] {
        send(input).compactMap { if case .publish(let message) = $0 { message.topic } else { nil } }
    }

    @discardableResult
    mutating func ask(
        _ request: Topics.Request, _ payload: String, at topic: String? = nil, correlation: [UInt8]? = nil
    ) -> [ResponseMessage] {
        let message = RequestMessage(request, payload: Array(payload.utf8), responseTopic: topic, correlation: correlation)
        return send(.request(message, retained: false)).compactMap { if case .respond(let answer) = $0 { answer } else { nil } }
    }
}
