public import Glibc
internal import Synchronization

/// Runs services side by side and ends them together: on a signal, on ``stop()``, when one fails or when the calling task is cancelled.
///
/// Services are asked to end one at a time, the last first, so that what a service builds on is still there while it says goodbye.
/// All of them have `grace` for that; what still runs then is cancelled, and `patience` later the process exits with 1, because a task
/// that does not react cannot be ended otherwise. The defaults keep a stop within 2 s.
public struct ServiceGroup: Sendable {
    public struct Member: Sendable {
        let name: String
        let service: any Service
        let mayEnd: Bool

        /// - Parameters:
        ///   - name: What the log and errors call it.
        ///   - mayEnd: Its work can be done, as with the end of a clip: when it returns unasked the group stops without an error.
        public init(_ name: String, _ service: any Service, mayEnd: Bool = false) {
            (self.name, self.service, self.mayEnd) = (name, service, mayEnd)
        }
    }

    private let members: [Member]
    private let logger: Logger
    private let manager: ServiceManager?
    private let signals: [Int32]
    private let grace: Duration
    private let patience: Duration
    private let stopRequest = Shutdown()

    /// - Parameters:
    ///   - members: In the order of dependence: each may use those before it.
    ///   - manager: Is told when the services have been started, that the program lives, and when it stops.
    ///   - signals: Numbers of the signals that end the group; a second one exits at once with 128 + its number. Only one group of a
    ///     process may have any at a time.
    public init(
        _ members: [Member], logger: Logger, manager: ServiceManager? = nil, signals: [Int32] = [SIGINT, SIGTERM],
        grace: Duration = .milliseconds(1500), patience: Duration = .milliseconds(400)
    ) {
        (self.members, self.logger, self.manager, self.signals) = (members, logger, manager, signals)
        (self.grace, self.patience) = (grace, patience)
    }

    /// Asks a running group to end; returns at once.
    public func stop() { stopRequest.request() }

    private enum Event: Sendable {
        case ended(Int, (any Error)?)
        case signal(Int32)
        case stopRequested
        case callerCancelled
        case graceOver
        case nothing
    }

    /// Runs until every service has ended. Once for each group.
    ///
    /// - Throws: ``ServiceGroupError`` for the first service that failed, or returned unasked and may not. A stop that was asked for
    ///   throws nothing.
    public func run() async throws {
        // A peer that goes away is an error of the write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        let progress = Progress(members.indices)
        let backstop = Backstop(delay: grace + patience) { [members, logger] in
            logger.error("services do not end, giving up", ["services": names(progress.running, of: members)])
        }
        let watch = signals.isEmpty ? nil : SignalWatch(signals) { backstop.arm() }
        let failure = await runMembers(watch, backstop, progress)
        backstop.disarm()
        await watch?.end()
        if let failure { throw failure }
    }

    private func runMembers(_ watch: SignalWatch?, _ backstop: Backstop, _ progress: Progress) async -> ServiceGroupError? {
        let shutdowns = members.map { _ in Shutdown() }
        return await withTaskGroup(of: Event.self) { group in
            for (index, member) in members.enumerated() {
                group.addTask { await Shutdown.$current.withValue(shutdowns[index]) { await Self.run(member, index) } }
            }
            if let watch { group.addTask { await watch.first().map(Event.signal) ?? .nothing } }
            group.addTask { await stopRequested() }
            group.addTask {
                await reportLife()
                return .nothing
            }

            var failure: ServiceGroupError?
            var isStopping = false
            func beginStop() {
                guard !isStopping else { return }
                isStopping = true
                backstop.arm()
                group.addTask {
                    await tell(.stopping)
                    return .nothing
                }
                group.addTask { [grace] in (try? await Task.sleep(for: grace)) == nil ? .nothing : .graceOver }
            }

            while !progress.running.isEmpty, let event = await group.next() {
                switch event {
                case .ended(let index, let error):
                    let wasAsked = shutdowns[index].isRequested || group.isCancelled
                    progress.ended(index)
                    if let error, !(wasAsked && error is CancellationError) {
                        logger.error("service failed", ["service": members[index].name, "reason": FailureReport.line(for: error)])
                        failure = failure ?? .failed(service: members[index].name, error)
                    } else if !wasAsked, !members[index].mayEnd {
                        logger.error("service ended unasked", ["service": members[index].name])
                        failure = failure ?? .endedEarly(service: members[index].name)
                    }
                    beginStop()
                case .signal(let number):
                    logger.notice("stopping", ["signal": number])
                    beginStop()
                case .stopRequested:
                    beginStop()
                case .callerCancelled:
                    beginStop()
                    group.cancelAll()
                case .graceOver:
                    logger.warning("services not ended in time, cancelling", ["services": names(progress.running, of: members)])
                    for shutdown in shutdowns { shutdown.request() }
                    group.cancelAll()
                case .nothing:
                    break
                }
                if isStopping, let last = progress.running.last { shutdowns[last].request() }
            }
            group.cancelAll()
            return failure
        }
    }

    private static func run(_ member: Member, _ index: Int) async -> Event {
        do {
            try await member.service.run()
            return .ended(index, nil)
        } catch {
            return .ended(index, error)
        }
    }

    /// Tells the manager that all has begun, and then from time to time that tasks still get their turn, until cancelled.
    private func reportLife() async {
        await tell(.ready)
        guard let interval = manager?.watchdogInterval else { return }
        while (try? await Task.sleep(for: interval)) != nil { await tell(.alive) }
    }

    private func tell(_ message: ServiceManager.Message) async {
        do {
            try await manager?.tell(message)
        } catch let failure as ServiceManager.Failure {
            logger.warning("systemd was not reached", ["message": message.rawValue, "reason": systemMessage(failure.errno)])
        } catch {
            // Cancelled: the program ends, and there is nothing more to tell.
        }
    }

    private func stopRequested() async -> Event {
        await Shutdown.$current.withValue(stopRequest) { await waitForShutdown() }
        return stopRequest.isRequested ? .stopRequested : .callerCancelled
    }
}

private func names(_ indices: [Int], of members: [ServiceGroup.Member]) -> String {
    indices.map { members[$0].name }.joined(separator: ",")
}

/// Which services still run, in order; read by the backstop from its own thread.
private final class Progress: Sendable {
    private let indices: Mutex<[Int]>

    init(_ indices: Range<Int>) { self.indices = Mutex(Array(indices)) }

    var running: [Int] { indices.withLock { $0 } }

    func ended(_ index: Int) { indices.withLock { $0.removeAll { $0 == index } } }
}

/// Why a group ended that was not asked to.
public enum ServiceGroupError: Error {
    case failed(service: String, any Error)
    case endedEarly(service: String)
}

extension ServiceGroupError: UserFacingFailure {
    public var reports: [FailureReport] {
        switch self {
        case .failed(_, let error): FailureReport.reports(for: error)
        case .endedEarly(let service): [FailureReport("the \(service) service ended by itself", remedy: "the log lines above say why")]
        }
    }
}
