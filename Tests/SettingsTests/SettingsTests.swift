import Contract
import Gestures
import ServiceKit
import TestSupport
import Testing

@testable import Settings

/// The settings of a text, as if it stood in `handkit.yaml`.
private func settings(_ text: String, _ environment: [String: String] = [:]) throws -> Settings {
    let document = try YAMLDocument(parsing: Array(text.utf8))
    return try Settings.read(document, file: "handkit.yaml", environment: environment).settings
}

/// What a person reads about a text, line by line.
private func complaints(_ text: String, _ environment: [String: String] = [:]) throws -> [String] {
    do {
        _ = try settings(text, environment)
        return []
    } catch let error as SettingsError {
        return error.reports.map(\.description)
    }
}

struct SettingsTests {
    @Test func `without a file there are the defaults`() throws {
        let loaded = try Settings.load(file: nil, environment: [:])
        #expect(loaded == Settings())
        #expect(loaded.mqtt.fallbacks.isEmpty)
        #expect(loaded.mqtt.host == "localhost" && loaded.mqtt.port == 1883 && loaded.mqtt.topics.base == "handkit")
        #expect(loaded.camera.id.rawValue == "camera" && loaded.camera.source == .automatic)
        #expect(loaded.gestures == GestureSettings())
        #expect(loaded.lamps.isEmpty && loaded.routes.isEmpty)
    }

    @Test(arguments: ["", "mqtt:\n", "mqtt:\n  host:\nlamps:\nroutes:\n", "mqtt: {}\nlamps: {}\n"])
    func `sections and keys without a value are the defaults`(text: String) throws {
        #expect(try settings(text) == Settings())
    }

