import Foundation
import HomeAssistant
import Testing

private let bridge = "handkit/bridge/house/availability"

@Suite struct DiscoveryTests {
    @Test func `a Home Assistant that starts is told everything soon, one that ends is not`() throws {
        let discovery = Discovery(.init(), owner: bridge, devices: [try lamp()])
        #expect(discovery.received(topic: "homeassistant/status", payload: Array("online".utf8), retained: false) == .announceSoon)
        #expect(discovery.received(topic: "homeassistant/status", payload: Array("online".utf8), retained: true) == .announceSoon)
        #expect(discovery.received(topic: "homeassistant/status", payload: Array("offline".utf8), retained: false) == nil)
    }

    @Test func `prefix and status topic are where the settings say`() throws {
        var settings = Discovery.Settings()
        (settings.prefix, settings.statusTopic) = ("ha/found", "ha/born")
        let discovery = Discovery(settings, owner: bridge, devices: [try lamp()])
        #expect(discovery.messages.map(\.topic) == ["ha/found/device/handkit_lamp_desk_lamp/config"])
        #expect(discovery.subscriptions == ["ha/born", "ha/found/device/+/config"])
        #expect(discovery.received(topic: "ha/born", payload: Array("online".utf8), retained: false) == .announceSoon)
    }

    @Test func `what was announced and is gone is cleared`() throws {
        let gone = try lamp()
        let discovery = Discovery(.init(), owner: bridge, devices: [])
        #expect(discovery.received(gone) == .publish([.init(topic: topic(gone), payload: [])]))
    }

    @Test func `switched off it announces nothing and clears what it had announced`() throws {
        var settings = Discovery.Settings()
        settings.isEnabled = false
        let discovery = Discovery(settings, owner: bridge, devices: [try lamp()])
        #expect(discovery.messages.isEmpty)
        #expect(discovery.received(try lamp()) == .publish([.init(topic: topic(try lamp()), payload: [])]))
        #expect(discovery.received(topic: "homeassistant/status", payload: Array("online".utf8), retained: false) == nil)
    }

    @Test func `what somebody else announced is left alone`() throws {
        let discovery = Discovery(.init(), owner: "handkit/bridge/attic/availability", devices: [])
        #expect(discovery.received(try lamp()) == nil)
        #expect(discovery.received(try camera(.init())) == nil)
        for payload in ["", "{}", "[]", "nothing", #"{"availability":[]}"#, #"{"availability":"handkit/bridge/attic/availability"}"#] {
            #expect(
                discovery.received(topic: "homeassistant/device/x/config", payload: Array(payload.utf8), retained: true) == nil)
        }
    }

    @Test func `a message just published is no news of the past`() throws {
        let discovery = Discovery(.init(), owner: bridge, devices: [])
        #expect(discovery.received(topic: topic(try lamp()), payload: try lamp().payload(), retained: false) == nil)
    }

    @Test func `what is announced as it is needs nothing`() throws {
        let discovery = Discovery(.init(), owner: bridge, devices: [try lamp()])
        #expect(discovery.received(try lamp()) == nil)
    }

    @Test func `a component that is gone is taken away by its platform and then left out`() throws {
        let now = try camera(.init())
        let discovery = Discovery(.init(), owner: "handkit/camera/desk/availability", devices: [now])
        guard case .publish(let messages) = discovery.received(try camera(.init(showsArming: true, armsByCommand: true))) else {
            Issue.record("nothing was published")
            return
        }
        #expect(messages.count == 2)
        let first = try #require(try JSONSerialization.jsonObject(with: Data(messages[0].payload)) as? [String: Any])
        let components = try #require(first["components"] as? [String: [String: Any]])
        #expect(components["armed"] as? [String: String] == ["platform": "switch"])
        #expect(components.count == now.components.count + 1)
        #expect(messages[1].payload == now.payload())
    }

    @Test func `a component that became another platform is taken away first`() throws {
        let discovery = Discovery(.init(), owner: "handkit/camera/desk/availability", devices: [try camera(.init(showsArming: true))])
        guard case .publish(let messages) = discovery.received(try camera(.init(showsArming: true, armsByCommand: true))) else {
            Issue.record("nothing was published")
            return
        }
        let first = try #require(try JSONSerialization.jsonObject(with: Data(messages[0].payload)) as? [String: Any])
        #expect((first["components"] as? [String: [String: Any]])?["armed"] as? [String: String] == ["platform": "switch"])
    }

    @Test func `rubbish is no announcement, however it is cut`() throws {
        let discovery = Discovery(.init(), owner: bridge, devices: [])
        let whole = try lamp().payload()
        for end in whole.indices {
            #expect(discovery.received(topic: topic(try lamp()), payload: Array(whole[..<end]), retained: true) == nil)
        }
        #expect(
            discovery.received(topic: topic(try lamp()), payload: whole + Array(repeating: 0x20, count: 300_000), retained: true) == nil)
        for topic in ["homeassistant/device//config", "homeassistant/device/a/b/config", "homeassistant/device/config", "x", ""] {
            #expect(discovery.received(topic: topic, payload: whole, retained: true) == nil)
        }
    }
}

private func topic(_ device: DiscoveryDevice) -> String { "homeassistant/device/\(device.id)/config" }

extension Discovery {
    fileprivate func received(_ device: DiscoveryDevice) -> Reaction? {
        received(topic: topic(device), payload: device.payload(), retained: true)
    }
}
