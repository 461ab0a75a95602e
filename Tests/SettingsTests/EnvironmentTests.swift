import Contract
import Gestures
import ServiceKit
import TestSupport
import Testing

@testable import Settings

private func settings(_ text: String, _ environment: [String: String]) throws -> Settings {
    try Settings.read(try YAMLDocument(parsing: Array(text.utf8)), file: "handkit.yaml", environment: environment).settings
}

private func complaints(_ text: String, _ environment: [String: String]) throws -> [String] {
    do {
        _ = try settings(text, environment)
        return []
    } catch let error as SettingsError {
        return error.reports.map(\.description)
    }
}

struct EnvironmentTests {
    @Test func `every single key can be set by environment`() throws {
        let document = try YAMLDocument(parsing: Array("lamps: {desk-lamp: }\nroutes: [{lamps: [desk-lamp]}]\n".utf8))
        let (unchanged, keys) = try Settings.read(document, file: "f", environment: [:])
        #expect(keys.count > 35)
        for key in keys where !key.description.hasSuffix("password_file") {
            // It arrives as a value or is refused as one: either shows that the variable was read.
            let name = key.environmentName(prefix: "HANDKIT")
            do throws(SettingsError) {
                let changed = try Settings.read(document, file: "f", environment: [name: "\u{1}"]).settings
                #expect(changed != unchanged, "\(name)")
                #expect(changed.warnings.isEmpty, "\(name)")
            } catch .invalid(let problems) {
                #expect(!problems.isEmpty, "\(name)")
            } catch {
                Issue.record(error)
            }
        }
    }

    @Test func `the environment wins over the file, and an empty value counts as unset`() throws {
        let loaded = try settings(
            "mqtt: {host: a, port: 1}\n", ["HANDKIT_MQTT_HOST": "b", "HANDKIT_MQTT_PORT": "", "HANDKIT_GESTURES_PINCH_DWELL_MS": "90"])
        #expect(loaded.mqtt.host == "b")
        #expect(loaded.mqtt.port == 1)
        #expect(loaded.gestures.pinch.dwell == 0.09)
    }

