/// The commands of one lamp in order, one HAP request at a time; pure: what happened and when goes in, what to do comes out.
///
/// - A toggle reads On and writes its inverse. Toggles are never merged; one that is not written within its lifetime is dropped, because
///   nobody expects a lamp to switch late.
/// - Of brightness the latest value wins: a new one replaces one that still waits, unless a toggle or a power command stands between.
///   Writes start at least `minimumInterval` apart, and what waits is written when that is over, so the last value always arrives.
/// - Brightness 0 is Off. Above 0 it is written alone to a lamp that is on, and together with On to one that is off, or after it where
///   the policy splits writes.
/// - A lamp that says it is busy is asked again after `retryDelay`. A refusal is final, except that of On and brightness in one write:
///   from then on they are two. Where the connection ends before the answer, brightness and power are sent again once the lamp is back,
///   within `levelLifetime`; a toggle is tried again only if it had not been written yet, as nobody can tell whether the lamp did it.
/// - While the bridge writes, and for `echoHold` after, what the lamp reports of the same characteristic is held back: it may be the echo
///   of an earlier write (an accessory may collect events for up to a second). What is left at the end and differs is settled by reading
///   the lamp.
public struct LampQueue: Sendable {
    public struct Policy: Sendable {
        /// Least time between the starts of two brightness writes.
        public var minimumInterval: Duration = .milliseconds(100)
        /// Whether a lamp that is off is switched on first and dimmed by a write of its own: some take both at once and forget one.
        public var splitsWrites = false
        /// How long brightness and power commands wait for an unreachable lamp.
        public var levelLifetime: Duration = .seconds(30)
        public var echoHold: Duration = .milliseconds(500)
        public var retryDelay: Duration = .milliseconds(250)
        /// How long a lamp that refuses to be read, and is not known yet, is left alone.
        public var refusalDelay: Duration = .seconds(5)
        /// A lamp not heard from for this long is read.
        public var pollInterval: Duration = .seconds(30)
        /// Most toggles and power commands that wait; brightness needs one place between two of them, and one at each end.
        public var capacity = 16

        public init() {}
    }

    public enum Input: Equatable, Sendable {
        /// - Parameter expires: when it is too late; nil for what waits `levelLifetime`.
        case command(LampCommand, origin: CommandOrigin, expires: ContinuousClock.Instant?)
        /// A verified session is there, with events subscribed.
        case connected
        case disconnected
        case answered(Answer)
        /// An event of the lamp: what changed, nil for what is not said.
        case report(on: Bool?, brightness: Int?)
        /// Events of the lamp were lost.
        case missedReports
        /// `deadline` has come.
        case wake
    }

    public enum Request: Equatable, Sendable {
        /// Read On, and Brightness where there is one.
        case read
        case write(on: Bool?, brightness: Int?)
        case identify
    }

    public enum Answer: Equatable, Sendable {
        case read(LampValues)
        case written
        /// The lamp has not every level; this one is the nearest to what was asked for.
        case writtenNear(level: Int)
        case failed(Failure)

        public var isWritten: Bool {
            switch self {
            case .written, .writtenNear: true
            case .read, .failed: false
            }
        }
    }

    public enum Failure: Equatable, Sendable {
        /// Nothing was done; worth asking again.
        case busy
        /// Nothing was done, and asking again will not change that.
        case refused(status: Int)
        /// Nothing was done, since the lamp does not take the session for verified any more; the session is over.
        case unverified
        /// Whether it was done is not known, and the session is over.
        case lost
    }

    public enum Action: Equatable, Sendable {
        case send(Request)
        /// The lamp is known to be so, by its own word or by a write it confirmed.
        case state(LampValues)
        case done(LampCommand, origin: CommandOrigin, LampValues)
        case dropped(LampCommand, origin: CommandOrigin, DropReason)
    }

    public enum DropReason: Equatable, Sendable {
        case stale
        case overflow
        case refused(status: Int)
        /// The connection ended between the write and its answer.
        case unconfirmed

        public var rejection: Rejection {
            switch self {
            case .stale: .stale
            case .overflow: .overflow
            case .refused, .unconfirmed: .failed
            }
        }
    }

    private struct Entry: Sendable {
        var command: LampCommand
        var origin: CommandOrigin
        var expires: ContinuousClock.Instant

