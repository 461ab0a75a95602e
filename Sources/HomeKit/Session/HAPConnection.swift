/// Performs a ``Conversation`` on a TCP connection: sockets, deadlines and waiting callers, and no rule of HAP.
actor HAPConnection {
    private let loop: EventLoop
    private let timeouts: HAPTimeouts
    private let clock: any Clock<Duration>
    private let onEvent: @Sendable (HTTPMessage) -> Void
    private let onEnd: @Sendable (HAPError) -> Void

    private var conversation: Conversation
    private var socket: TCPSocket?
    private var reader: SocketWatch?
    private var writer: SocketWatch?
    private var unsent: ArraySlice<UInt8> = []
    private var callers: [Conversation.ID: CheckedContinuation<Result<HTTPMessage, HAPError>, Never>] = [:]
    private var deadlines: [Conversation.ID: Task<Void, Never>] = [:]
    private var lastID: Conversation.ID = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Connects to the first of the host's addresses that accepts.
    ///
    /// - Parameters:
    ///   - onEvent: Called in order on the connection's queue; must not block.
    ///   - onEnd: Called once, when the connection is over.
    static func connect(
        to address: HAPAddress, timeouts: HAPTimeouts, clock: any Clock<Duration>,
        onEvent: @escaping @Sendable (HTTPMessage) -> Void = { _ in }, onEnd: @escaping @Sendable (HAPError) -> Void = { _ in }
    ) async throws(HAPError) -> HAPConnection {
        let loop = EventLoop(label: "HAP \(address)")
        var failure = HAPError.unresolvable(host: address.host, code: 0)
        for candidate in try await SocketAddress.resolve(address) {
            do {
                let socket = try await ConnectAttempt(loop: loop, clock: clock).connect(to: candidate, within: timeouts.connect)
                let connection = HAPConnection(
                    loop: loop, host: candidate.host, timeouts: timeouts, clock: clock, onEvent: onEvent, onEnd: onEnd)
                await connection.start(socket)
                return connection
            } catch {
                switch error {
                case .cancelled: throw .cancelled
                case .timedOut: failure = .timedOut(.connect)
                case .failed(let errno): failure = .connectFailed(host: address.host, port: address.port, errno: errno)
                }
            }
        }
        throw failure
    }

    private init(
        loop: EventLoop, host: String, timeouts: HAPTimeouts, clock: any Clock<Duration>,
        onEvent: @escaping @Sendable (HTTPMessage) -> Void, onEnd: @escaping @Sendable (HAPError) -> Void
    ) {
        self.loop = loop
        self.timeouts = timeouts
        self.clock = clock
        self.onEvent = onEvent
        self.onEnd = onEnd
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
        reader = socket.whenReadable(on: loop.queue) { [weak self] in
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

    private func deadlinePassed(_ id: Conversation.ID) { execute(conversation.deadlinePassed(id)) }

    private func execute(_ actions: [Conversation.Action]) {
        for action in actions {
            switch action {
            case .write(let bytes):
                unsent += bytes
                flush()
            case .startDeadline(let id, let step):
                let duration = timeouts.duration(of: step)
                deadlines[id] = Task { [weak self, clock] in
                    do { try await clock.sleep(for: duration) } catch { return }
                    await self?.deadlinePassed(id)
                }
            case .stopDeadline(let id):
                deadlines.removeValue(forKey: id)?.cancel()
            case .finish(let id, let result):
                callers.removeValue(forKey: id)?.resume(returning: result)
            case .event(let message):
                onEvent(message)
            case .close(let error):
                (reader, writer, socket, unsent) = (nil, nil, nil, [])
                onEnd(error)
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
                writer = socket.whenWritable(on: loop.queue) { [weak self] in
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

extension HAPTimeouts {
    fileprivate func duration(of step: HAPStep) -> Duration {
        switch step {
        case .connect: connect
        case .pairSetupStart, .pairSetupProof, .pairSetupExchange: pairSetup
        case .pairVerifyStart, .pairVerifyFinish: verify
        case .removePairing, .accessories, .read, .write, .subscribe, .event: request
        }
    }
}
