import Glibc
import Reactor

/// Runs a client's network: the one thread on which its libmosquitto handles live.
///
/// It is a thread of its own because resolving a name and connecting block, for minutes where a host swallows packets, and the cooperative
/// pool must not. Nobody waits for it: when the client stops meanwhile, the thread ends by itself as soon as the system lets go of it.
struct NetworkThread: ~Copyable {
    private let core: ClientCore
    private let configuration: MQTTConfiguration
    private var handle: MosquittoHandle?
    private var timer: ContinuousClock.Instant?

    static func start(_ core: ClientCore, _ configuration: MQTTConfiguration) {
        let start = Unmanaged.passRetained(Start(core: core, configuration: configuration))
        // Signals are for the service's own threads; and a broken TLS connection must not end the process.
        var (all, previous) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
        var thread = pthread_t()
        let result = pthread_create(&thread, nil, networkThread, start.toOpaque())
        precondition(result == 0, "the system has no thread left for MQTT")
        pthread_detach(thread)
    }

    fileprivate final class Start: Sendable {
        let core: ClientCore
        let configuration: MQTTConfiguration

        init(core: ClientCore, configuration: MQTTConfiguration) {
            self.core = core
            self.configuration = configuration
        }
    }

    fileprivate init(_ start: Start) {
        core = start.core
        configuration = start.configuration
    }

    fileprivate consuming func run() {
        while performActions() {
            wait()
            if let timer, timer <= .now {
                self.timer = nil
                core.submit { $0.timerFired() }
            }
            core.expireWaiters(now: .now)
            handle?.turn()
            passOnNotes()
        }
    }

    /// Performs everything that is due.
    /// - Returns: whether there is more to come.
    private mutating func performActions() -> Bool {
        while let action = core.nextAction() {
            switch action {
            case .connect(let version, let address):
                do {
                    let handle = try MosquittoHandle(configuration, to: configuration.addresses[address], version: version)
                    self.handle = handle
                    handle.connect()
                } catch {
                    core.submit { $0.ended(error) }
                }
            case .discard: handle = nil
            case .subscribe(let wishes): handle?.subscribe(wishes)
            case .publish(let id, let message): handle?.publish(id, message)
            case .disconnect: handle?.disconnect()
            case .setTimer(let duration): timer = .now + duration
            case .finish: return false
            case .emit, .complete: preconditionFailure("the core performs these itself")
            }
            passOnNotes()
        }
        return true
    }

    private func passOnNotes() {
        for note in handle?.takeNotes() ?? [] {
            core.submit { state in
                switch note {
                case .accepted(let connection): state.accepted(connection)
                case .ended(let reason): state.ended(reason)
                case .published(let id, let failure): state.published(id, failure: failure)
                case .subscribed(let answers): state.subscribed(answers)
                case .received(let message): state.received(message)
                }
            }
        }
    }

    /// Waits for the socket, for an action, or for the next thing that is due; at most a second, libmosquitto's beat for pings.
    private func wait() {
        var descriptors = [pollfd(fd: core.wakeUp.descriptor, events: Int16(POLLIN), revents: 0)]
        if let handle, let socket = handle.socket {
            descriptors.append(pollfd(fd: socket, events: Int16(handle.wantsToWrite ? POLLIN | POLLOUT : POLLIN), revents: 0))
        }
        let due = [timer, core.nextDeadline].compactMap(\.self).min().map { $0 - .now } ?? .seconds(1)
        let milliseconds = min(max(due, .zero), .seconds(1)) / .milliseconds(1)
        poll(&descriptors, nfds_t(descriptors.count), Int32(milliseconds.rounded(.up)))
        core.wakeUp.clear()
    }
}

private nonisolated func networkThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let thread = NetworkThread(Unmanaged<NetworkThread.Start>.fromOpaque(argument).takeRetainedValue())
    thread.run()
    return nil
}