        var isLevel: Bool { if case .level = command { true } else { false } }
        /// Whether doing it twice is another thing than doing it once.
        var isOnce: Bool { command == .toggle || command == .identify }
    }

    private struct Write: Sendable {
        var on: Bool?
        var brightness: Int?
    }

    private enum Activity: Sendable {
        case offline
        case idle
        /// Reading for its own sake; a toggle waits for none of that.
        case refreshing
        case inverting(Entry)
        case writing(Entry, Write)
        case identifying(Entry)
        /// The lamp is switched on for a level that is written after it.
        case switchingOn(Entry)
    }

    private let policy: Policy
    /// As the policy has it, until the lamp has refused both values in one write.
    private var splitsWrites: Bool
    private var activity = Activity.offline
    private var waiting: [Entry] = []
    /// Nil from a disconnection to the first read after it.
    private var known: LampValues?
    private var refreshDue = false
    /// The level last written and confirmed, while nothing has been heard that contradicts it.
    private var settledLevel: Int?
    private var onEcho = EchoHold<Bool>()
    private var brightnessEcho = EchoHold<Int>()
    private var nextLevelWrite: ContinuousClock.Instant?
    private var retryAt: ContinuousClock.Instant?
    private var nextPoll: ContinuousClock.Instant?

    public init(policy: Policy = Policy()) {
        self.policy = policy
        splitsWrites = policy.splitsWrites
    }

    /// When to come back with `.wake`, unless something happens before; nil for never.
    public private(set) var deadline: ContinuousClock.Instant?

    public mutating func handle(_ input: Input, at now: ContinuousClock.Instant) -> [Action] {
        var actions: [Action] = []
        switch input {
        case .command(let command, let origin, let expires):
            enqueue(Entry(command: command, origin: origin, expires: expires ?? now + policy.levelLifetime), &actions)
        case .connected: connected()
        case .disconnected: disconnected(&actions)
        case .answered(let answer): answered(answer, now, &actions)
        case .report(let on, let brightness): report(on, brightness, now, &actions)
        case .missedReports: refreshDue = known != nil
        case .wake: break
        }
        expire(now, &actions)
        settleEchoes(now)
        proceed(now, &actions)
        deadline = nextDeadline(now)
        return actions
    }

    // MARK: Commands

    private mutating func enqueue(_ entry: Entry, _ actions: inout [Action]) {
        if entry.isLevel {
            if waiting.last?.isLevel == true { waiting.removeLast() }
            waiting.append(entry)
        } else if waiting.count(where: { !$0.isLevel }) >= policy.capacity {
            actions.append(.dropped(entry.command, origin: entry.origin, .overflow))
        } else {
            waiting.append(entry)
        }
    }

    /// Puts an unfinished command back at its place, unless a newer level has replaced it.
    private mutating func putBack(_ entry: Entry) {
        if entry.isLevel, waiting.first?.isLevel == true { return }
        waiting.insert(entry, at: 0)
    }

    private mutating func expire(_ now: ContinuousClock.Instant, _ actions: inout [Action]) {
        guard waiting.contains(where: { $0.expires <= now }) else { return }
        for entry in waiting where entry.expires <= now { actions.append(.dropped(entry.command, origin: entry.origin, .stale)) }
        // Levels that a dropped toggle kept apart are neighbours now; the later one wins as ever.
        let rest = waiting.filter { $0.expires > now }
        waiting = rest.enumerated().filter { !$1.isLevel || $0 + 1 >= rest.count || !rest[$0 + 1].isLevel }.map(\.element)
    }

    // MARK: Connection

    private mutating func connected() {
        guard case .offline = activity else { return }
        activity = .idle
        (refreshDue, retryAt) = (true, nil)
    }

    private mutating func disconnected(_ actions: inout [Action]) {
        switch activity {
        case .offline: return
        case .idle, .refreshing: break
        case .inverting(let entry): putBack(entry)
        case .writing(let entry, _), .identifying(let entry), .switchingOn(let entry): lost(entry, &actions)
        }
        activity = .offline
        (known, settledLevel, refreshDue, retryAt, nextPoll) = (nil, nil, false, nil, nil)
        (onEcho, brightnessEcho) = (EchoHold(), EchoHold())
    }

