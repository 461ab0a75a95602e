public import Contract
public import Gestures
public import HomeAssistant
public import ServiceKit

/// Everything a person may configure, for both services: each reads the same file, checks all of it and uses its part.
///
/// `deploy/handkit.yaml` explains every key. The values here are the defaults.
public struct Settings: Equatable, Sendable {
    public var mqtt = MQTT()
    public var camera = Camera()
    public var gestures = GestureSettings()
    /// The profile that ``gestures`` were read from, where one is named.
    public var profile: Identifier?
    public var profiles: GestureProfiles
    public var preview = Preview()
    public var bridge: Bridge
    /// In the order of the file.
    public var lamps: [Lamp] = []
    public var groups: [Group] = []
    /// Which camera controls which lamps. Where the file has no `routes`, the configured camera controls every configured lamp.
    public var routes: [Route] = []
    public var homeAssistant = Discovery.Settings()
    public var log = Log()
    public var diagnostics = Diagnostics()

    /// Every secret that is in use, to be kept out of what leaves the machine.
    public var secrets: [Secret] {
        var address: Secret?
        if case .stream(let secret) = camera.source { address = secret }
        return [mqtt.password, preview.http.token, bridge.http.token, diagnostics.sentry?.key, camera.password, address].compactMap(\.self)
    }

    /// What `load` found odd and harmless, such as an environment name that no key has; for a program to log.
    public var warnings: [ConfigurationProblem] = []

    /// The defaults.
    /// - Parameter environment: Where the folder for state is looked for, see ``Bridge/state``.
    public init(environment: [String: String] = [:]) {
        bridge = Bridge(environment: environment)
        profiles = GestureProfiles(folder: stateFolder(environment) + "/profiles")
    }

    /// The broker.
    public struct MQTT: Equatable, Sendable {
        public var host = "localhost"
        public var port: UInt16 = 1883
        /// Further nodes of the same cluster, for when the one in use fails.
        public var fallbacks: [HostAndPort] = []
        public var username: String?
        public var password: Secret?
        /// Nil for an unencrypted connection.
        public var tls: TLS?
        public var topics: Topics = .default
        /// See ``clientID(role:id:instance:)``.
        public var clientIDPrefix: String?
        public var version = Version.auto
        /// Seconds of silence after which the connection is probed; 5 is the least that libmosquitto accepts.
        public var keepAlive: UInt16 = 15

        public enum Version: String, Sendable, CaseIterable {
            /// MQTT 5, and 3.1.1 where the broker does not speak it.
            case auto
            case v5 = "5"
            case v311 = "3.1.1"
        }

        public init() {}

        /// The client id of one running program: a broker throws the elder of two clients of the same id out.
        ///
        /// - Parameters:
        ///   - role: `recognizer`, `bridge`.
        ///   - id: Of the camera or the bridge.
        ///   - instance: Random for each start. It is left out where `mqtt.client_id` is set, for brokers that check the id.
        public func clientID(role: String, id: Identifier, instance: UInt32) -> String {
            if let clientIDPrefix { return "\(clientIDPrefix)-\(role)" }
            return "handkit-\(role)-\(id)-\(String(instance, radix: 16))"
        }
    }

    /// Encryption of the connection to the broker; its certificate and host name are always checked.
    public struct TLS: Hashable, Sendable {
        /// PEM certificates to trust; the system's when nil.
        public var authorityFile: String?
        /// This client's certificate and key, both PEM, where the broker asks for them: both or none.
        public var certificateFile: String?
        public var keyFile: String?

        public init() {}
    }

    /// What the recognizer looks at.
    public struct Camera: Equatable, Sendable {
        public var id = Identifier.camera
        public var source = Source.automatic
        /// Wished size in pixels and rate in frames a second; a device delivers the nearest it has.
        public var width = 640
        public var height = 480
        public var framesPerSecond = 30.0
        public var format = Format.auto
        /// The picture shows the person as a mirror does.
        public var isMirrored = false
        /// Degrees by which the picture is turned clockwise to stand upright: 0, 90, 180 or 270.
        public var rotation = 0
        public var exposure = Exposure.rate
        public var powerLine = PowerLine.keep
        /// Further controls of the device, set whenever it is opened.
        public var controls: [Control] = []
        /// For a camera in the network that asks for them.
        public var username: String?
        public var password: Secret?
        /// Folder of the hand models; nil for the one that was installed beside the OpenVINO runtime.
        public var models: String?
        public var detector = ModelSize.full
        public var landmarks = ModelSize.full
        /// Arithmetic of the inferences; `auto` is bf16 where the processor has it.
        public var precision = Precision.auto
        /// Threads one inference may use.
        public var threads = 1
        /// Which frames of a followed hand are inferred; see ``Inference``.
        public var inference = Inference.adaptive

        public enum Source: Hashable, Sendable {
            /// The first device that captures video.
            case automatic
            /// `/dev/video0`, `/dev/v4l/by-id/…`
            case device(String)
            /// A USB camera with this serial number.
            case serial(String)
            /// A camera in the network; whoever knows the address may see what it shows.
            case stream(Secret)
            /// A recorded clip.
            case file(String)

            /// What `camera.source` and `--source` take: `auto`, a path below `/dev/`, `serial:NUMBER`, an address, or any other path. Nil
            /// for an empty text.
            public init?(_ text: String) {
                switch text {
                case "": return nil
                case "auto": self = .automatic
                case _ where text.hasPrefix("/dev/"): self = .device(text)
                case _ where text.hasPrefix("serial:"): self = .serial(String(text.dropFirst("serial:".count)))
                case _ where text.contains("://"): self = .stream(Secret(text))
                default: self = .file(text)
                }
            }
        }