    @Test func `the other nodes of a broker are a list in the environment, and a wrong one is named`() throws {
        let loaded = try settings("", ["HANDKIT_MQTT_PORT": "2", "HANDKIT_MQTT_FALLBACKS": "b,c:1"])
        #expect(loaded.mqtt.fallbacks == [HostAndPort(host: "b", port: 2), HostAndPort(host: "c", port: 1)])
        #expect(
            try complaints("mqtt: {fallbacks: [mqtt://b]}", [:]) == [
                "handkit.yaml:1: mqtt.fallbacks[0]: 'mqtt://b' is not valid; it has to be a host name or address, or HOST:PORT, without scheme"
            ])
    }

    @Test func `a wrong value in the environment is reported with its name and the key`() throws {
        #expect(
            try complaints("", ["HANDKIT_MQTT_PORT": "x"]) == [
                "HANDKIT_MQTT_PORT: mqtt.port: 'x' is not valid; it has to be a whole number from 1 to 65535"
            ])
    }

    @Test func `lamps and routes can be set and added by environment`() throws {
        let loaded = try settings(
            "lamps: {desk-lamp: {host: 'a:1'}}\nroutes:\n  - lamps: [desk-lamp]\n",
            [
                "HANDKIT_LAMPS_DESK_LAMP_HOST": "b:2", "HANDKIT_LAMPS_DESK_LAMP_MIN_INTERVAL_MS": "50",
                "HANDKIT_LAMPS_SHELF_PAIRING": "old", "HANDKIT_ROUTES_1_CAMERA": "hall", "HANDKIT_ROUTES_1_LAMPS": "shelf, desk-lamp",
            ])
        #expect(loaded.lamps.map(\.id.rawValue) == ["desk-lamp", "shelf"])
        #expect(loaded.lamps[0].host == HostAndPort(host: "b", port: 2))
        #expect(loaded.lamps[0].minimumInterval == .milliseconds(50))
        #expect(loaded.lamps[1].pairing == "old")
        #expect(loaded.routes.map(\.camera.rawValue) == ["camera", "hall"])
        #expect(loaded.routes[1].lamps.map(\.rawValue) == ["shelf", "desk-lamp"])
        #expect(loaded.warnings.isEmpty)
    }

    @Test func `a name that stands for two keys is an error`() throws {
        let found = try complaints("lamps: {a-b: , a_b: }\n", ["HANDKIT_LAMPS_A_B_HOST": "x:1"])
        #expect(found == ["HANDKIT_LAMPS_A_B_HOST: stands for lamps.a-b.host and lamps.a_b.host; set them in the file"])
    }

    @Test func `a name that no key has is warned about, and the build's own are not`() throws {
        let loaded = try settings("", ["HANDKIT_MQTT_HOTS": "x", "HANDKIT_PREFIX": "/p", "HANDKIT_MEDIA": "/m", "HANDKITTEN": "1"])
        #expect(loaded.warnings.map(\.report.description) == ["HANDKIT_MQTT_HOTS: no key has this name; did you mean 'HANDKIT_MQTT_HOST'?"])
        #expect(loaded.mqtt == Settings.MQTT())
    }

    @Test func `a password comes from a file without its line end`() throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        try write("hunter 2 \r\n", to: "\(folder)/secret")
        let inFile = try settings("mqtt: {username: me, password_file: \(folder)/secret}\n", [:])
        #expect(inFile.mqtt.password == Secret("hunter 2 "))
        let inEnvironment = try settings("mqtt: {username: me}\n", ["HANDKIT_MQTT_PASSWORD_FILE": "\(folder)/secret"])
        #expect(inEnvironment.mqtt.password == Secret("hunter 2 "))
    }

    @Test func `a password and a password file together are an error, wherever they stand`() throws {
        #expect(
            try complaints("mqtt:\n  username: me\n  password: s3cret\n  password_file: /f\n", [:]) == [
                "handkit.yaml:4: mqtt.password_file: mqtt.password and mqtt.password_file are both set; keep one of them"
            ])
        #expect(
            try complaints("mqtt: {username: me}", ["HANDKIT_MQTT_PASSWORD": "s3cret", "HANDKIT_MQTT_PASSWORD_FILE": "/f"]) == [
                "HANDKIT_MQTT_PASSWORD_FILE: mqtt.password_file: HANDKIT_MQTT_PASSWORD and HANDKIT_MQTT_PASSWORD_FILE are both set; keep one of them"
            ])
        #expect(
            try complaints("mqtt:\n  username: me\n  password_file: /f\n", ["HANDKIT_MQTT_PASSWORD": "s3cret"]) == [
                "handkit.yaml:3: mqtt.password_file: HANDKIT_MQTT_PASSWORD and mqtt.password_file are both set; keep one of them"
            ])
    }

    @Test func `a password file that is not there, empty or no text is an error`() throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        #expect(
            try complaints("mqtt: {username: me, password_file: \(folder)/none}", [:]) == [
                "handkit.yaml:1: mqtt.password_file: cannot read \(folder)/none: no such file or directory; name a file that this program may read"
            ])
        #expect(
            try complaints("mqtt: {username: me, password: ''}", [:]) == [
                "handkit.yaml:1: mqtt.password: is not valid; it has to be a text that is not empty"
            ])
        try write("\n", to: "\(folder)/empty")
        #expect(try complaints("mqtt: {username: me, password_file: \(folder)/empty}", [:]).count == 1)
        #expect(try complaints("mqtt: {username: me, password_file: \(folder)}", [:]).first?.contains("is a directory") == true)
    }

    @Test func `a password needs a user name, and no complaint shows it`() throws {
        let found = try complaints("mqtt:\n  password: [s3cret]\n", ["HANDKIT_MQTT_PASSWORD": "s3cret"])
        #expect(found == ["handkit.yaml:1: mqtt.username: is missing; it has to be set where a password is"])
        let loaded = try settings("mqtt: {username: me, password: s3cret}", [:])
        var dumped = "\(loaded)" + String(reflecting: loaded)
        dump(loaded, to: &dumped)
        #expect(!dumped.contains("s3cret"))
    }
}
