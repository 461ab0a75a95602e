public import Contract

/// What a lamp is to do.
public enum LampCommand: Equatable, Sendable {
    /// The inverse of what the lamp says it is at the time.
    case toggle
    case power(Bool)
    /// 0 to 100 %, whole; 0 means off.
    case level(Int)
    /// Show which lamp it is, by blinking for instance.
    case identify

    /// A slide's percent as a lamp takes it: whole, and at least 1 unless it is 0, so that the darkest step is never off by rounding.
    public static func level(percent: Double) -> Self {
        .level(percent <= 0 ? 0 : min(100, max(1, Int(percent.rounded()))))
    }

    /// Reads the payload of `lamp/<id>/set`, Home Assistant's JSON light schema; other keys are ignored.
    public init(set payload: [UInt8]) throws(PayloadFault) {
        let wanted = try Payload.decode(LampState.self, from: payload)
        if let brightness = wanted.brightness, !(0...100).contains(brightness) { throw .value(key: "brightness", wanted: "0 to 100") }
        switch (wanted.state, wanted.brightness) {
        case (.off, _): self = .power(false)
        case (_, let brightness?): self = .level(brightness)
        case (.on, nil): self = .power(true)
        case (nil, nil): throw .missing(key: "state")
        }
    }
}

/// Who asked for it.
public enum CommandOrigin: Equatable, Sendable {
    case camera(Identifier)
    /// A camera whose slide goes on: another step of it follows.
    case slide(Identifier)
    /// `lamp/<id>/set`.
    case set
    /// A request that waits for its answer, by its number.
    case request(Int)
}

/// A lamp as it was last known to be.
public struct LampValues: Equatable, Sendable {
    public var on: Bool
    /// 0 to 100 %, what it shines with when on; nil where the lamp cannot be dimmed.
    public var brightness: Int?

    public init(on: Bool, brightness: Int?) {
        (self.on, self.brightness) = (on, brightness)
    }

    public var state: LampState { LampState(state: on ? .on : .off, brightness: brightness) }
    public var target: Target { Target(on: on, brightness: brightness ?? (on ? 100 : 0)) }
}