    private mutating func lost(_ entry: Entry, _ actions: inout [Action]) {
        if entry.isOnce {
            actions.append(.dropped(entry.command, origin: entry.origin, .unconfirmed))
        } else {
            putBack(entry)
        }
    }

    // MARK: Answers

    private mutating func answered(_ answer: Answer, _ now: ContinuousClock.Instant, _ actions: inout [Action]) {
        if answer == .failed(.unverified) {
            switch activity {
            case .writing(let entry, _), .switchingOn(let entry), .identifying(let entry):
                putBack(entry)
                activity = .idle
            case .offline, .idle, .refreshing, .inverting: break
            }
        }
        if answer == .failed(.lost) || answer == .failed(.unverified) {
            disconnected(&actions)
            return
        }
        nextPoll = now + policy.pollInterval
        switch (activity, answer) {
        case (.offline, _), (.idle, _): return
        case (.refreshing, .read(let values)):
            activity = .idle
            learn(values, &actions)
        case (.inverting(let entry), .read(let values)):
            activity = .idle
            learn(values, &actions)
            guard entry.expires > now else {
                actions.append(.dropped(entry.command, origin: entry.origin, .stale))
                return
            }
            write(Write(on: !values.on), for: entry, &actions)
        case (.writing(let entry, let write), .written): written(write, for: entry, now, &actions)
        case (.writing(let entry, var write), .writtenNear(let level)):
            write.brightness = level
            written(write, for: entry, now, &actions)
        case (.identifying(let entry), .written):
            activity = .idle
            if let known { actions.append(.done(entry.command, origin: entry.origin, known)) }
        case (.identifying(let entry), .failed(.busy)):
            activity = .idle
            putBack(entry)
            retryAt = now + policy.retryDelay
        case (.identifying(let entry), .failed(.refused(let status))):
            activity = .idle
            actions.append(.dropped(entry.command, origin: entry.origin, .refused(status: status)))
        case (.switchingOn(let entry), .written):
            activity = .idle
            endEchoes(at: now + policy.echoHold)
            known?.on = true
            if let known { actions.append(.state(known)) }
            putBack(entry)
        case (.refreshing, .failed(.busy)):
            activity = .idle
            retryAt = now + policy.retryDelay
        case (.refreshing, .failed(.refused)):
            activity = .idle
            refreshDue = known == nil
            if refreshDue { retryAt = now + policy.refusalDelay }
        case (.inverting(let entry), .failed(.busy)), (.writing(let entry, _), .failed(.busy)), (.switchingOn(let entry), .failed(.busy)):
            activity = .idle
            endEchoes(at: now)
            putBack(entry)
            retryAt = now + policy.retryDelay
        case (.writing(let entry, let write), .failed(.refused)) where write.on == true && write.brightness != nil && !splitsWrites:
            activity = .idle
            endEchoes(at: now)
            (splitsWrites, nextLevelWrite) = (true, nil)
            putBack(entry)
        case (.inverting(let entry), .failed(.refused(let status))), (.writing(let entry, _), .failed(.refused(let status))),
            (.switchingOn(let entry), .failed(.refused(let status))):
            activity = .idle
            endEchoes(at: now)
            // One of two values written together may have been taken.
            (settledLevel, refreshDue) = (nil, true)
            actions.append(.dropped(entry.command, origin: entry.origin, .refused(status: status)))
        case (.refreshing, _), (.inverting, _), (.writing, _), (.identifying, _), (.switchingOn, _):
            preconditionFailure("an answer of the other kind than the request")
        }
    }

    private mutating func written(_ write: Write, for entry: Entry, _ now: ContinuousClock.Instant, _ actions: inout [Action]) {
        activity = .idle
        endEchoes(at: now + policy.echoHold)
        if case .level(let level) = entry.command { settledLevel = level } else { settledLevel = nil }
        var values = known ?? LampValues(on: write.on ?? true, brightness: write.brightness)
        if let on = write.on { values.on = on }
        if let brightness = write.brightness { values.brightness = brightness }
        known = values
        actions.append(.state(values))
        actions.append(.done(entry.command, origin: entry.origin, values))
    }