    @Test func `a file sets everything`() throws {
        let loaded = try settings(
            """
            mqtt: {host: broker.lan, port: 8883, fallbacks: [b, "c:1", "fe80::1", "[fe80::2]:2"], username: me, password: "s", base: home/handkit, client_id: x, protocol: 3.1.1, keepalive: 30,
                   tls: {enabled: true, ca_file: /ca.pem, certificate_file: /c.pem, key_file: /k.pem}}
            camera: {id: door, source: /dev/video2, width: 1280, height: 720, fps: 29.97, format: nv12, mirrored: true, models: /m,
                     rotation: 270, exposure: picture, power_line: 50, controls: [gain=0, hue=-3], username: anna, password: hush,
                     detector: lite, landmarks: lite}
            gestures:
              pinch: {close: 0.2, open: 0.5, reach: 0.4, certain_reach: 0.6, dwell_ms: 100, doubtful_dwell_ms: 200, release_ms: 50,
                      seen_open_ms: 150, lost_ms: 400}
              slide: {direction: reversed, gain: 50, reach: 0.7, rest_space: 0.1, rest_time_ms: 160, drift_time_ms: 800, start_travel: 0.3,
                      start_speed: 1, stop_speed: 0.5, stop_time_ms: 300, sideways: 1.5, whole_hand: 0.5, steadiness: 0.3}
            bridge: {id: attic, state: /srv}
            lamps:
              desk: {pairing: old-desk, host: "[fe80::1]:51826", min_interval_ms: 250}
              shelf:
            routes:
              - {camera: door, lamps: [shelf, desk]}
              - {camera: hall, lamps: [shelf]}
            log: {level: debug, format: json}
            """)
        var expected = Settings()
        expected.mqtt.host = "broker.lan"
        expected.mqtt.port = 8883
        expected.mqtt.fallbacks = [
            HostAndPort(host: "b", port: 8883), HostAndPort(host: "c", port: 1), HostAndPort(host: "fe80::1", port: 8883),
            HostAndPort(host: "fe80::2", port: 2),
        ]
        expected.mqtt.username = "me"
        expected.mqtt.password = Secret("s")
        expected.mqtt.topics = try Topics(base: "home/handkit")
        expected.mqtt.clientIDPrefix = "x"
        expected.mqtt.version = .v311
        expected.mqtt.keepAlive = 30
        var tls = Settings.TLS()
        (tls.authorityFile, tls.certificateFile, tls.keyFile) = ("/ca.pem", "/c.pem", "/k.pem")
        expected.mqtt.tls = tls
        let (door, hall, desk, shelf) = try (Identifier("door"), Identifier("hall"), Identifier("desk"), Identifier("shelf"))
        expected.camera.id = door
        expected.camera.source = .device("/dev/video2")
        (expected.camera.width, expected.camera.height, expected.camera.framesPerSecond) = (1280, 720, 29.97)
        (expected.camera.format, expected.camera.isMirrored, expected.camera.models) = (.nv12, true, "/m")
        (expected.camera.rotation, expected.camera.exposure, expected.camera.powerLine) = (270, .picture, .hertz50)
        expected.camera.controls = [.init(name: "gain", value: 0), .init(name: "hue", value: -3)]
        (expected.camera.username, expected.camera.password) = ("anna", Secret("hush"))
        (expected.camera.detector, expected.camera.landmarks) = (.lite, .lite)
        var pinch = PinchSettings()
        (pinch.close, pinch.open, pinch.reach, pinch.certainReach) = (0.2, 0.5, 0.4, 0.6)
        (pinch.dwell, pinch.doubtfulDwell, pinch.release, pinch.seenOpen, pinch.lost) = (0.1, 0.2, 0.05, 0.15, 0.4)
        var slide = SlideSettings()
        (slide.direction, slide.gain, slide.reach, slide.restSpace, slide.restTime) = (.reversed, 50, 0.7, 0.1, 0.16)
        (slide.driftTime, slide.startTravel, slide.startSpeed, slide.stopSpeed) = (0.8, 0.3, 1, 0.5)
        (slide.stopTime, slide.sideways, slide.wholeHand, slide.steadiness) = (0.3, 1.5, 0.5, 0.3)
        (expected.gestures.pinch, expected.gestures.slide) = (pinch, slide)
        expected.bridge.id = try Identifier("attic")
        expected.bridge.state = "/srv"
        var lamp = Settings.Lamp(id: desk)
        (lamp.pairing, lamp.host, lamp.minimumInterval) = ("old-desk", HostAndPort(host: "fe80::1", port: 51826), .milliseconds(250))
        expected.lamps = [lamp, Settings.Lamp(id: shelf)]
        expected.routes = [.init(camera: door, lamps: [shelf, desk]), .init(camera: hall, lamps: [shelf])]
        (expected.log.level, expected.log.format) = (.debug, .json)
        #expect(loaded == expected)
    }

    @Test func `every setting of the gestures is a key`() throws {
        let keys = try Settings.read(nil, file: nil, environment: [:]).knownKeys.map(\.description)
        for (section, settings) in [("pinch", PinchSettings() as Any), ("slide", SlideSettings())] {
            let names = Mirror(reflecting: settings).children.compactMap(\.label).map { label in
                label.map { $0.isUppercase ? "_" + $0.lowercased() : String($0) }.joined()
            }
            let found = keys.filter { $0.hasPrefix("gestures.\(section).") }.map { key in
                String(key.dropFirst("gestures.\(section).".count).dropLast(key.hasSuffix("_ms") ? 3 : 0))
            }
            #expect(found.sorted() == names.sorted())
        }
    }

