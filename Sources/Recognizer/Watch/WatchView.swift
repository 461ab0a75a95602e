internal import Contract

/// What a camera says on the broker, as text for a terminal.
struct WatchView: Sendable {
    /// Something that happened, at the local time of the watcher.
    private struct Entry: Sendable {
        var time: String
        var text: String
        /// A further step of the same slide takes its place.
        var isStep = false
    }

    private static let remembered = 8

    let camera: Identifier
    /// Nil when connected.
    var brokerTrouble: String? = "connecting"
    private var availability: Availability?
    private var state: CameraState?
    private var fingers: String?
    private var target: Target?
    private var entries: [Entry] = []

    init(camera: Identifier) { self.camera = camera }

    /// Takes in a message.
    /// - Parameter time: `17:05:01`.
    /// - Returns: A line for those who read one after the other; nil where nothing worth one happened.
    mutating func received(_ leaf: Topics.CameraLeaf, _ payload: [UInt8], at time: String) -> String? {
        let text = String(decoding: payload.prefix(200), as: UTF8.self)
        switch leaf {
        case .toggle:
            guard let event = try? Payload.decode(ToggleEvent.self, from: payload) else { return nil }
            return happened("toggle      \(event.hand.rawValue) hand, \(Int((event.confidence * 100).rounded())) % sure", at: time)
        case .brightness:
            guard let event = try? Payload.decode(BrightnessEvent.self, from: payload) else { return nil }
            let line = "brightness  \(Int(event.value.rounded())) % \(event.phase.rawValue)"
            return happened(line, at: time, isStep: event.phase != .began)
        case .state:
            guard let new = try? Payload.decode(CameraState.self, from: payload) else { return nil }
            defer { state = new }
            guard new.hand != state?.hand || new.pinch != state?.pinch || new.problem != state?.problem else { return nil }
            return "\(time)  state       \(Self.hand(new)), \(new.fps) frames/s\(new.problem.map { ", \($0)" } ?? "")"
        case .availability:
            guard let new = Availability(rawValue: text), new != availability else { return nil }
            availability = new
            return "\(time)  \(new.rawValue)"
        case .target:
            guard let new = try? Payload.decode(Target.self, from: payload), new != target else { return nil }
            target = new
            return "\(time)  lamp        \(Self.lamp(new))"
        case .fingers:
            fingers = text
            return nil
        case .crash:
            guard let crash = try? Payload.decode(CrashDiagnostic.self, from: payload) else { return nil }
            return "\(time)  crashed     at \(crash.ts): \(crash.signal)\(crash.function.map { " in \($0)" } ?? "")"
        case .enabled, .enabledSet, .armed, .armedSet, .profile, .profileSet, .instance:
            return nil
        }
    }

    private mutating func happened(_ text: String, at time: String, isStep: Bool = false) -> String {
        if isStep, entries.last.map({ $0.text.hasPrefix("brightness") }) == true { entries.removeLast() }
        entries.append(Entry(time: time, text: text, isStep: isStep))
        if entries.count > Self.remembered { entries.removeFirst() }
        return "\(time)  \(text)"
    }

    /// The whole view, always of the same number of lines, none longer than `width`.
    func screen(width: Int) -> [String] {
        let status = brokerTrouble.map { "no broker: \($0)" } ?? availability?.rawValue ?? "this camera has said nothing yet"
        var lines = ["HandKit \(camera)  \(status)", ""]
        if let state {
            let level = Double(state.brightness) / 100
            lines.append("hand        \(Self.hand(state))\(fingers.map { ", \($0) fingers" } ?? "")")
            lines.append("brightness  \(Self.bar(level, width: min(40, max(width - 40, 10)))) \(state.brightness) %")
            lines.append("gestures    \(state.armed ? "act" : "wait for a sign \(Self.bar(state.arming, width: 10))")")
            lines.append("frames      \(state.fps) a second\(state.problem.map { ", \($0)" } ?? "")")
        } else {
            lines += Array(repeating: "", count: 4)
        }
        lines.append("lamp        \(target.map(Self.lamp) ?? "-")")
        lines.append("")
        lines += entries.reversed().map { "\($0.time)  \($0.text)" }
        lines += Array(repeating: "", count: Self.remembered - entries.count)
        return lines.map { String($0.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }.prefix(width).map(Character.init)) }
    }

    private static func hand(_ state: CameraState) -> String {
        guard state.hand else { return "none" }
        return switch state.pinch {
        case .none: "seen"
        case .open: "open"
        case .pinched: "pinched"
        }
    }

    private static func lamp(_ target: Target) -> String { target.on ? "on at \(target.brightness) %" : "off" }

    private static func bar(_ share: Double, width: Int) -> String {
        let full = Int((min(max(share, 0), 1) * Double(width)).rounded())
        return String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
    }
}
