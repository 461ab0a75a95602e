/// What was asked of many lamps and what each was told: how long that took, what got lost, and what was done twice.
///
/// Of each lamp one level and one toggle at a time are awaited: steps of a slide replace each other, and toggles are sent further apart than
/// they live. Pure: what happened goes in, with its time.
public struct FleetLedger: Sendable {
    /// Older than this no toggle is acted on: its lifetime, and time for reading and writing the lamp.
    public static let oldestToggle = Duration.milliseconds(3500)

    public struct Outcome: Equatable, Sendable {
        /// From sending a level until the lamp was written, of those that were.
        public var delays: [Duration] = []
        /// Levels sent, counted for each lamp.
        public var levels = 0
        /// Levels that were not written before the next one was sent.
        public var overtaken = 0
        /// Levels without a write and without a successor.
        public var missing = 0
        /// Toggles sent, counted for each lamp; those a lamp was switched by; and those it was not.
        public var toggles = 0
        public var switched = 0
        public var lostToggles = 0
        /// Times a lamp was switched although no toggle was awaited.
        public var doubled = 0
        /// For each lamp that was cut off by the interruption, how long it took from then until it was served again; nil for never.
        public var outages: [Int: Duration?] = [:]

        public init() {}
    }

    private struct Awaited: Sendable {
        var level: Int
        var sent: ContinuousClock.Instant
    }

    private struct Lamp: Sendable {
        var level: Awaited?
        var toggle: ContinuousClock.Instant?
        var lastWrite: ContinuousClock.Instant?
        /// The longest silence since the interruption, and when it ended.
        var silence: (length: Duration, end: ContinuousClock.Instant)?
    }

    private let longestSilence: Duration
    private var lamps: [Lamp]
    private var outcome = Outcome()
    private var interruption: ContinuousClock.Instant?

    /// - Parameter longestSilence: Between two writes of a lamp that is served.
    public init(lamps: Int, longestSilence: Duration) {
        self.lamps = Array(repeating: Lamp(), count: lamps)
        self.longestSilence = longestSilence
    }

    /// A level goes out to lamps.
    public mutating func sent(level: Int, to numbers: [Int], at now: ContinuousClock.Instant) {
        for number in numbers {
            outcome.levels += 1
            if lamps[number].level != nil { outcome.overtaken += 1 }
            lamps[number].level = Awaited(level: level, sent: now)
        }
    }

    /// A toggle goes out to lamps.
    public mutating func sentToggle(to numbers: [Int], at now: ContinuousClock.Instant) {
        for number in numbers {
            outcome.toggles += 1
            if lamps[number].toggle != nil { outcome.lostToggles += 1 }
            lamps[number].toggle = now
        }
    }

    /// What was said to go out did not: there was no connection.
    public mutating func withdrew(level: Int, from numbers: [Int]) {
        for number in numbers where lamps[number].level?.level == level {
            lamps[number].level = nil
            outcome.levels -= 1
        }
    }

    public mutating func withdrewToggle(from numbers: [Int]) {
        for number in numbers where lamps[number].toggle != nil {
            lamps[number].toggle = nil
            outcome.toggles -= 1
        }
    }

    /// A lamp was written; what the write left out is nil.
    public mutating func wrote(on: Bool?, brightness: Int?, to number: Int, at now: ContinuousClock.Instant) {
        guard lamps.indices.contains(number) else { return }
        if let interruption {
            let silence = now - max(lamps[number].lastWrite ?? interruption, interruption)
            if silence > lamps[number].silence?.length ?? .zero { lamps[number].silence = (silence, now) }
        }
        lamps[number].lastWrite = now
        if let brightness {
            guard let awaited = lamps[number].level, awaited.level == brightness else { return }
            lamps[number].level = nil
            outcome.delays.append(now - awaited.sent)
        } else if on != nil {
            if let sent = lamps[number].toggle, now - sent <= Self.oldestToggle {
                lamps[number].toggle = nil
                outcome.switched += 1
            } else {
                outcome.doubled += 1
            }
        }
    }

    /// Something was taken away from under the fleet.
    public mutating func interrupted(at now: ContinuousClock.Instant) { interruption = now }

    /// Nothing more is awaited. A lamp not written since the interruption, or not for too long, is not served again.
    public mutating func ended(at now: ContinuousClock.Instant) -> Outcome {
        for (number, lamp) in lamps.enumerated() {
            if lamp.level != nil { outcome.missing += 1 }
            if lamp.toggle != nil { outcome.lostToggles += 1 }
            guard let interruption else { continue }
            if now - max(lamp.lastWrite ?? interruption, interruption) > longestSilence {
                outcome.outages[number] = .some(nil)
            } else if let silence = lamp.silence, silence.length > longestSilence {
                outcome.outages[number] = silence.end - interruption
            }
        }
        defer { self = FleetLedger(lamps: lamps.count, longestSilence: longestSilence) }
        return outcome
    }
}