    private mutating func learn(_ values: LampValues, _ actions: inout [Action]) {
        refreshDue = false
        if settledLevel != nil, known != values { settledLevel = nil }
        known = values
        actions.append(.state(values))
    }

    // MARK: Reports

    private mutating func report(_ on: Bool?, _ brightness: Int?, _ now: ContinuousClock.Instant, _ actions: inout [Action]) {
        guard var values = known else { return }
        nextPoll = now + policy.pollInterval
        if let on {
            if on != values.on { settledLevel = nil }
            if !onEcho.hold(on, at: now) { values.on = on }
        }
        if let brightness, values.brightness != nil {
            if brightness != values.brightness { settledLevel = nil }
            if !brightnessEcho.hold(brightness, at: now) { values.brightness = brightness }
        }
        guard values != known else { return }
        known = values
        actions.append(.state(values))
    }

    private mutating func endEchoes(at instant: ContinuousClock.Instant) {
        onEcho.end(at: instant)
        brightnessEcho.end(at: instant)
    }

    private mutating func settleEchoes(_ now: ContinuousClock.Instant) {
        let (on, brightness) = (onEcho.take(at: now), brightnessEcho.take(at: now))
        guard let known else { return }
        if let on, on != known.on { refreshDue = true }
        if let brightness, brightness != known.brightness { refreshDue = true }
        if refreshDue { settledLevel = nil }
    }

    // MARK: Requests

    private mutating func proceed(_ now: ContinuousClock.Instant, _ actions: inout [Action]) {
        guard case .idle = activity else { return }
        if let retryAt {
            guard retryAt <= now else { return }
            self.retryAt = nil
        }
        if let poll = nextPoll, poll <= now { refreshDue = true }
        guard let known, !refreshDue || !waiting.isEmpty else {
            if refreshDue || known == nil { refresh(&actions) }
            return
        }
        while case .idle = activity, let entry = waiting.first {
            switch entry.command {
            case .toggle:
                waiting.removeFirst()
                activity = .inverting(entry)
                actions.append(.send(.read))
            case .power(let on):
                waiting.removeFirst()
                write(Write(on: on), for: entry, &actions)
            case .identify:
                waiting.removeFirst()
                activity = .identifying(entry)
                actions.append(.send(.identify))
            case .level(let level):
                guard !isSettled(level, known) else {
                    waiting.removeFirst()
                    actions.append(.done(entry.command, origin: entry.origin, known))
                    continue
                }
                if let nextLevelWrite, nextLevelWrite > now { return }
                waiting.removeFirst()
                if splitsWrites, level > 0, !known.on, known.brightness != nil {
                    activity = .switchingOn(entry)
                    onEcho.begin()
                    actions.append(.send(.write(on: true, brightness: nil)))
                    continue
                }
                nextLevelWrite = now + policy.minimumInterval
                write(Self.write(level, to: known), for: entry, &actions)
            }
        }
    }

    private mutating func refresh(_ actions: inout [Action]) {
        activity = .refreshing
        actions.append(.send(.read))
    }

    private static func write(_ level: Int, to lamp: LampValues) -> Write {
        guard level > 0, lamp.brightness != nil else { return Write(on: level > 0) }
        return Write(on: lamp.on ? nil : true, brightness: level)
    }

    private mutating func write(_ write: Write, for entry: Entry, _ actions: inout [Action]) {
        activity = .writing(entry, write)
        if write.on != nil { onEcho.begin() }
        if write.brightness != nil { brightnessEcho.begin() }
        actions.append(.send(.write(on: write.on, brightness: write.brightness)))
    }

    private func isSettled(_ level: Int, _ lamp: LampValues) -> Bool {
        level == settledLevel && lamp.on == (level > 0) && (level == 0 || lamp.brightness == nil || lamp.brightness == level)
    }

    private func nextDeadline(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        var candidates = waiting.map(\.expires)
        candidates += [onEcho.deadline, brightnessEcho.deadline].compactMap(\.self)
        if case .idle = activity {
            if let retryAt {
                candidates.append(retryAt)
            } else {
                if waiting.isEmpty, let nextPoll { candidates.append(nextPoll) }
                if !waiting.isEmpty, let nextLevelWrite { candidates.append(nextLevelWrite) }
            }
        }
        return candidates.min()
    }
}
