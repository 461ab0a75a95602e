internal import Glibc
internal import Reactor

/// One try to connect to one address.
actor ConnectAttempt {
    enum Failure: Error, Equatable {
        case failed(errno: Int32)
        case timedOut
        case cancelled
    }

    private let loop: EventLoop
    private let clock: any Clock<Duration>
    private var caller: CheckedContinuation<Result<TCPSocket, Failure>, Never>?
    private var watch: LoopWatch?
    private var deadline: Task<Void, Never>?

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(loop: EventLoop, clock: any Clock<Duration>) {
        self.loop = loop
        self.clock = clock
    }

    func connect(to address: SocketAddress, within limit: Duration) async throws(Failure) -> TCPSocket {
        let socket: TCPSocket
        do { socket = try TCPSocket(connectingTo: address) } catch { throw .failed(errno: error.code) }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                caller = continuation
                if Task.isCancelled { return finish(.failure(.cancelled)) }
                watch = socket.whenWritable(on: loop) { [weak self] in
                    self?.assumeIsolated { $0.writable(socket) }
                }
                deadline = Task { [weak self, clock] in
                    do { try await clock.sleep(for: limit) } catch { return }
                    await self?.finish(.failure(.timedOut))
                }
            }
        } onCancel: {
            Task { await self.finish(.failure(.cancelled)) }
        }
        return try result.get()
    }

    private func writable(_ socket: TCPSocket) {
        let code = socket.takeError()
        finish(code == 0 ? .success(socket) : .failure(.failed(errno: code)))
    }

    private func finish(_ result: Result<TCPSocket, Failure>) {
        guard let caller else { return }
        self.caller = nil
        deadline?.cancel()
        watch = nil
        caller.resume(returning: result)
    }
}
