import Contract
import Gestures
import ServiceKit
import TestSupport
import Testing

@testable import Settings

struct GestureFieldTests {
    @Test func `every field reads what was written to it and changes nothing else`() {
        for field in GestureField.all {
            var settings = GestureSettings()
            let value: GestureField.Value =
                switch field.kind {
                case .number(let range, _): .number(range.upperBound)
                case .integer(let range, _): .number(Double(range.upperBound))
                case .milliseconds(let range): .number(Double(range.upperBound))
                case .choice(let names): .choice(names[names.count - 1])
                }
            #expect(field.set(value, in: &settings) == nil, "\(field.key)")
            #expect(field.value(in: settings) == value, "\(field.key)")
            let others = GestureField.all.filter { $0.key != field.key }
            #expect(others.allSatisfy { $0.value(in: settings) == $0.value(in: GestureSettings()) }, "\(field.key)")
        }
    }

    @Test func `a value that is out of range or of another kind changes nothing and says what would be right`() throws {
        for (key, value) in [
            ("pinch.close", GestureField.Value.number(9)), ("pinch.close", .number(.nan)), ("pinch.close", .choice("0.2")),
            ("pinch.dwell_ms", .number(1.5)), ("hands.maximum", .number(0)), ("hands.choice", .choice("both")), ("arming.mode", .number(1)),
        ] {
            let field = try #require(GestureField.all.first { $0.key == key })
            var settings = GestureSettings()
            #expect(field.set(value, in: &settings) == field.expectation)
            #expect(settings == GestureSettings())
        }
    }

    @Test func `a profile that was saved is loaded as it was, with every key in it`() throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let profiles = GestureProfiles(folder: "\(folder)/new/profiles")
        #expect(profiles.names().map(\.rawValue) == ["default", "handkit"])
        var settings = GestureSettings()
        settings.pinch.close = 0.31
        settings.pinch.dwell = 0.123
        settings.hands.zone.left = 0.25
        settings.arming.mode = .off
        settings.slide.direction = .reversed
        try profiles.save(settings, as: Identifier("anna"))
        try profiles.save(GestureSettings(), as: Identifier("a-2"))
        #expect(profiles.names().map(\.rawValue) == ["a-2", "anna", "default", "handkit"])
        var other = GestureSettings()
        other.pinch.open = 3
        #expect(try profiles.load(Identifier("anna"), over: other) == settings)
    }

    @Test func `the profile of HandKit measures in the picture as the app did, and the default one brings back the defaults`() throws {
        let profiles = GestureProfiles(folder: "/nowhere")
        let loaded = try load("gestures: {profile: handkit, slide: {direction: reversed}}\n")
        let settings = loaded.gestures
        #expect(settings.pinch.unit == .picture && settings.pinch.close == 0.015 && settings.pinch.open == 0.03)
        #expect(settings.pinch.dwell == 0 && settings.pinch.reach == 0)
        #expect(settings.slide.unit == .picture && settings.slide.startSpeed == 0.3 && settings.slide.stopSpeed == 0.15)
        #expect(settings.slide.direction == .reversed)
        #expect(try profiles.load(Identifier("default"), over: settings) == GestureSettings())
        let tuned = try load("gestures: {profile: handkit}\n", environment: ["HANDKIT_GESTURES_PINCH_DWELL_MS": "90"])
        #expect(tuned.gestures.pinch.dwell == 0.09 && tuned.gestures.pinch.close == 0.015)
    }

    @Test func `a saved profile wins over one that comes with the program`() throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let profiles = GestureProfiles(folder: folder)
        try profiles.save(GestureSettings(), as: Identifier("handkit"))
        #expect(try profiles.load(Identifier("handkit")) == GestureSettings())
    }

    @Test func `a profile wins over the file and the environment over both`() throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        try write("pinch:\n  close: 0.3\n  open: 0.6\n", to: "\(folder)/anna.yaml")
        let file = "gestures:\n  profile: anna\n  profiles: \(folder)\n  pinch:\n    close: 0.1\n    reach: 0.4\n"
        let loaded = try load(file, environment: ["HANDKIT_GESTURES_PINCH_OPEN": "0.7"])
        #expect(loaded.gestures.pinch.close == 0.3)
        #expect(loaded.gestures.pinch.open == 0.7)
        #expect(loaded.gestures.pinch.reach == 0.4)
        #expect(loaded.profile?.rawValue == "anna")
    }

    @Test func `what is wrong in a profile is said with its own file and line`() throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        try write("pinch:\n  close: 0.9\nslid:\n", to: "\(folder)/anna.yaml")
        let error = #expect(throws: SettingsError.self) { try load("gestures: {profile: anna, profiles: \(folder)}\n") }
        #expect(
            error?.reports.map(\.description) == [
                "\(folder)/anna.yaml:1: pinch.open: '0.4' is not valid; it has to be larger than 0.9, up to which the fingers count as closed",
                "\(folder)/anna.yaml:3: slid: unknown key; did you mean 'slide'?",
            ])
        let missing = #expect(throws: SettingsError.self) { try load("gestures: {profile: bob, profiles: \(folder)}\n") }
        #expect(missing?.reports.first?.description.contains("gestures.profile: cannot read \(folder)/bob.yaml") == true)
    }

    @Test func `an address that others reach needs a token`() throws {
        let error = #expect(throws: SettingsError.self) {
            try load("preview: {port: 8080, address: 0.0.0.0}\nbridge: {http: {port: 1, address: '::'}}\n")
        }
        guard case .invalid(let problems) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(problems.map(\.key) == ["preview.token", "bridge.http.token"])
        #expect(try load("preview: {port: 8080, address: 0.0.0.0, token: long-enough}\n").preview.http.port == 8080)
        #expect(try load("preview: {port: 8080, address: '::1', hosts: [pi.local]}\n").preview.http.hosts == ["pi.local"])
    }

    private func load(_ text: String, environment: [String: String] = [:]) throws -> Settings {
        try Settings.read(YAMLDocument(parsing: Array(text.utf8)), file: "handkit.yaml", environment: environment).settings
    }
}
