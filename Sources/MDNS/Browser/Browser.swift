internal import Reactor
internal import Synchronization

/// Looks for the services of one type on all of the machine's networks, without any daemon.
///
/// Questions go out from ports of its own, and answers come back to them, so that it works where another program holds port 5353. Where
/// that can be shared it listens there as well, and hears services as they come and go. It works on the process's event loop and does
/// nothing between two datagrams and the next time to ask.
public actor Browser {
    /// When the first questions are repeated, since datagrams get lost (RFC 6762, 5.2).
    static let firstRepeats: [Duration] = [.seconds(1), .seconds(2)]
    /// Time between questions after that.
    static let interval = Duration.seconds(60)
    /// Least time between two rounds of questions (RFC 6762, 5.2), and before one that closes gaps.
    private static let minimumInterval = Duration.seconds(1)
    private static let gapInterval = Duration.milliseconds(250)
    /// Rounds of questions about one change that leaves gaps, such as a name without a port.
    private static let maximumGapRounds = 3
    /// How many sightings wait for their reader; of more, the oldest go.
    public static let sightingCapacity = 1024
    /// Bytes of a question; more questions go into another datagram (RFC 6762, 17 and an Ethernet frame).
    private static let maximumQuestions = 12

    /// For one reader; ends with ``run()``.
    public nonisolated let sightings: AsyncStream<ServiceSighting>

    private let outlet: AsyncStream<ServiceSighting>.Continuation
    private let loop = EventLoop.shared
    private var table: ServiceTable
    private var askers: [MulticastSocket] = []
    private var listeners: [MulticastSocket] = []
    private var watches: [LoopWatch] = []
    private var interfaces: [NetworkInterface] = []
    private var gapRounds = 0
    private var lastRound: ContinuousClock.Instant?
    private var round: Task<Void, Never>?
    private var nextID: UInt16 = 1

    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Opens the sockets; whoever cannot have port 5353 goes without.
    ///
    /// - Parameter type: Such as `_hap._tcp.local`.
    public init(type: DNSName) throws(MDNSFailure) {
        table = ServiceTable(type: type)
        (sightings, outlet) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.sightingCapacity))
        var failure: MDNSFailure?
        for family in MulticastSocket.Family.allCases {
            do { askers.append(try MulticastSocket(family, port: 0)) } catch { failure = failure ?? error }
            if let listener = try? MulticastSocket(family, port: MulticastSocket.port) { listeners.append(listener) }
        }
        if askers.isEmpty, let failure { throw failure }
    }

    /// Everything that is known at this moment.
    public var services: [BrowsedService] { table.services }

    /// Asks at once.
    public func ask() {
        gapRounds = 0
        schedule(Self.minimumInterval)
    }

    /// Looks until the task is cancelled.
    public func run() async {
        watches = askers.map { watch($0, isToAll: false) } + listeners.map { watch($0, isToAll: true) }
        for delay in Self.firstRepeats {
            sendQuestions()
            guard (try? await Task.sleep(for: delay)) != nil else { break }
        }
        while !Task.isCancelled {
            sendQuestions()
            // A service goes when nothing is heard of it, so the time that it has is looked at in between.
            let next = ContinuousClock.now + Self.interval
            while !Task.isCancelled, ContinuousClock.now < next {
                let wake = min(next, max(table.deadline ?? next, .now + .seconds(1)))
                try? await Task.sleep(until: wake, clock: .continuous)
                tell(table.expire(at: .now))
            }
        }
        round?.cancel()
        watches = []
        outlet.finish()
    }

    private func watch(_ socket: MulticastSocket, isToAll: Bool) -> LoopWatch {
        socket.whenReadable(on: loop) { [weak self] in
            self?.assumeIsolated { $0.readable(socket, isToAll) }
        }
    }

    private func readable(_ socket: MulticastSocket, _ isToAll: Bool) {
        while let datagram = socket.receive() {
            // Others than mDNS responders have nothing to say here (RFC 6762, 11).
            guard datagram.sender.port == MulticastSocket.port, let message = try? DNSMessage(decoding: datagram.bytes) else { continue }
            let sightings = table.received(message, interface: datagram.interface, isToAll: isToAll, at: .now)
            if sightings.contains(where: { if case .changed = $0 { true } else { false } }) { gapRounds = 0 }
            tell(sightings)
        }
        if !table.openQuestions.isEmpty, gapRounds < Self.maximumGapRounds, round == nil {
            gapRounds += 1
            schedule(Self.gapInterval)
        }
    }

    private func tell(_ sightings: [ServiceSighting]) {
        for sighting in sightings { outlet.yield(sighting) }
    }

    /// Asks as soon as the last round is long enough ago.
    private func schedule(_ interval: Duration) {
        guard round == nil else { return }
        let due = max(.now, lastRound.map { $0 + interval } ?? .now)
        round = Task { [weak self] in
            guard (try? await Task.sleep(until: due, clock: .continuous)) != nil else { return }
            await self?.sendQuestions()
        }
    }

    private func sendQuestions() {
        round = nil
        lastRound = .now
        updateInterfaces()
        let questions = [DNSQuestion(table.type, .ptr)] + table.openQuestions
        for start in stride(from: 0, to: questions.count, by: Self.maximumQuestions) {
            let part = Array(questions[start..<min(start + Self.maximumQuestions, questions.count)])
            let bytes = DNSMessage.query(part, id: nextID).encoded
            nextID = nextID == .max ? 1 : nextID + 1
            for interface in interfaces {
                for socket in askers where socket.family == .ipv4 ? !interface.ipv4.isEmpty : !interface.ipv6.isEmpty {
                    // A network may be gone at this moment; questions are repeated.
                    try? socket.send(bytes, to: .group(socket.family), interface: interface.index)
                }
            }
        }
    }

    private func updateInterfaces() {
        let now = NetworkInterface.all()
        guard now != interfaces else { return }
        interfaces = now
        for interface in now {
            // An interface without addresses of one family cannot be joined by it.
            for socket in listeners { try? socket.join(interface: interface.index) }
        }
    }
}
