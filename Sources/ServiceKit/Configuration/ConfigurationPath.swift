/// Where a value stands: `mqtt.host`, `routes[0].camera`.
public struct ConfigurationPath: Hashable, Sendable, CustomStringConvertible {
    public enum Step: Hashable, Sendable {
        case key(String)
        case index(Int)
    }

    public let steps: [Step]

    public init(_ steps: [Step]) { self.steps = steps }

    public static let root = ConfigurationPath([])

    public func appending(_ key: String) -> ConfigurationPath { .init(steps + [.key(key)]) }
    public func appending(_ index: Int) -> ConfigurationPath { .init(steps + [.index(index)]) }

    public var parent: ConfigurationPath { .init(steps.dropLast()) }

    public var description: String {
        steps.reduce(into: "") { text, step in
            switch step {
            case .key(let key): text += (text.isEmpty ? "" : ".") + key
            case .index(let index): text += "[\(index)]"
            }
        }
    }

    /// `HANDKIT_MQTT_HOST`, `HANDKIT_ROUTES_0_CAMERA`: upper case, `-` as `_`.
    public func environmentName(prefix: String) -> String {
        steps.reduce(into: prefix) { name, step in
            switch step {
            case .key(let key): name += "_" + Self.environmentForm(of: key)
            case .index(let index): name += "_\(index)"
            }
        }
    }

    static func environmentForm(of key: String) -> String {
        String(key.uppercased().map { $0 == "-" ? "_" : $0 })
    }
}
