internal import Contract
internal import CrashCapture
public import ServiceKit
public import Settings

/// Tells of crashes of earlier starts: in the log, on MQTT, and to a Sentry where one is configured.
///
/// It begins when everything else runs, and nothing waits for it. A report is removed once all have it.
public actor CrashDelivery: Service {
    /// Publishes what a program's crash topic holds, and returns when the broker has it.
    public typealias Publish = @Sendable (_ payload: [UInt8]) async throws -> Void

    /// Files are read and written here.
    private let executor = ThreadExecutor(name: "crashes")
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private let store: CrashStore
    /// A program that lived no longer may never come to tell of it while it works.
    private static let shortLife = Duration.seconds(5)
    private static let headStart = Duration.seconds(5)

    private let settings: Settings.Diagnostics
    private let courier: SentryCourier?
    private let publish: Publish?
    private let logger: Logger
    private let connections = Mailbox<Bool>()
    /// The oldest first; nil until they were looked for.
    private var found: [CrashReport]?
    private var reports: [CrashReport] {
        get { found ?? [] }
        set { found = newValue }
    }
    /// What the topic holds in this program's life; published anew on each connection.
    private var diagnostic: [UInt8]?

    /// - Parameters:
    ///   - secrets: What must not be in a report, wherever it came from.
    ///   - publish: nil for a program without a broker.
    public init(
        program: String, settings: Settings.Diagnostics, environment: [String: String], secrets: [Secret], publish: Publish?, logger: Logger
    ) {
        let hidden = (secrets + [settings.sentry?.key].compactMap(\.self)).map(\.revealed)
        let folder = CrashFolder(environment: environment, program: program)
        store = CrashStore(folder: folder, redaction: Redaction(secrets: hidden, home: environment["HOME"]))
        courier = settings.sentry.map { SentryCourier(address: $0, authorities: settings.authorityFile) }
        (self.settings, self.publish, self.logger) = (settings, publish, logger)
    }

    /// To be called when a session with the broker has begun: it may know nothing any more.
    public nonisolated func connected() { connections.put(true) }

    public nonisolated func run() async throws {
        if let trouble = CrashCapture.trouble {
            logger.warning("crashes cannot be kept", ["folder": trouble.path, "reason": trouble.reason])
        }
        try await cancelledByShutdown {
            await self.collect()
            await withTaskGroup { group in
                group.addTask { await self.publishOnConnections() }
                group.addTask { await self.sendAll(waits: true) }
            }
        }
        // Without a broker and a Sentry nothing is left to do, and a service does not end by itself.
        await waitForShutdown()
    }

    /// To be waited for before anything else runs: where the program crashed just after its last start, this tells of it first, because it
    /// may not live long enough later. Returns at once otherwise, and after some seconds at the latest.
    public func begin() async {
        guard store.hasCrashedSoon(within: Self.shortLife) else { return }
        collect()
        let isOver = Mailbox<Bool>()
        let sending = Task {
            await sendAll(waits: false)
            isOver.put(true)
        }
        let limit = Task {
            try await Task.sleep(for: Self.headStart)
            isOver.put(true)
        }
        _ = await isOver.take()
        sending.cancel()
        limit.cancel()
    }

    private func collect() {
        guard found == nil else { return }
        reports = store.collect()
        for report in reports where !report.isPublished && !report.isSent {
            logger.error(
                "the program crashed before",
                [
                    "time": Timestamp(millisecondsSinceEpoch: report.time), "reason": report.summary, "version": report.version,
                    "uptime": report.uptime, "id": report.id,
                ])
        }
        guard let last = reports.last else { return }
        diagnostic = Payload.encode(CrashDiagnostic(last, waiting: reports.count))
        settle()
    }

    /// Removes what everybody knows, and keeps who knows the rest.
    private func settle() {
        reports.removeAll { report in
            guard publish == nil || report.isPublished, courier == nil || report.isSent else { return false }
            store.remove(report)
            return true
        }
        for report in reports { store.keep(report) }
    }

    // MARK: MQTT

    private func publishOnConnections() async {
        guard let publish, let diagnostic else { return }
        var isRefusalTold = false
        while await connections.take() != nil {
            do {
                try await publish(diagnostic)
                // The latest stands for those before it.
                for index in reports.indices { reports[index].isPublished = true }
                settle()
            } catch {
                if !isRefusalTold, !Task.isCancelled {
                    logger.warning("a crash could not be published", ["reason": "\(error)"])
                    isRefusalTold = true
                }
            }
        }
    }

    // MARK: Sentry

    /// - Parameter waits: Whether to go on when the other side wants to be left alone for a while.
    private func sendAll(waits: Bool) async {
        guard let courier else { return }
        var told: SentryCourier.Failure?
        while let index = reports.firstIndex(where: { !$0.isSent }) {
            let report = reports[index]
            var ledger = store.ledger
            let wait = ledger.schedule.wait(at: WallTime.now().millisecondsSinceEpoch)
            if wait > 0 {
                guard waits else { return }
                guard (try? await Task.sleep(for: .milliseconds(wait))) != nil else { return }
                continue
            }
            let event = SentryEvent(
                report: report, environment: settings.environment, host: settings.host, kernel: Machine.kernel)
            let envelope = event.envelope(at: Timestamp(millisecondsSinceEpoch: WallTime.now().millisecondsSinceEpoch))
            guard let result = await courier.post(envelope, version: Product.version) else { return }
            let answer: SentrySchedule.Answer
            switch result {
            case .success(let given): answer = given
            case .failure(let failure):
                if told != failure { logger.warning("a crash report was not sent, trying again", ["reason": failure.text]) }
                told = failure
                answer = .unreachable
            }
            let verdict = ledger.schedule.answered(answer, at: WallTime.now().millisecondsSinceEpoch)
            store.ledger(ledger)
            if case .success(.status(let status, _, _)) = result {
                logger.log(verdict == .delivered ? .info : .warning, "a crash report was sent", ["id": report.id, "answer": status])
            }
            if verdict != .later, let index = reports.firstIndex(where: { $0.id == report.id }) {
                reports[index].isSent = true
                settle()
            }
        }
    }
}

extension SentryCourier.Failure {
    fileprivate var text: String {
        switch self {
        case .noLibrary: "libcurl is not installed; install libcurl4"
        case .unreachable(let reason): reason
        }
    }
}

extension CrashDiagnostic {
    init(_ report: CrashReport, waiting: Int) {
        let frames = report.frames.map { frame in frame.function ?? [frame.image, frame.address].compactMap(\.self).joined(separator: " ") }
        self.init(
            program: report.program, version: report.version, build: report.build, ts: Timestamp(millisecondsSinceEpoch: report.time),
            uptime: report.uptime, signal: report.signal, message: report.message.map { String($0.prefix(256)) },
            function: report.function.map { String($0.prefix(128)) }, frames: frames.prefix(12).map { String($0.prefix(96)) },
            states: report.states.suffix(12).map(\.name), waiting: waiting)
    }
}
