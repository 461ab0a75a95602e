/// Whether gestures may act at all: with arming in use only for a while after a deliberate gesture or a command.
enum ArmingMachine: Hashable, Sendable {
    case disarmed
    /// An open palm has been held still since then.
    case raising(since: Double)
    case armed(until: Double)

    init() { self = .disarmed }

    /// A frame showed a hand held open and still, or not; `acted` says that a gesture acted in it.
    mutating func saw(openPalm: Bool, acted: Bool, at time: Double, settings: ArmingSettings) {
        switch self {
        case .disarmed:
            if openPalm, settings.mode.allowsGesture { self = .raising(since: time) }
        case .raising(let since):
            guard openPalm else {
                self = .disarmed
                return
            }
            if time - since >= settings.hold { self = .armed(until: time + settings.duration) }
        case .armed(let until):
            if acted {
                self = .armed(until: time + settings.duration)
            } else if time >= until {
                self = .disarmed
            }
        }
    }

    /// Somebody switched it, by MQTT or the page.
    mutating func switched(on: Bool, at time: Double, settings: ArmingSettings) {
        guard settings.mode.allowsCommand else { return }
        self = on ? .armed(until: time + settings.duration) : .disarmed
    }

    var isArmed: Bool {
        if case .armed = self { true } else { false }
    }

    /// How much of the holding is done, 0 to 1; 1 when armed.
    func progress(at time: Double, settings: ArmingSettings) -> Double {
        switch self {
        case .disarmed: 0
        case .raising(let since): min(max((time - since) / settings.hold, 0), 1)
        case .armed: 1
        }
    }
}