    @Test func `everything that is wrong is said at once, each with line, key and what would be right`() throws {
        let text = """
            mqtt:
              host: mqtt://broker
              port: 99999
              base: home/+/handkit
              keepalive: 1
              protocl: 5
            camera:
              id: Front Door
              fps: fast
              format: h264
              mirrored: perhaps
            gestures:
              pinch:
                close: 0.5
                open: 0.4
              slide: [1]
            lamps:
              Desk:
                host: 10.0.0.5
              shelf: {min_interval_ms: -1}
            routes:
              - {camera: camera, lamps: [sofa]}
              - {camera: camera}
              - shelf
            log:
              level: loud
              level: info
            page:
              port: 8080
            """
        let expected = [
            "handkit.yaml:2: mqtt.host: 'mqtt://broker' is not valid; it has to be a host name or address, without port and scheme",
            "handkit.yaml:3: mqtt.port: '99999' is not valid; it has to be a whole number from 1 to 65535",
            "handkit.yaml:4: mqtt.base: 'home/+/handkit' is not valid; it has to be a topic such as handkit or home/handkit, "
                + "without + and #, with no empty level, not beginning with $",
            "handkit.yaml:5: mqtt.keepalive: '1' is not valid; it has to be a whole number of seconds from 5 to 65535",
            "handkit.yaml:6: mqtt.protocl: unknown key; did you mean 'protocol'?",
            "handkit.yaml:8: camera.id: 'Front Door' is not valid; it has to be 1 to 64 of the characters a-z, 0-9, _ and -",
            "handkit.yaml:9: camera.fps: 'fast' is not valid; it has to be a number from 1 to 240",
            "handkit.yaml:10: camera.format: 'h264' is not valid; it has to be one of auto, mjpeg, yuyv, nv12, grey",
            "handkit.yaml:11: camera.mirrored: 'perhaps' is not valid; it has to be true or false",
            "handkit.yaml:15: gestures.pinch.open: '0.4' is not valid; it has to be larger than 0.5, up to which the fingers count as closed",
            "handkit.yaml:16: gestures.slide: is a list; it has to be a map",
            "handkit.yaml:18: lamps.Desk: 'Desk' is not valid; it has to be 1 to 64 of the characters a-z, 0-9, _ and -",
            "handkit.yaml:19: lamps.Desk.host: '10.0.0.5' is not valid; it has to be host:port, such as 192.168.1.20:51826",
            "handkit.yaml:20: lamps.shelf.min_interval_ms: '-1' is not valid; it has to be a whole number of milliseconds from 0 to 10000",
            "handkit.yaml:22: routes[0].lamps[0]: 'sofa' is not valid; it has to be a lamp in 'lamps': shelf",
            "handkit.yaml:23: routes[1].lamps: is missing; it has to be a list of lamp ids",
            "handkit.yaml:24: routes[2]: is a single value; it has to be a map",
            "handkit.yaml:26: log.level: 'loud' is not valid; it has to be one of debug, info, notice, warning, error",
            "handkit.yaml:27: log.level: stands twice, first in line 26; keep one of them",
            "handkit.yaml:28: page: unknown key; known here: mqtt, camera, gestures, preview, bridge, lamps, groups, routes, homeassistant, log, "
                + "diagnostics",
        ]
        let found = try complaints(text)
        #expect(found == expected)
    }