        /// What a device does where it is too dark for its rate.
        public enum Exposure: String, Sendable, CaseIterable {
            /// It keeps the rate; the picture gets darker.
            case rate
            /// It takes longer over each picture.
            case picture
            /// What it is set to.
            case keep
        }

        /// What the lamps around flicker with.
        public enum PowerLine: String, Sendable, CaseIterable {
            /// What the device is set to.
            case keep
            case auto
            case hertz50 = "50"
            case hertz60 = "60"
            case off
        }

        public struct Control: Hashable, Sendable {
            /// As `handkit-recognizer cameras` lists it.
            public var name: String
            public var value: Int

            public init(name: String, value: Int) {
                (self.name, self.value) = (name, value)
            }

            /// "gain=0"
            init?(_ text: String) {
                let parts = text.split(separator: "=", omittingEmptySubsequences: false)
                guard parts.count == 2, let value = Int(parts[1]), !parts[0].isEmpty else { return nil }
                guard parts[0].allSatisfy({ $0 == "_" || $0.isASCII && ($0.isLowercase || $0.isNumber) }) else { return nil }
                self.init(name: String(parts[0]), value: value)
            }
        }

        public enum Inference: String, Sendable, CaseIterable {
            /// Every frame of a hand that starts, stops or pinches, every other of one that rests or moves evenly.
            case adaptive
            case every
        }

        /// How the device's frames are coded; `auto` is uncompressed where that reaches the wished rate, else Motion JPEG.
        public enum Format: String, Sendable, CaseIterable {
            case auto, mjpeg, yuyv, nv12, grey
        }

        public enum Precision: String, Sendable, CaseIterable {
            case auto, f32
        }

        public enum ModelSize: String, Sendable, CaseIterable {
            case full, lite
        }

        public init() {}
    }

    /// The bridge itself.
    public struct Bridge: Equatable, Sendable {
        public var id = Identifier.bridge
        /// Folder of the pairings; that of all state unless told otherwise.
        public var state: String
        /// Whether lamps are looked for on the network, so that they are found where they move to.
        public var discovers = true
        /// Metrics and health of the bridge.
        public var http = HTTP()

        public init(environment: [String: String] = [:]) { state = stateFolder(environment) }
    }

    /// Where a program serves HTTP.
    public struct HTTP: Equatable, Sendable {
        /// 0 for not at all.
        public var port: UInt16 = 0
        /// One of this machine's; only programs on this machine reach the default.
        public var address = "127.0.0.1"
        /// What a client has to present; always set where other machines reach the address.
        public var token: Secret?
        /// Names this machine is called by, beside `localhost` and its addresses.
        public var hosts: [String] = []

        public init() {}
    }

    /// The page that shows what the recognizer sees, with its metrics and health.
    public struct Preview: Equatable, Sendable {
        public var http = HTTP()
        /// Pictures a second that a watcher gets at most.
        public var framesPerSecond = 15.0

        public init() {}
    }

    /// A paired lamp.
    public struct Lamp: Equatable, Sendable {
        public var id: Identifier
        /// Its name among the pairings; the id unless told otherwise.
        public var pairing: String
        /// Where it answers, instead of where it was when it was paired.
        public var host: HostAndPort?
        /// The least time between two brightness writes.
        public var minimumInterval = Duration.milliseconds(100)
        /// Which bulb it is where a gateway has several behind one pairing: its name or its accessory number; nil for the first.
        public var bulb: String?
        /// Whether it is switched on and dimmed by two writes.
        public var splitsWrites = false

        public init(id: Identifier) {
            (self.id, pairing) = (id, id.rawValue)
        }
    }

    /// Lamps that a toggle switches together.
    public struct Group: Equatable, Sendable {
        public var id: Identifier
        /// Not empty; each is in ``Settings/lamps``, the first leads.
        public var lamps: [Identifier]

        public init(id: Identifier, lamps: [Identifier]) {
            (self.id, self.lamps) = (id, lamps)
        }
    }

    /// What a camera controls.
    public struct Route: Equatable, Sendable {
        public var camera: Identifier
        /// Not empty; each is in ``Settings/lamps``, those of groups included.
        public var lamps: [Identifier]

        public init(camera: Identifier, lamps: [Identifier]) {
            (self.camera, self.lamps) = (camera, lamps)
        }
    }

    /// How crashes are told of.
    public struct Diagnostics: Equatable, Sendable {
        /// Tells installations apart that send to the same Sentry.
        public var environment = "production"
        /// What the machine is called in reports; nil for not telling.
        public var host: String?
        /// Where reports are sent; nil for nowhere.
        public var sentry: SentryAddress?
        /// PEM certificates to trust; the system's when nil.
        public var authorityFile: String?

        public init() {}
    }

    public struct Log: Equatable, Sendable {
        public var level = Logger.Level.info
        public var format = LogFormat.auto

        public init() {}
    }
}

extension Topics {
    /// Below `handkit`.
    public static let `default` = {
        guard let topics = try? Topics() else { preconditionFailure("the default base is valid") }
        return topics
    }()
}

extension Identifier {
    static let camera = known("camera")
    static let bridge = known("bridge")

    private static func known(_ text: String) -> Identifier {
        guard let id = try? Identifier(text) else { preconditionFailure("'\(text)' is no identifier") }
        return id
    }
}
