internal import Reactor

/// Performs a ``Conversation`` on a TCP connection: sockets, deadlines and waiting callers, and no rule of HAP.
actor HAPConnection {
    private let loop: EventLoop
    private let timeouts: HAPTimeouts
    private let clock: any Clock<Duration>
    /// Takes the events, and ends with the connection.
    let outlet = EventOutlet()

    private var conversation: Conversation
    private var socket: TCPSocket?
    private var reader: LoopWatch?
    private var writer: LoopWatch?
    private var unsent: ArraySlice<UInt8> = []
    private var callers: [Conversation.ID: CheckedContinuation<Result<HTTPMessage, HAPError>, Never>] = [:]
    /// Until when the request on the wire may take, in time since the connection stood.
    private var deadline: (id: Conversation.ID, due: Duration)?
    /// Sleeps until a deadline that may have been met long since: most requests are over before, and need no timer of their own.
    private var alarm: Task<Void, Never>?
    private var alarmDue = Duration.zero
    private let stopwatch: Stopwatch
    private var lastID: Conversation.ID = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Connects to the first of several addresses, a host name's own ones included, that accepts and stands the test.
    ///
    /// - Parameter test: What a connection has to stand, such as to lead to the right accessory. Where it throws, the next address is tried.
    /// - Returns: The connection, and which of `addresses` led to it.
    /// - Throws: Of all that went wrong, what says most.
    static func connect(
        to addresses: [HAPAddress], timeouts: HAPTimeouts, clock: any Clock<Duration>,
        test: (HAPConnection) async throws(HAPError) -> Void = { _ in }
    ) async throws(HAPError) -> (HAPConnection, HAPAddress) {
        var failure: HAPError?
        var candidates: [(address: HAPAddress, socket: SocketAddress)] = []
        for address in addresses {
            do throws(HAPError) {
                candidates += try await SocketAddress.resolve(address).map { (address, $0) }
            } catch {
                failure = HAPError.moreTelling(failure, error)
            }
        }
        for (index, candidate) in candidates.enumerated() {
            do throws(HAPError) {
                let limit = index + 1 < candidates.count ? min(timeouts.connect, timeouts.connectAmongSeveral) : timeouts.connect
                let loop = EventLoop.shared
                let socket = try await connect(to: candidate.socket, of: candidate.address, loop, within: limit, clock)
                let connection = HAPConnection(loop: loop, host: candidate.socket.host, timeouts: timeouts, clock: clock)
                await connection.start(socket)
                do throws(HAPError) {
                    try await test(connection)
                } catch {
                    await connection.close()
                    throw error
                }
                return (connection, candidate.address)
            } catch {
                if error == .cancelled { throw error }
                failure = HAPError.moreTelling(failure, error)
            }
        }
        throw failure ?? .unresolvable(host: addresses.first?.host ?? "", code: 0)
    }

    private static func connect(
        to candidate: SocketAddress, of address: HAPAddress, _ loop: EventLoop, within limit: Duration, _ clock: any Clock<Duration>
    ) async throws(HAPError) -> TCPSocket {
        do {
            return try await ConnectAttempt(loop: loop, clock: clock).connect(to: candidate, within: limit)
        } catch {
            switch error {
            case .cancelled: throw .cancelled
            case .timedOut: throw .timedOut(.connect)
            case .failed(let errno): throw .connectFailed(host: address.host, port: address.port, errno: errno)
            }
        }
    }

    private init(loop: EventLoop, host: String, timeouts: HAPTimeouts, clock: any Clock<Duration>) {
        self.loop = loop
        self.timeouts = timeouts
        self.clock = clock
        stopwatch = Stopwatch(clock)
        conversation = Conversation(host: host)
    }

    /// Sends one request when its turn comes and waits for the answer.
    func request(_ request: HTTPRequest, step: HAPStep) async throws(HAPError) -> HTTPMessage {
        try await perform(.request(request, step))
    }

    /// Runs pair-verify; every request after it is encrypted.
    func verify(_ verify: PairVerify) async throws(HAPError) {
        _ = try await perform(.verify(verify))
    }

    /// Ends the connection; whoever waits gets `.closed`.
    func close() { execute(conversation.close()) }

    /// Why the connection is over, nil while it is not.
    var end: HAPError? { conversation.end }

    private func start(_ socket: TCPSocket) {
        self.socket = socket
        reader = socket.whenReadable(on: loop) { [weak self] in
            self?.assumeIsolated { $0.readable() }
        }
    }

    private func perform(_ work: Conversation.Work) async throws(HAPError) -> HTTPMessage {
        lastID += 1
        let id = lastID
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                callers[id] = continuation
                execute(Task.isCancelled ? [.finish(id, .failure(.cancelled))] : conversation.submit(work, id: id))
            }
        } onCancel: {
            Task { await self.cancelled(id) }
        }
        return try result.get()
    }

    private func cancelled(_ id: Conversation.ID) { execute(conversation.cancelled(id)) }

    /// Where one is set that goes off later than this, it is replaced.
    private func setAlarm(_ duration: Duration) {
        let due = stopwatch.elapsed() + duration
        if alarm != nil, alarmDue <= due { return }
        alarm?.cancel()
        alarmDue = due
        alarm = Task { [weak self, clock] in
            do { try await clock.sleep(for: duration) } catch { return }
            await self?.alarmRang()
        }
    }

    private func alarmRang() {
        alarm = nil
        guard let deadline else { return }
        let rest = deadline.due - stopwatch.elapsed()
        if rest > .zero { setAlarm(rest) } else { execute(conversation.deadlinePassed(deadline.id)) }
    }

    private func execute(_ actions: [Conversation.Action]) {
        for action in actions {
            switch action {
            case .write(let bytes):
                unsent += bytes
                flush()
            case .startDeadline(let id, let step):
                let duration = timeouts.duration(of: step)
                deadline = (id, stopwatch.elapsed() + duration)
                setAlarm(duration)
            case .stopDeadline(let id):
                if deadline?.id == id { deadline = nil }
            case .finish(let id, let result):
                callers.removeValue(forKey: id)?.resume(returning: result)
            case .event(let message):
                outlet.received(message)
            case .close:
                (reader, writer, socket, unsent) = (nil, nil, nil, [])
                alarm?.cancel()
                outlet.finish()
            }
        }
    }

    private func readable() {
        guard let socket else { return }
        switch socket.read() {
        case .bytes(let bytes): execute(conversation.received(bytes))
        case .wouldBlock: break
        case .ended(let errno): execute(conversation.connectionEnded(errno: errno))
        }
    }

    private func flush() {
        guard let socket, writer == nil else { return }
        while !unsent.isEmpty {
            switch socket.write(unsent) {
            case .wrote(let count): unsent.removeFirst(count)
            case .failed(let errno): return execute(conversation.connectionEnded(errno: errno))
            case .wouldBlock:
                writer = socket.whenWritable(on: loop) { [weak self] in
                    self?.assumeIsolated { $0.writable() }
                }
                return
            }
        }
        unsent = []
    }

    private func writable() {
        writer = nil
        flush()
    }
}

/// Time since it was made, by any clock.
private struct Stopwatch: Sendable {
    let elapsed: @Sendable () -> Duration

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
    }
}

extension HAPTimeouts {
    fileprivate func duration(of step: HAPStep) -> Duration {
        switch step {
        case .connect: connect
        case .pairSetupStart, .pairSetupProof, .pairSetupExchange: pairSetup
        case .pairVerifyStart, .pairVerifyFinish: verify
        case .listPairings, .addPairing, .removePairing, .identify, .accessories, .read, .prepare, .write, .subscribe, .event: request
        }
    }
}

extension HAPError {
    /// Of what went wrong at two addresses, what says more about the accessory.
    fileprivate static func moreTelling(_ first: HAPError?, _ second: HAPError) -> HAPError {
        guard let first, first.weight >= second.weight else { return second }
        return first
    }

    private var weight: Int {
        switch self {
        case .unresolvable: 0
        case .connectFailed: 1
        case .timedOut(.connect): 2
        case .wrongAccessory: 3
        case .pairingLost: 5
        default: 4
        }
    }
}
