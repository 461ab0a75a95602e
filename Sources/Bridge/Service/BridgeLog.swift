import Contract
import ServiceKit

/// What the bridge says about its work: one line for what a person would notice, steps of a slide at debug.
extension Logger {
    func up(_ lamp: Identifier, _ values: LampValues) {
        notice("lamp connected", ["lamp": lamp, "state": values.on ? "on" : "off", "level": values.brightness.map { "\($0)%" } ?? "-"])
    }

    func down(_ lamp: Identifier, _ trouble: LampTrouble, wasUp: Bool) {
        let reason = trouble.report(of: lamp)
        if wasUp {
            warning("lamp is gone, trying again for ever", ["lamp": lamp, "reason": reason])
        } else {
            warning("no connection to the lamp, trying again for ever", ["lamp": lamp, "reason": reason])
        }
    }

    /// - Parameter duration: since the command was accepted.
    func done(
        _ command: LampCommand, _ origin: CommandOrigin, _ lamp: Identifier, _ values: LampValues, after duration: Duration?
    ) {
        guard self.level <= (origin.isStep ? .debug : .info) else { return }
        let took = duration.map { "\(Int($0 / .microseconds(1))) µs" } ?? "-"
        let state = values.on ? "on" : "off"
        let level = values.brightness.map { "\($0)%" } ?? "-"
        switch command {
        case .toggle: info("toggle", ["from": origin.name, "lamp": lamp, "state": state, "level": level, "took": took])
        case .identify: info("identify", ["from": origin.name, "lamp": lamp, "took": took])
        case .power: info("switch", ["from": origin.name, "lamp": lamp, "state": state, "level": level, "took": took])
        case .level:
            log(
                origin.isStep ? .debug : .info, "brightness",
                ["from": origin.name, "lamp": lamp, "state": state, "level": level, "took": took])
        }
    }

    func dropped(_ command: LampCommand, _ origin: CommandOrigin, _ lamp: Identifier, _ reason: LampQueue.DropReason) {
        warning("command dropped", ["command": command.name, "from": origin.name, "lamp": lamp, "reason": reason.text])
    }

    func rejected(_ reason: Rejection, _ topic: String, _ detail: String?, _ isFirst: Bool) {
        let detail = detail ?? "-"
        switch reason {
        case .malformed: log(isFirst ? .warning : .debug, "bad payload ignored", ["topic": topic, "reason": detail])
        case .retained:
            log(isFirst ? .warning : .debug, "retained message ignored, clear it on the broker", ["topic": topic, "id": detail])
        case .stale: info("too late, ignored", ["topic": topic, "id": detail])
        case .duplicate: debug("seen before, ignored", ["topic": topic, "id": detail])
        case .unroutable, .overflow, .failed:
            log(isFirst ? .warning : .debug, "message ignored", ["topic": topic, "reason": reason.rawValue, "detail": detail])
        }
    }
}

extension LampQueue.DropReason {
    /// For a person.
    var text: String {
        switch self {
        case .stale: "too late: the lamp did not answer in time"
        case .overflow: "too many commands wait for this lamp"
        case .refused(let status): "the lamp refused it, status \(status)"
        case .unconfirmed: "the connection ended before the lamp's answer"
        }
    }
}

extension CommandOrigin {
    fileprivate var name: String {
        switch self {
        case .camera(let camera), .slide(let camera): "camera/\(camera)"
        case .set: "mqtt"
        case .request: "request"
        }
    }

    fileprivate var isStep: Bool { if case .slide = self { true } else { false } }
}

extension LampCommand {
    fileprivate var name: String {
        switch self {
        case .toggle: "toggle"
        case .identify: "identify"
        case .power(let on): on ? "on" : "off"
        case .level(let level): "\(level)%"
        }
    }
}
