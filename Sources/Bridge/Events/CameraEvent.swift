public import Contract

/// An event of a camera, decoded and checked.
public enum CameraEvent: Equatable, Sendable {
    case toggle(ToggleEvent)
    case brightness(BrightnessEvent)

    /// Longest id accepted, in bytes: ids are remembered, so their size is bounded.
    public static let maximumIdLength = 128

    /// Reads the payload of `camera/<id>/toggle` or `…/brightness`; unknown keys are ignored.
    public init(_ kind: EventKind, payload: [UInt8]) throws(PayloadFault) {
        switch kind {
        case .toggle:
            let event = try Payload.decode(ToggleEvent.self, from: payload)
            guard event.eventType == ToggleEvent.eventType else { throw .value(key: "event_type", wanted: "\"\(ToggleEvent.eventType)\"") }
            self = .toggle(event)
        case .brightness:
            let event = try Payload.decode(BrightnessEvent.self, from: payload)
            guard event.value.isFinite, (0...100).contains(event.value) else { throw .value(key: "value", wanted: "0 to 100") }
            self = .brightness(event)
        }
        guard stamp.uptime.map(\.isFinite) ?? true else { throw .value(key: "uptime", wanted: "seconds") }
        guard version == schemaVersion else { throw .value(key: "v", wanted: "\(schemaVersion)") }
        guard (1...Self.maximumIdLength).contains(stamp.id.utf8.count) else {
            throw .value(key: "id", wanted: "1 to \(Self.maximumIdLength) bytes")
        }
    }

    public var stamp: EventStamp {
        switch self {
        case .toggle(let event): EventStamp(kind: .toggle, id: event.id, ts: event.ts, uptime: event.uptime)
        case .brightness(let event): EventStamp(kind: .brightness, id: event.id, ts: event.ts, uptime: event.uptime)
        }
    }

    private var version: Int {
        switch self {
        case .toggle(let event): event.v
        case .brightness(let event): event.v
        }
    }
}

public enum EventKind: String, Hashable, Sendable {
    case toggle, brightness
}

/// What says which event this is and when it was made.
public struct EventStamp: Equatable, Sendable {
    public var kind: EventKind
    public var id: String
    /// By the sender's clock.
    public var ts: Timestamp
    /// Seconds by a clock of the sender's that is never set; nil where it does not say.
    public var uptime: Double?

    public init(kind: EventKind, id: String, ts: Timestamp, uptime: Double? = nil) {
        (self.kind, self.id, self.ts, self.uptime) = (kind, id, ts, uptime)
    }

    /// The `<boot>-<n>` of the id; nil for ids of another form.
    var sequence: EventSequence? {
        guard let dash = id.lastIndex(of: "-"), dash > id.startIndex else { return nil }
        let digits = id[id.index(after: dash)...]
        guard let number = UInt64(digits), digits.first?.isNumber == true else { return nil }
        return EventSequence(boot: String(id[..<dash]), number: number)
    }
}

struct EventSequence: Equatable, Sendable {
    var boot: String
    var number: UInt64
}
