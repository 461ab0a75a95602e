import ServiceKit

/// A behaviour of real accessories that controllers stumble over, which the virtual lamp shows when told to.
///
/// The F numbers are those of the fault list that the quirks were collected in; the module's article says what people saw each time.
enum Quirk: String, CaseIterable, Sendable {
    // What the network sees.
    case delay
    case segment
    case dropAfter = "drop-after"
    case closeAfter = "close-after"
    case muteAfter = "mute-after"
    case idleClose = "idle-close"
    case sessions
    case newPort = "new-port"
    // How answers are written.
    case framing
    case lowerCaseHeaders = "lower-case-headers"
    case newlineAfterBody = "newline-after-body"
    case bare470 = "bare-470"
    case badJSON = "bad-json"
    case status
    case staleAnswers = "stale-answers"
    // Pairing.
    case leadingZeros = "leading-zeros"
    case zeroSalt = "zero-salt"
    case noState = "no-state"
    case pairSetup = "pair-setup"
    case forgets
    case refusalStatus = "refusal-status"
    case unpairingHangsUp = "unpairing-hangs-up"
    // Reading, writing and events.
    case eventInterval = "event-interval"
    case eventEcho = "event-echo"
    case eventsMax = "events-max"
    case noEvents = "no-events"
    case onePiece = "one-piece"
    case strictRequests = "strict-requests"
    case ignoresTrue = "ignores-true"
    case brightnessNeedsOn = "brightness-needs-on"
    case silentWhileOff = "silent-while-off"
    case zeroIsFull = "zero-is-full"
    case jumpBack = "jump-back"
    case dimmerLag = "dimmer-lag"
    case dimmerStep = "dimmer-step"
    case newInstances = "new-instances"
    // What is announced.
    case configNumber = "config-number"
    case unpairedFlag = "unpaired-flag"
    case txtID = "txt-id"
    case txtNUL = "txt-nul"
    case announces

    /// What may stand after `=`: nothing, something that may be left out, or something that must be there.
    enum Value {
        case none
        case optional(name: String, ValueKind, default: String)
        case required(name: String, ValueKind)
    }

    private static let milliseconds = ValueKind.integer(0...60_000)
    private static let count = ValueKind.integer(1...1_000_000)

    var value: Value {
        switch self {
        case .delay: .optional(name: "MS", Self.milliseconds, default: "300")
        case .segment: .optional(name: "BYTES", .integer(1...1400), default: "7")
        case .dropAfter, .closeAfter, .muteAfter, .bare470: .required(name: "N", Self.count)
        case .idleClose: .optional(name: "SECONDS", .integer(1...86_400), default: "40")
        case .sessions: .optional(name: "N", .integer(1...64), default: "8")
        case .framing: .required(name: "HOW", .choice(["length", "chunked"]))
        case .badJSON: .optional(name: "HOW", .choice(["comma", "garbage", "early"]), default: "comma")
        case .status: .optional(name: "HOW", .choice(["positive", "missing", "true", "top-level"]), default: "positive")
        case .leadingZeros: .required(name: "HOW", .choice(["apple", "as-sent"]))
        case .pairSetup:
            .required(name: "WHAT", .choice(["busy", "max-tries", "max-peers", "backoff", "paired", "unknown", "429", "503"]))
        case .eventInterval: .required(name: "MS", Self.milliseconds)
        case .eventsMax: .optional(name: "N", Self.count, default: "26")
        case .brightnessNeedsOn: .optional(name: "HOW", .choice(["ignored", "rejected", "alone"]), default: "ignored")
        case .jumpBack, .dimmerLag: .optional(name: "MS", Self.milliseconds, default: "500")
        case .dimmerStep: .optional(name: "PERCENT", .integer(2...50), default: "5")
        case .refusalStatus: .optional(name: "HTTP", .integer(400...499), default: "400")
        case .configNumber: .required(name: "HOW", .choice(["zero", "bump", "wrap"]))
        case .txtID: .optional(name: "TEXT", .text, default: "")
        case .announces: .required(name: "ADDRESS", .text)
        case .silentWhileOff, .unpairingHangsUp, .noEvents, .newPort, .lowerCaseHeaders, .newlineAfterBody, .staleAnswers, .zeroSalt,
            .noState, .forgets, .eventEcho, .onePiece,
            .strictRequests, .ignoresTrue, .zeroIsFull, .newInstances, .unpairedFlag, .txtNUL:
            .none
        }
    }

