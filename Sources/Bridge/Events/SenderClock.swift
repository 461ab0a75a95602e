public import Contract

/// What is known of a sender's clock: how old an event was when it arrived, whatever time the sender believes it is.
///
/// Every event says when it was made by the sender's clock (`uptime`, which nobody sets, else `ts`) and arrives at a time of ours. The difference is the offset between the
/// two clocks plus the delay, so the smallest difference seen is the offset, and what an event exceeds it by is its age. A clock that is
/// hours wrong loses nothing. Ours is the monotonic one; its own zero is part of the offset and it is never set.
///
/// The rest concerns senders that say `ts` alone:
/// - A clock set forwards gives a smaller difference, which counts at once.
/// - A clock set back makes live events look late, and nothing in one event can tell the two apart. It is believed when the event's `ts`
///   agrees with our UTC clock, as after a sender's clock was corrected, or else when two late events are as far apart by their `ts` as
///   by our clock over more than an event's lifetime: a queue is delivered in a burst. What comes until then is lost, so that nothing
///   late is ever acted on.
/// - A restart of the sender may come with another clock (a host without a battery behind it), so learning begins anew.
/// - With nothing learned yet our UTC clock is the only witness: a difference between a lifetime and ten minutes is taken for age,
///   anything else for a wrong clock.
public struct SenderClock: Sendable {
    /// How fast the smallest difference is let rise: 100 ppm, more than a crystal drifts.
    private static let drift = 1e-4
    /// How far two differences may lie apart and still be the same clock, in milliseconds.
    private static let agreement = 1000.0
    /// Differences of UTC clocks above this are taken for a wrong clock where nothing was learned, in milliseconds.
    private static let longestCredibleDelay = 600_000.0

    private let lifetime: Double
    private let origin: ContinuousClock.Instant
    private var smallest: Sample?
    private var late: Sample?
    /// Which of the sender's clocks was learned.
    private var isSteady = false
    private var newest: [EventKind: EventSequence] = [:]

    private struct Sample {
        /// Milliseconds: our time less the sender's.
        var difference: Double
        var at: ContinuousClock.Instant
    }

    /// - Parameters:
    ///   - lifetime: the age up to which an event counts as live, seconds.
    ///   - origin: any instant; differences are counted from it.
    public init(lifetime: Double = eventLifetime, origin: ContinuousClock.Instant) {
        (self.lifetime, self.origin) = (lifetime * 1000, origin)
    }

    /// Notes an event and gives its age in seconds, 0 or more.
    public mutating func age(of event: EventStamp, arrived now: Moment) -> Double {
        let sent = event.uptime.map { $0 * 1000 } ?? Double(event.ts.millisecondsSinceEpoch)
        let sample = Sample(difference: milliseconds(since: now.instant) - sent, at: now.instant)
        let isSwitched = isSteady != (event.uptime != nil)
        if isRestarted(event) || isSwitched { (smallest, late, isSteady) = (nil, nil, event.uptime != nil) }
        let delay = Double(now.utc.millisecondsSinceEpoch - event.ts.millisecondsSinceEpoch)

        guard let known = smallest else {
            smallest = sample
            return delay > lifetime && delay <= Self.longestCredibleDelay ? delay / 1000 : 0
        }
        let offset = known.difference + Self.drift * max(0, (now.instant - known.at).milliseconds)
        if sample.difference <= offset {
            (smallest, late) = (sample, nil)
            return 0
        }
        let age = sample.difference - offset
        guard age > lifetime else {
            late = nil
            return age / 1000
        }
        if !isSteady && abs(delay) <= Self.agreement || isAtPace(sample) {
            (smallest, late) = (sample, nil)
            return 0
        }
        return age / 1000
    }

    /// Whether late events come as far apart as they were made, for longer than a queue takes to arrive.
    private mutating func isAtPace(_ sample: Sample) -> Bool {
        guard let earlier = late, abs(earlier.difference - sample.difference) <= Self.agreement else {
            late = sample
            return false
        }
        return (sample.at - earlier.at).milliseconds > lifetime
    }

    private mutating func isRestarted(_ event: EventStamp) -> Bool {
        guard let sequence = event.sequence else { return false }
        let before = newest.updateValue(sequence, forKey: event.kind)
        return before.map { $0.boot != sequence.boot } ?? false
    }

    private func milliseconds(since instant: ContinuousClock.Instant) -> Double { (instant - origin).milliseconds }
}

/// A point in time by both clocks: the monotonic one that everything is reckoned by, and UTC as payloads carry it.
public struct Moment: Sendable {
    public var instant: ContinuousClock.Instant
    public var utc: Timestamp

    public init(instant: ContinuousClock.Instant, utc: Timestamp) {
        (self.instant, self.utc) = (instant, utc)
    }
}

extension Duration {
    var milliseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) * 1000 + Double(attoseconds) / 1e15
    }
}
