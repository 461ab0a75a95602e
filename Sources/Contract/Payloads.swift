/// Version of the payload schema, the `v` of every event.
public let schemaVersion = 1

/// How old an event may be and still be acted on, in seconds; also its MQTT 5 message expiry.
public let eventLifetime = 3.0

/// `camera/<id>/toggle`: a pinch. QoS 1, never retained.
public struct ToggleEvent: Codable, Equatable, Sendable {
    public static let eventType = "toggle"

    public var eventType: String
    /// `<boot>-<n>`: unique over restarts, so that a message delivered twice is acted on once.
    public var id: String
    /// When the frame was captured, UTC.
    public var ts: Timestamp
    /// The same by a clock that nobody sets: seconds since the sender's host started, sleep included, to the millisecond. What an event's age
    /// is told by; nil from senders that do not say it.
    public var uptime: Double?
    public var hand: HandSide
    /// 0 to 1: presence of the hand in the frame that completed the pinch.
    public var confidence: Double
    public var v: Int

    public init(id: String, ts: Timestamp, uptime: Double? = nil, hand: HandSide, confidence: Double) {
        (eventType, self.id, self.ts, self.uptime) = (Self.eventType, id, ts, uptime)
        (self.hand, self.confidence, v) = (hand, confidence, schemaVersion)
    }

    private enum CodingKeys: String, CodingKey {
        case eventType = "event_type"
        case id, ts, uptime, hand, confidence, v
    }
}

/// `camera/<id>/brightness`: one step of a slide. `changed` is QoS 0, `began` and `ended` QoS 1; never retained.
public struct BrightnessEvent: Codable, Equatable, Sendable {
    public enum Phase: String, Codable, Sendable {
        case began, changed, ended
    }

    /// 0 to 100 %, one decimal.
    public var value: Double
    public var phase: Phase
    /// How far the finger is from where the slide began, in frame widths, positive towards brighter.
    public var displacement: Double
    public var id: String
    public var ts: Timestamp
    /// As ``ToggleEvent/uptime``.
    public var uptime: Double?
    public var v: Int

    public init(value: Double, phase: Phase, displacement: Double, id: String, ts: Timestamp, uptime: Double? = nil) {
        (self.value, self.phase, self.displacement) = (value, phase, displacement)
        (self.id, self.ts, self.uptime, v) = (id, ts, uptime, schemaVersion)
    }
}

/// The person's own left or right hand.
public enum HandSide: String, Codable, Sendable {
    case left, right
}

/// `camera/<id>/state`: retained, at most 4 a second, the last value always sent.
public struct CameraState: Codable, Equatable, Sendable {
    public enum Pinch: String, Codable, Sendable {
        /// No hand, or one not seen open yet.
        case none
        case open, pinched
    }

    /// Whole percent: what the next slide starts from.
    public var brightness: Int
    public var hand: Bool
    public var pinch: Pinch
    /// Frames recognised per second over the last second, one decimal.
    public var fps: Double
    /// Whether gestures act; always where arming is not in use.
    public var armed: Bool
    /// How much of the arming gesture is done, 0 to 1, one decimal; 1 when armed.
    public var arming: Double
    /// Seconds since the latest frame, one decimal; absent before the first one and while recognition is switched off.
    public var frameAge: Double?
    /// Why there is no picture, for a person to read; absent where there is one.
    public var problem: String?

    public init(
        brightness: Int, hand: Bool, pinch: Pinch, fps: Double, armed: Bool = true, arming: Double = 1, frameAge: Double? = nil,
        problem: String? = nil
    ) {
        (self.brightness, self.hand, self.pinch, self.fps) = (brightness, hand, pinch, fps)
        (self.armed, self.arming, self.frameAge, self.problem) = (armed, arming, frameAge, problem)
    }

    private enum CodingKeys: String, CodingKey {
        case brightness, hand, pinch, fps, armed, arming, problem
        case frameAge = "frame_age"
    }
}

/// `camera/<id>/target`: where the routed lamp is now, so that a slide starts there. Retained, published by the bridge.
public struct Target: Codable, Equatable, Sendable {
    public var on: Bool
    /// 0 to 100 %.
    public var brightness: Int

    public init(on: Bool, brightness: Int) {
        (self.on, self.brightness) = (on, brightness)
    }

    /// What a slide starts from: a lamp that is off is at 0, whatever brightness it remembers.
    public var level: Int { on ? brightness : 0 }
}

/// `lamp/<id>/state` (retained) and `lamp/<id>/set`: Home Assistant's JSON light schema at brightness scale 100.
public struct LampState: Codable, Equatable, Sendable {
    public enum Power: String, Codable, Sendable {
        case on = "ON"
        case off = "OFF"
    }

    public var state: Power?
    /// 0 to 100 %.
    public var brightness: Int?

    public init(state: Power?, brightness: Int? = nil) {
        (self.state, self.brightness) = (state, brightness)
    }
}

/// `…/availability`: plain text, retained, also the will.
public enum Availability: String, Sendable {
    case online, offline
}

/// `camera/<id>/enabled`, `camera/<id>/armed` and each with `/set`: plain text.
public enum Switch: String, Sendable {
    case on = "ON"
    case off = "OFF"
}

/// `bridge/<id>/state`: retained.
public struct BridgeState: Codable, Equatable, Sendable {
    public struct Lamp: Codable, Equatable, Sendable {
        public var id: Identifier
        public var available: Bool
        /// `ok`, `unreachable` or `pairing_lost`.
        public var status: String

        public init(id: Identifier, available: Bool, status: String) {
            (self.id, self.available, self.status) = (id, available, status)
        }
    }

    public var lamps: [Lamp]
    /// Since the start: events acted on, and events left alone with the reason as key (`stale`, `duplicate`, `malformed`, …).
    public var accepted: Int
    public var rejected: [String: Int]
    public var v: Int

    public init(lamps: [Lamp], accepted: Int, rejected: [String: Int]) {
        (self.lamps, self.accepted, self.rejected, v) = (lamps, accepted, rejected, schemaVersion)
    }
}
