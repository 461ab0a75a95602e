internal import Reactor

/// Performs an ``AccessoryServer`` on TCP connections: sockets and time, and no rule of HAP.
///
/// Everything happens on one event loop, `save` and `onReport` too. A connection that does not read what it is sent is closed.
package actor AccessoryHost {
    /// Bytes that may wait for one connection.
    private static let maximumUnsent = 4 * 1024 * 1024

    private let loop: EventLoop
    private let listener: ListeningSocket
    private let save: @Sendable (AccessoryIdentity) throws -> Void
    private let onReport: @Sendable (AccessoryReport) -> Void
    private let onFailure: @Sendable (any Error) -> Void
    private let start = ContinuousClock.now

    private var server: AccessoryServer
    private var links: [AccessoryServer.Connection: Link] = [:]
    private var lastConnection: AccessoryServer.Connection = 0
    private var acceptor: LoopWatch?
    private var timer: (due: Duration, task: Task<Void, Never>)?
    private var isStopped = false

    package nonisolated var port: UInt16 { listener.port }
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// A connection with what is still to be done on it, in order.
    private struct Link {
        enum Step {
            case write(ArraySlice<UInt8>)
            case pause(Duration)
            case close
        }

        let socket: TCPSocket
        var reader: LoopWatch?
        var writer: LoopWatch?
        var steps: [Step] = []
        var unsent = 0
        var isPausing = false
    }

    /// - Parameters:
    ///   - address: Numeric; `::` takes IPv4 as well, port 0 a free one.
    ///   - save: Keeps the identity on disk before it returns. When it throws, the host stops and `onFailure` is called.
    package init(
        _ server: AccessoryServer, at address: HAPAddress, save: @escaping @Sendable (AccessoryIdentity) throws -> Void,
        onReport: @escaping @Sendable (AccessoryReport) -> Void, onFailure: @escaping @Sendable (any Error) -> Void
    ) throws(ListenFailure) {
        self.server = server
        self.save = save
        self.onReport = onReport
        self.onFailure = onFailure
        listener = try ListeningSocket(address)
        loop = .shared
    }

    /// Begins to take connections.
    package func begin() { updateAcceptor() }

    /// How the bulbs are.
    package var bulbs: [BulbState] { server.bulbs }

    /// A person, or the bulb itself, changes a bulb.
    package func change(bulb: Int, _ change: BulbChange) {
        guard !isStopped else { return }
        perform(server.changed(bulb: bulb, change, now: now))
    }

    /// Closes all connections and takes no more.
    package func stop() {
        isStopped = true
        acceptor = nil
        timer?.task.cancel()
        timer = nil
        links = [:]
    }

    private var now: Duration { ContinuousClock.now - start }

    // MARK: Connections

    private func updateAcceptor() {
        let accepts = server.acceptsConnections && !isStopped
        if accepts, acceptor == nil {
            acceptor = listener.whenConnected(on: loop) { [weak self] in
                self?.assumeIsolated { $0.accept() }
            }
        } else if !accepts {
            acceptor = nil
        }
    }

    private func accept() {
        guard !isStopped, server.acceptsConnections, let socket = listener.accept() else { return }
        lastConnection += 1
        let connection = lastConnection
        var link = Link(socket: socket)
        link.reader = socket.whenReadable(on: loop) { [weak self] in
            self?.assumeIsolated { $0.readable(connection) }
        }
        links[connection] = link
        perform(server.connected(connection, now: now))
    }

    private func readable(_ connection: AccessoryServer.Connection) {
        guard let socket = links[connection]?.socket else { return }
        switch socket.read() {
        case .bytes(let bytes): perform(server.received(bytes, on: connection, now: now))
        case .wouldBlock: break
        case .ended: end(connection)
        }
    }

    private func end(_ connection: AccessoryServer.Connection) {
        guard links.removeValue(forKey: connection) != nil else { return }
        server.disconnected(connection)
        perform([])
    }

    // MARK: Actions

    private func perform(_ actions: [AccessoryServer.Action]) {
        var touched: Set<AccessoryServer.Connection> = []
        for action in actions where !isStopped {
            switch action {
            case .write(let bytes, let connection):
                links[connection]?.steps.append(.write(bytes[...]))
                links[connection]?.unsent += bytes.count
                touched.insert(connection)
            case .pause(let duration, let connection):
                links[connection]?.steps.append(.pause(duration))
                touched.insert(connection)
            case .close(let connection):
                links[connection]?.steps.append(.close)
                touched.insert(connection)
            case .save(let identity):
                do {
                    try save(identity)
                } catch {
                    stop()
                    return onFailure(error)
                }
            case .report(let report): onReport(report)
            }
        }
        for connection in touched.sorted() { advance(connection) }
        updateAcceptor()
        updateTimer()
    }

    /// Does what is next on a connection until it has to wait.
    private func advance(_ connection: AccessoryServer.Connection) {
        while let link = links[connection], !link.isPausing, link.writer == nil, let step = link.steps.first {
            if link.unsent > Self.maximumUnsent { return end(connection) }
            switch step {
            case .write(let bytes):
                switch link.socket.write(bytes) {
                case .wrote(let count):
                    links[connection]?.unsent -= count
                    let rest = bytes.dropFirst(count)
                    if rest.isEmpty {
                        links[connection]?.steps.removeFirst()
                    } else {
                        links[connection]?.steps[0] = .write(rest)
                    }
                case .failed: return end(connection)
                case .wouldBlock:
                    links[connection]?.writer = link.socket.whenWritable(on: loop) { [weak self] in
                        self?.assumeIsolated { host in
                            host.links[connection]?.writer = nil
                            host.advance(connection)
                        }
                    }
                }
            case .pause(let duration):
                links[connection]?.steps.removeFirst()
                links[connection]?.isPausing = true
                Task { [weak self] in
                    try? await Task.sleep(for: duration)
                    await self?.pauseEnded(connection)
                }
            case .close: return end(connection)
            }
        }
    }

    private func pauseEnded(_ connection: AccessoryServer.Connection) {
        links[connection]?.isPausing = false
        advance(connection)
    }

    private func updateTimer() {
        let due = isStopped ? nil : server.nextDeadline
        guard due != timer?.due else { return }
        timer?.task.cancel()
        timer = due.map { due in
            let task = Task { [weak self, start] in
                do { try await Task.sleep(until: start + due, clock: .continuous) } catch { return }
                await self?.timePassed(due)
            }
            return (due, task)
        }
    }

    private func timePassed(_ due: Duration) {
        guard timer?.due == due else { return }
        timer = nil
        perform(server.timePassed(now: max(now, due)))
    }
}