    /// What the lamp does, in one sentence, with the faults it stands for.
    var explanation: String {
        switch self {
        case .delay: "Every answer comes so much later (F24, F25)."
        case .segment: "Everything sent is cut into TCP segments of so many bytes (F22)."
        case .dropAfter: "Each connection is closed in place of the answer after N requests (F1)."
        case .closeAfter: "Each connection is closed behind the answer to its Nth request (F27)."
        case .muteAfter: "Each connection answers N requests and then nothing more, and stays open (F2, F25)."
        case .idleClose: "A connection that is silent for so long is closed (F27)."
        case .sessions: "A connection beyond N is answered with 503 (F28)."
        case .newPort: "At each start another free port is taken, whatever --port says (F4)."
        case .framing: "All bodies come with a length, or all in chunks; only the database is chunked otherwise."
        case .lowerCaseHeaders: "Header names are in lower case (F20)."
        case .newlineAfterBody: "A line end that belongs to no message follows each JSON body (F22)."
        case .bare470: "After N requests of a session all others are refused with 470, without a Content-Length (F19)."
        case .badJSON: "JSON has a comma too many, is rubbish, or GET options close the object too early, as Apple's does (F23)."
        case .status: "Statuses have no minus sign, are missing, come with a `true` in the list, or stand alone (F21)."
        case .staleAnswers: "Each answer of a session is held back until the next request, and so passes for its answer (F24)."
        case .leadingZeros: "Only one reading of numbers that begin with a zero byte is right: Apple's, or as they were sent (F18)."
        case .zeroSalt: "The salt of pair-setup is all zeros (F17)."
        case .noState: "Pairing messages have no state item (F16)."
        case .pairSetup: "Pair-setup is refused with this (F31)."
        case .forgets: "At each start the lamp has forgotten its controllers, as after a reset (F30)."
        case .refusalStatus: "Refusals of pairing and of verification come with this HTTP status."
        case .unpairingHangsUp: "The connection is closed in place of the answer to a request about pairings."
        case .eventInterval: "Changes are gathered for so long before an event tells of them; 250 ms otherwise (F34)."
        case .eventEcho: "Controllers get events of their own writes (F35)."
        case .eventsMax: "Subscriptions of a connection beyond N are accepted and never heard of (F26)."
        case .noEvents: "Subscriptions are refused with 400 and nothing more."
        case .onePiece: "A request whose headers and body do not arrive together gets 400 (F12)."
        case .strictRequests:
            "Requests with a port or a space in Host, headers out of order or beyond need, or blanks in JSON get 400 (F9–F14)."
        case .ignoresTrue: "A value written as `true` instead of 1 is accepted and does nothing (F15)."
        case .brightnessNeedsOn: "Brightness written while the lamp is off is ignored, or rejected, `alone` even together with On (F36)."
        case .silentWhileOff: "Brightness is read as null while the lamp is off."
        case .zeroIsFull: "Brightness 0 together with On makes it fully bright (F32)."
        case .jumpBack: "On and Brightness together to a lamp that is on: it takes them, and goes to 100 % some time later (F33)."
        case .dimmerLag: "A write of Brightness is answered so much later, one after the other (F34)."
        case .dimmerStep: "Brightness has steps of so many percent, and what is between them is refused."
        case .newInstances: "At each start On and Brightness have other instance numbers, and c# another value (F38)."
        case .configNumber: "c# is 0, is another one at each start, or has just gone round to 1 (F38)."
        case .unpairedFlag: "The lamp announces itself as unpaired (sf=1) while it is paired (F29)."
        case .txtID: "The announced id is another text, by default an empty one (F8)."
        case .txtNUL: "The announced model ends with a NUL (F8)."
        case .announces: "This address is announced as well: 0.0.0.0, a link-local one, another lamp's (F5–F7)."
        }
    }

    /// As it is written on the command line.
    var usage: String {
        switch value {
        case .none: rawValue
        case .optional(let name, _, _): "\(rawValue)[=\(name)]"
        case .required(let name, _): "\(rawValue)=\(name)"
        }
    }
}

/// The quirks that a lamp is to have, each with its value.
struct Quirks: Sendable, Equatable {
    private var values: [Quirk: String] = [:]

    init() {}

    /// Reads the values of `--quirk`: `NAME` or `NAME=VALUE`.
    init(parsing texts: [String]) throws(LampFailure) {
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let quirk = Quirk(rawValue: parts[0]) else {
                throw .unknownQuirk(parts[0], nearest: nearest(to: parts[0], among: Quirk.allCases.map(\.rawValue)))
            }
            guard values[quirk] == nil else { throw .repeatedQuirk(quirk) }
            switch (quirk.value, parts.count > 1 ? parts[1] : nil) {
            case (.none, nil): values[quirk] = ""
            case (.optional(_, _, let standard), nil): values[quirk] = standard
            case (.optional(_, let kind, _), let value?), (.required(_, let kind), let value?):
                guard kind.accepts(value) else { throw .badQuirkValue(quirk, value) }
                values[quirk] = value
            case (.none, let value?): throw .badQuirkValue(quirk, value)
            case (.required, nil): throw .missingQuirkValue(quirk)
            }
        }
    }

    func has(_ quirk: Quirk) -> Bool { values[quirk] != nil }

    /// The value of a quirk that the lamp has.
    subscript(quirk: Quirk) -> String? { values[quirk] }

    func integer(_ quirk: Quirk) -> Int? { values[quirk].flatMap(Int.init) }

    func milliseconds(_ quirk: Quirk) -> Duration? { integer(quirk).map { .milliseconds($0) } }
}
