import FoundationEssentials
import Glibc
import HomeKit
import ServiceKit
import Synchronization

/// Where a lamp shows itself and what happens to it; any thread may tell.
protocol LampOutput: Sendable {
    func ready(_ facts: LampFacts)
    func tell(_ report: AccessoryReport, bulbs: Int)
    /// The last word; the terminal is as it was before.
    func end()
}

/// What is known of a lamp once it listens.
struct LampFacts: Sendable {
    var name: String
    var identity: AccessoryIdentity
    var port: UInt16
    var bulbs: Int
    var quirks: [String]
}

/// One JSON object a line: `{"event":"set","time":…,"on":true,"brightness":57,"by":"…"}`.
struct JSONOutput: LampOutput {
    private struct Line: Encodable {
        var event: String
        /// Seconds of the monotonic clock.
        var time = JSONOutput.time
        var lamp: Int?
        var on: Bool?
        var brightness: Int?
        var by: String?
        var tries: Int?
        var name: String?
        var mac: String?
        var port: UInt16?
        var paired: Bool?
    }

    func ready(_ facts: LampFacts) {
        write(
            Line(
                event: "ready", name: facts.name, mac: facts.identity.id, port: facts.port,
                paired: !facts.identity.controllers.isEmpty))
    }

    func tell(_ report: AccessoryReport, bulbs: Int) {
        func number(_ bulb: Int) -> Int? { bulbs > 1 ? bulb + 1 : nil }
        switch report {
        case .set(let bulb, let change, _, let controller):
            write(Line(event: "set", lamp: number(bulb), on: change.on, brightness: change.brightness, by: controller))
        case .local(let bulb, let state):
            write(Line(event: "local", lamp: number(bulb), on: state.on, brightness: state.brightness))
        case .identify: write(Line(event: "identify"))
        case .paired(let controller): write(Line(event: "paired", by: controller))
        case .unpaired: write(Line(event: "unpaired"))
        case .controllerAdded(let controller): write(Line(event: "controller-added", by: controller))
        case .controllerRemoved(let controller): write(Line(event: "controller-removed", by: controller))
        case .wrongCode(let tries): write(Line(event: "wrong-code", tries: tries))
        }
    }

    func end() {}

    private func write(_ line: Line) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(line) else { return }
        StandardOutput.write(Array(data) + [0x0A])
    }

    private static var time: Double {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}

/// The lamp as a person sees it: a line that is drawn anew with every change, and what happened above it.
final class ScreenOutput: LampOutput {
    private struct State {
        var bulbs: [BulbState] = []
        var lastBy = ""
        var isDrawn = false
    }

    private let state = Mutex(State())
    private let start = ContinuousClock.now

    func ready(_ facts: LampFacts) {
        let quirks = facts.quirks.isEmpty ? "" : "\nquirks: \(facts.quirks.joined(separator: ", "))"
        let count = facts.identity.controllers.all.count
        let paired = count == 0 ? "not paired" : "paired with \(count) controller\(count == 1 ? "" : "s")"
        let code = facts.identity.controllers.isEmpty ? SetupSheet(facts.identity).text + "\n" : ""
        state.withLock { state in
            state.bulbs = Array(repeating: BulbState(), count: facts.bulbs)
            StandardOutput.write(
                "\(code)\(facts.name) listens on port \(facts.port), \(paired)\(quirks)\nspace toggles, arrows dim, q quits\n\n")
            draw(&state)
        }
    }

    func tell(_ report: AccessoryReport, bulbs: Int) {
        state.withLock { state in
            switch report {
            case .set(let bulb, _, let new, let controller):
                state.bulbs[bulb] = new
                state.lastBy = "by controller \(Self.shown(controller).prefix(8))"
            case .local(let bulb, let new):
                state.bulbs[bulb] = new
                state.lastBy = "by hand"
            case .identify: line("a controller asks: which lamp are you? This one.", &state)
            case .paired(let controller): line("paired with controller \(Self.shown(controller))", &state)
            case .unpaired: line("no longer paired with anyone", &state)
            case .controllerAdded(let controller): line("controller \(Self.shown(controller)) may use the lamp now", &state)
            case .controllerRemoved(let controller): line("controller \(Self.shown(controller)) may no longer use the lamp", &state)
            case .wrongCode(let tries): line("somebody tried a wrong setup code (\(tries) of 100)", &state)
            }
            draw(&state)
        }
    }

    func end() {
        state.withLock { state in
            if state.isDrawn { StandardOutput.write([0x0A]) }
            state.isDrawn = false
        }
    }

    /// Controllers choose their identifiers themselves, and a terminal obeys what it is sent.
    static func shown(_ identifier: String) -> String { identifier.filter { $0.isASCII && !$0.isNewline && $0 >= " " && $0 <= "~" } }

    private func line(_ text: String, _ state: inout State) {
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        StandardOutput.write("\r\u{1B}[2K\(seconds) s  \(text)\n")
        state.isDrawn = false
    }

    private func draw(_ state: inout State) {
        StandardOutput.write("\r\u{1B}[2K\(Self.picture(state.bulbs))  \(state.lastBy)")
        state.isDrawn = true
    }

    /// One bulb with its bar, or how many of them are on.
    static func picture(_ bulbs: [BulbState]) -> String {
        guard bulbs.count == 1, let bulb = bulbs.first else { return "\(bulbs.count { $0.on }) of \(bulbs.count) lamps on" }
        let shown = bulb.on ? bulb.brightness : 0
        let filled = (shown + 2) / 5
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 20 - filled)
        let percent = String(repeating: " ", count: max(0, 3 - String(bulb.brightness).count)) + String(bulb.brightness)
        return bulb.on ? "\u{1B}[33m●\u{1B}[0m on   \u{1B}[33m\(bar)\u{1B}[0m \(percent) %" : "○ off  \(bar) \(percent) %"
    }
}

/// What a person needs to pair the lamp.
struct SetupSheet {
    let code: String
    let payload: String

    /// HAP's category of light bulbs.
    static let category: UInt8 = 5

    init(_ identity: AccessoryIdentity) {
        code = identity.setupCode.digitsWithDashes
        payload = SetupPayload(code: identity.setupCode, setupID: identity.setupID, category: Self.category)?.text ?? ""
    }

    var text: String {
        let picture = (QRCode(payload)?.lines ?? []).map { $0 + "\n" }.joined()
        return "\(picture)setup code  \(code)\nQR payload  \(payload)\n"
    }
}
