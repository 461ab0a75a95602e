import Bridge
import TestSupport

/// A lamp with a mind and a radio of its own on the other side of a queue, in virtual time.
struct World {
    private(set) var queue: LampQueue
    private(set) var lamp = LampValues(on: false, brightness: 40)
    private var now = ContinuousClock.now
    private var random: SeededGenerator
    private let faults: Bool
    private var connected = false
    private var flight: (request: LampQueue.Request, due: ContinuousClock.Instant)?
    private var lastLevelWrite: ContinuousClock.Instant?
    private var lastWrite: ContinuousClock.Instant?
    /// When each toggle not yet done or dropped is too late, oldest first.
    private var toggleDeadlines: [ContinuousClock.Instant] = []

    private(set) var overlaps = 0
    private(set) var closestLevelWrites = Duration.seconds(1000)
    private(set) var zeroBrightnessWrites = 0
    private(set) var lateToggles = 0
    private(set) var lampToggles = 0
    private(set) var dones = 0
    private(set) var drops = 0
    /// Toggles and power commands given so far.
    private(set) var accounted = 0
    /// The last level asked for, while no other command followed it.
    private(set) var lastLevel: Int?

    var waiting: Int { accounted - dones - drops }

    init(seed: UInt64, faults: Bool = true) {
        random = SeededGenerator(seed: seed ^ 0xfeed)
        self.faults = faults
        var policy = LampQueue.Policy()
        // Without faults writes are counted, and those for a level would count as toggles.
        policy.splitsWrites = faults && seed.isMultiple(of: 3)
        queue = LampQueue(policy: policy)
        connect()
    }

    mutating func step(_ random: inout SeededGenerator) {
        switch random.below(12) {
        case 0...4: command(.level(Int(random.below(101))))
        case 5, 6: command(.toggle)
        case 7: command(random.below(3) == 0 ? .identify : .power(random.below(2) == 0))
        case 8 where faults && random.below(4) == 0: disconnect()
        case 9 where !connected: connect()
        case 10: switchByHand(random.below(2) == 0)
        default: break
        }
        pass(.milliseconds(Int(random.below(150))))
    }

    mutating func command(_ command: LampCommand) {
        switch command {
        case .level(let level): lastLevel = level
        case .toggle, .power, .identify: (lastLevel, accounted) = (nil, accounted + 1)
        }
        let expires = command == .toggle ? now + .seconds(3) : nil
        if let expires { toggleDeadlines.append(expires) }
        perform(queue.handle(.command(command, origin: desk, expires: expires), at: now))
    }

    /// One more level after all that, and time for it.
    mutating func settle() {
        if !connected { connect() }
        command(.level(Int(random.below(101))))
        drain()
    }

    mutating func drain() {
        for _ in 0..<400 {
            if !connected { connect() }
            pass(.milliseconds(100))
        }
    }

    /// Lets time pass, with answers and deadlines at their moments.
    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let next = [flight?.due, queue.deadline].compactMap(\.self).min(), next <= end {
            now = max(now, next)
            if let flight, flight.due <= now { answer(flight.request) } else { perform(queue.handle(.wake, at: now)) }
        }
        now = end
    }

    private mutating func connect() {
        connected = true
        perform(queue.handle(.connected, at: now))
    }

    private mutating func disconnect() {
        (connected, flight) = (false, nil)
        perform(queue.handle(.disconnected, at: now))
    }

    private mutating func switchByHand(_ on: Bool) {
        guard lastLevel == nil else { return }
        lamp.on = on
        if connected { perform(queue.handle(.report(on: on, brightness: nil), at: now)) }
    }

    private mutating func answer(_ request: LampQueue.Request) {
        flight = nil
        let fate = faults ? random.below(20) : 19
        switch fate {
        case 0: perform(queue.handle(.answered(.failed(.busy)), at: now))
        case 2:
            connected = false
            perform(queue.handle(.answered(.failed(.unverified)), at: now))
        case 1:
            if random.below(2) == 0 { _ = apply(request) }
            connected = false
            perform(queue.handle(.answered(.failed(.lost)), at: now))
        default: perform(queue.handle(.answered(apply(request)), at: now))
        }
    }

    private mutating func apply(_ request: LampQueue.Request) -> LampQueue.Answer {
        switch request {
        case .read: return .read(lamp)
        case .write(let on, let brightness):
            if let on {
                if brightness == nil { lampToggles += 1 }
                lamp.on = on
            }
            if let brightness { lamp.brightness = brightness }
            return .written
        case .identify: return .written
        }
    }

    private mutating func perform(_ actions: [LampQueue.Action]) {
        for action in actions {
            switch action {
            case .send(let request):
                if flight != nil { overlaps += 1 }
                note(request)
                flight = (request, now + .milliseconds(Int(random.below(faults ? 400 : 40))))
            case .done(.level, _, _), .dropped(.level, _, _): break
            case .done(.toggle, _, _):
                dones += 1
                if let lastWrite, lastWrite >= toggleDeadlines.removeFirst() { lateToggles += 1 }
            case .done(.power, _, _), .done(.identify, _, _): dones += 1
            case .dropped(let command, _, let reason):
                drops += 1
                guard command == .toggle else { break }
                if reason == .overflow { toggleDeadlines.removeLast() } else { toggleDeadlines.removeFirst() }
            case .state: break
            }
        }
    }

    private mutating func note(_ request: LampQueue.Request) {
        guard case .write(_, let brightness) = request else { return }
        lastWrite = now
        guard let brightness else { return }
        if brightness == 0 { zeroBrightnessWrites += 1 }
        if let lastLevelWrite { closestLevelWrites = min(closestLevelWrites, now - lastLevelWrite) }
        lastLevelWrite = now
    }
}