    @Test func `a file that is no map, or no YAML, or not there, is one complaint`() throws {
        #expect(try complaints("- a\n") == ["handkit.yaml:1: is a list; it has to be a map of sections"])
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let file = "\(folder)/handkit.yaml"
        #expect(throws: SettingsError.unreadable(FileFailure(path: file, cause: .errno(2)))) {
            try Settings.load(file: file, environment: [:])
        }
        try write("mqtt:\n\thost: x\n", to: file)
        let error = #expect(throws: SettingsError.self) { try Settings.load(file: file, environment: [:]) }
        let report = try #require(error?.reports.first)
        #expect(report.location == "\(file):2:1")
        #expect(report.remedy?.contains("tabs") == true)
        #expect(error?.exitCode == .failed)
        try write(String(repeating: "#", count: YAMLDocument.maximumBytes + 1), to: file)
        #expect(throws: SettingsError.malformed(file: file, .tooLarge(bytes: YAMLDocument.maximumBytes + 1))) {
            try Settings.load(file: file, environment: [:])
        }
    }

    @Test func `HandKit's base and ids are checked as the contract says`() throws {
        for base in ["''", "$SYS", "a//b", "/a", "a/", "a#", "'a\\tb+'"] {
            #expect(try complaints("mqtt: {base: \(base)}").count == 1, "\(base)")
        }
        for id in ["''", "Ä", "a/b", "a+b", "a b", String(repeating: "a", count: 65)] {
            #expect(try complaints("camera: {id: '\(id)'}").count == 1, "\(id)")
            #expect(try complaints("bridge: {id: '\(id)'}").count == 1, "\(id)")
        }
    }

    @Test func `a camera in the network is a secret, and so is its password`() throws {
        let loaded = try settings("camera: {source: 'rtsp://anna:hush@camera/1', username: anna, password: hush2}\n")
        #expect(loaded.secrets.map(\.revealed) == ["hush2", "rtsp://anna:hush@camera/1"])
        var dumped = ""
        dump(loaded, to: &dumped)
        #expect(!dumped.contains("hush"))
        let serial = try settings("camera: {source: 'serial:1A2B'}\n")
        #expect(serial.camera.source == .serial("1A2B") && serial.secrets.isEmpty)
    }

    @Test func `with no routes the configured camera controls every lamp, and with an empty list none`() throws {
        let loaded = try settings("camera: {id: door}\nlamps: {desk: , shelf: }\n")
        #expect(loaded.routes == [.init(camera: try Identifier("door"), lamps: [try Identifier("desk"), try Identifier("shelf")])])
        #expect(try settings("lamps: {desk: }\nroutes: []\n").routes.isEmpty)
    }

    @Test func `a lamp is named once in a route, and a route has a lamp`() throws {
        #expect(
            try complaints("lamps: {desk: }\nroutes:\n  - lamps: [desk, desk]\n  - lamps: []\n") == [
                "handkit.yaml:3: routes[0].lamps: 'desk' is not valid; it has to be named once",
                "handkit.yaml:4: routes[1].lamps: is without a lamp; it has to be a list of lamp ids",
            ])
    }

    @Test func `TLS files without TLS, or half a client certificate, are mistakes`() throws {
        #expect(try complaints("mqtt: {tls: {ca_file: /ca.pem}}").first?.contains("mqtt.tls.enabled: is missing") == true)
        #expect(
            try complaints("mqtt: {tls: {enabled: true, key_file: /k.pem}}").first?.contains("mqtt.tls.certificate_file: is missing")
                == true)
    }

    @Test func `the state folder is systemd's, else the user's`() {
        #expect(Settings(environment: ["STATE_DIRECTORY": "/var/lib/a:/var/lib/b", "HOME": "/home/me"]).bridge.state == "/var/lib/a")
        #expect(Settings(environment: ["XDG_STATE_HOME": "/x", "HOME": "/home/me"]).bridge.state == "/x/handkit")
        #expect(Settings(environment: ["STATE_DIRECTORY": "", "HOME": "/home/me"]).bridge.state == "/home/me/.local/state/handkit")
        #expect(Settings().bridge.state == "/var/lib/handkit")
    }

    @Test func `no two programs share a client id`() throws {
        var mqtt = Settings.MQTT()
        let id = try Identifier("desk")
        #expect(mqtt.clientID(role: "bridge", id: id, instance: 0xbeef) == "handkit-bridge-desk-beef")
        mqtt.clientIDPrefix = "attic"
        #expect(mqtt.clientID(role: "bridge", id: id, instance: 1) != mqtt.clientID(role: "recognizer", id: id, instance: 1))
    }

    @Test(arguments: [
        ("10.0.0.5:51826", "10.0.0.5", 51826), ("lamp.local:1", "lamp.local", 1), ("[fe80::1%eth0]:65535", "fe80::1%eth0", 65535),
    ])
    func `an address has a host and a port`(text: String, host: String, port: UInt16) {
        #expect(HostAndPort(text) == HostAndPort(host: host, port: port))
        #expect(HostAndPort(text)?.description == text)
    }

    @Test(arguments: ["", "host", ":1", "host:", "host:0", "host:65536", "fe80::1:80", "[host]:1", "http://host:80", "a b:1", "[::1]"])
    func `anything else is no address`(text: String) {
        #expect(HostAndPort(text) == nil)
    }
}
