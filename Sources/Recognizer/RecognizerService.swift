internal import BrokerLink
internal import Camera
internal import Contract
internal import CrashCapture
internal import Diagnostics
internal import Gestures
internal import HomeAssistant
internal import Imaging
internal import MQTT
internal import Preview
internal import ServiceKit
internal import Settings

/// Captures, recognises and publishes until it is asked to end.
actor RecognizerService: Service {
    /// What to look at, and what happens when it is over.
    struct Source: Sendable {
        var specification: SourceSpecification
        var request: CaptureRequest
        /// How its pictures are turned, beside what it says of them itself.
        var rotation = Rotation.none
        /// A clip begins anew when it ends.
        var loops: Bool
        /// Called when a clip that does not loop has ended.
        var onEnd: @Sendable () -> Void
    }

    /// The profiles that can be chosen, over the settings that the configuration has.
    struct Profiles: Sendable {
        var files: GestureProfiles
        var settings: GestureSettings
        /// The one in use.
        var current: Identifier?
        /// The camera as it is announced with the names of those that are there.
        var device: @Sendable ([Identifier]) -> DiscoveryDevice
    }

    private let source: Source
    private let topics: CameraTopics
    private let client: MQTTClient
    private let recognition: RecognitionThread
    private let logger: Logger
    private let profiles: Profiles
    private let monitor: RecognizerMonitor
    private let crashes: CrashDelivery?
    private var namesakes: NamesakeWatch
    private var failure: NamesakeFailure?
    private var announcer: Announcer
    /// When everything is published for a Home Assistant that has started.
    private var announcesAt: Double?
    /// What the latest frame showed, or why there is none.
    private var state: CameraState?
    private var watch = FrameWatch()
    private var rate = FrameRate()
    private var framesPerSecond = 0.0
    private var isEnabled = true
    /// Topics and reasons of messages left alone.
    private var leftAlone = FirstTimes(capacity: 64)
    private var session: CaptureSession?
    /// What the source turned out to be so far, and what is done about its faults.
    private var memory: SourceMemory
    private var recovery = CameraRecovery()
    /// Wakes the camera loop when the switch or its end is changed.
    private let switched = Mailbox<Bool>()

    init(
        source: Source, topics: CameraTopics, discovery: Discovery, client: MQTTClient, recognition: RecognitionThread, boot: UInt32,
        profiles: Profiles, monitor: RecognizerMonitor, crashes: CrashDelivery? = nil, logger: Logger
    ) {
        (self.source, self.topics, self.client, self.recognition) = (source, topics, client, recognition)
        (self.profiles, self.monitor, self.crashes, self.logger) = (profiles, monitor, crashes, logger)
        namesakes = NamesakeWatch(topic: topics.instance, availability: topics.availability)
        memory = SourceMemory(source.specification)
        announcer = Announcer(client: client, topics: topics, discovery: discovery, boot: boot, monitor: monitor, logger: logger)
        if let profile = profiles.current { announcer.announce(profile: profile) }
    }

    nonisolated func run() async throws {
        client.subscribe([MQTTSubscription(TopicFilter(topics.target))] + (await namesakes.subscriptions))
        client.subscribe(
            [topics.enabledSet, topics.armedSet, topics.profileSet, topics.refresh].map {
                MQTTSubscription(TopicFilter($0), keepsRetained: true)
            })
        client.subscribe(await announcer.discovery.subscriptions.compactMap { try? MQTTSubscription(TopicFilter($0)) })
        try await cancelledByShutdown {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await self.followBroker() }
                group.addTask { await self.tickForEver() }
                group.addTask { try await self.runCamera() }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
        await self.sayGoodbye()
        if let failure = await failure { throw failure }
    }

    // MARK: Broker

    private func followBroker() async {
        var log = BrokerLog(logger: logger)
        for await event in client.events {
            log.happened(event)
            monitor.happened(event)
            switch event {
            case .connected:
                try? client.send(namesakes.message)
                publishEverything()
                crashes?.connected()
            case .message(let message):
                if namesakes.isConcerned(with: message.topic) { meet(message) } else { await received(message) }
            case .disconnected(let disconnection):
                namesakes.disconnected(disconnection.reason)
            default:
                break
            }
        }
        // The client has stopped; the rest of the service is cancelled with the shutdown that stopped it.
        await waitForCancellation()
    }

    private func meet(_ message: MQTTMessage) {
        switch namesakes.received(message, isOnline: watch.availability(at: steadySeconds()) == .online) {
        case .answer(let answer): try? client.send(answer)
        case .leave(let failure):
            self.failure = failure
            client.dropFarewell()
            Shutdown.current?.request()
        case .sayAgain: publishEverything()
        case nil: break
        }
    }

    /// Says why a message is left alone: once for each topic and reason, as whoever sends it may do so for ever.
    private func leaveAlone(_ topic: TopicName, _ reason: String) {
        let isFirst = leftAlone.isFirst("\(topic) \(reason)")
        logger.log(isFirst ? .warning : .debug, "a message was left alone", ["topic": topic, "reason": reason])
    }

    private func received(_ message: MQTTMessage) async {
        switch message.topic {
        case topics.target:
            do {
                let target = try Payload.decode(Target.self, from: message.payload)
                await recognition.lampIs(at: Double(target.level))
                monitor.lampIs(target)
            } catch {
                leaveAlone(message.topic, "\(error)")
            }
        case topics.enabledSet:
            if let isOn = command(message) { enable(isOn) }
        case topics.armedSet:
            guard let isOn = command(message) else { return }
            let isArmed = await recognition.arm(isOn)
            if isArmed != isOn {
                leaveAlone(message.topic, "gestures.arming.mode allows no command")
            }
            announcer.announce(isArmed: isArmed, always: true)
        case topics.profileSet:
            await use(message)
        case topics.refresh:
            refresh(message)
        default:
            switch announcer.discovery.received(topic: message.topic.string, payload: message.payload, retained: message.retain) {
            case .announceSoon: announcesAt = steadySeconds() + .random(in: 0...Discovery.longestPause)
            case .publish(let messages): announcer.publish(messages)
            case nil: break
            }
        }
    }

    /// What a message of a `…/set` topic wants; nil for one that is left alone.
    private func command(_ message: MQTTMessage) -> Bool? {
        // A retained command is cleared by an empty message, which wants nothing.
        if message.payload.isEmpty { return nil }
        guard let value = Switch(rawValue: String(decoding: message.payload.prefix(16), as: UTF8.self)) else {
            leaveAlone(message.topic, "it is neither ON nor OFF")
            return nil
        }
        guard !message.retain else {
            leaveAlone(message.topic, "commands must not be retained; clear it on the broker")
            return nil
        }
        return value == .on
    }

    /// With the next tick, however many ask.
    private func refresh(_ message: MQTTMessage) {
        if message.retain {
            if !message.payload.isEmpty { leaveAlone(message.topic, "requests must not be retained; clear it on the broker") }
            return
        }
        do {
            let wish = try CameraWish(payload: message.payload)
            if (wish.camera ?? topics.camera) == topics.camera { announcesAt = steadySeconds() }
        } catch {
            leaveAlone(message.topic, "\(error)")
        }
    }

    private func use(_ message: MQTTMessage) async {
        if message.payload.isEmpty { return }
        do {
            let name = try Identifier(String(decoding: message.payload.prefix(2 * Identifier.maximumLength), as: UTF8.self))
            guard !message.retain else {
                leaveAlone(message.topic, "commands must not be retained; clear it on the broker")
                return
            }
            let settings = try await recognition.use(name, of: profiles.files, over: profiles.settings)
            monitor.preview?.chosen(name, settings)
            chose(name)
        } catch {
            let reason = (error as? SettingsError).map { FailureReport.line(for: $0) } ?? "it names no profile"
            leaveAlone(message.topic, reason)
        }
    }

    /// Says which profile is in use, and which there are by now.
    func chose(_ name: Identifier) {
        logger.notice("profile chosen", ["profile": name])
        let device = profiles.device(profiles.files.names())
        if announcer.discovery.replace(device) { announcer.publish([announcer.discovery.message(for: device)]) }
        announcer.announce(profile: name)
    }

    private func publishEverything() {
        let time = steadySeconds()
        announcer.publishEverything(availability: watch.availability(at: time), isEnabled: isEnabled, at: time)
    }

    /// Pauses recognition and closes the camera, or goes on.
    func enable(_ isEnabled: Bool) {
        defer { announcer.announce(isEnabled: isEnabled) }
        guard isEnabled != self.isEnabled else { return }
        self.isEnabled = isEnabled
        leaveBreadcrumb(isEnabled ? "recognition enabled" : "recognition disabled")
        logger.notice("recognition switched", ["enabled": isEnabled])
        watch.paused(!isEnabled, at: steadySeconds())
        monitor.paused(!isEnabled)
        if isEnabled { switched.put(true) } else { session?.interrupt() }
    }

    private func tickForEver() async {
        while (try? await Task.sleep(for: .milliseconds(250))) != nil {
            let time = steadySeconds()
            if let due = announcesAt, due <= time {
                announcesAt = nil
                publishEverything()
            }
            if var state {
                state.frameAge = watch.frameAge(at: time)?.rounded(1)
                if state.frameAge ?? .infinity > 1 { state.fps = 0 }
                announcer.update(state, at: time)
            }
            announcer.announce(watch.availability(at: time))
        }
    }

    private func sayGoodbye() {
        if announcer.droppedEvents > 0 { logger.notice("events found no broker and were dropped", ["count": announcer.droppedEvents]) }
    }

    // MARK: Camera

    /// Keeps the camera open for as long as recognition is enabled, and opens it again when it fails.
    ///
    /// - Throws: What no waiting helps against: a source that was written wrong, and what ends a clip early.
    private func runCamera() async throws {
        while !Task.isCancelled {
            guard isEnabled else {
                guard await switched.take() != nil else { return }
                continue
            }
            let session = CaptureSession(memory, request: source.request, rotation: source.rotation)
            do {
                try await run(session)
                memory = await session.memory
                _ = recovery.handle(.closed)
                if isEnabled, !Task.isCancelled, !source.specification.isLive, !source.loops {
                    source.onEnd()
                    await waitForCancellation()
                }
            } catch let error as CameraError {
                memory = await session.memory
                // Closing it on purpose may end in an error too.
                if isEnabled, !Task.isCancelled { try await recover(from: error) }
            }
        }
    }

    private func recover(from error: CameraError) async throws {
        let reason = FailureReport.line(for: error)
        for action in recovery.handle(.failed(error, jitter: .random(in: 0...1))) {
            switch action {
            case .end(let error): throw error
            case .warn:
                leaveBreadcrumb("camera lost")
                logger.warning("camera lost, trying again", ["reason": reason])
            case .note: logger.debug("camera still lost", ["reason": reason])
            case .sayRecovered: break
            case .tryAgain(let wait):
                watch.lostCamera()
                monitor.cameraClosed(trouble: reason)
                if state == nil { state = CameraState(await recognition.interrupt(at: 0), framesPerSecond: 0) }
                state?.problem = reason
                announcer.announce(watch.availability(at: steadySeconds()))
                try? await Task.sleep(for: wait)
            }
        }
    }

    /// Opens the source and recognises what it shows until it ends.
    private func run(_ session: CaptureSession) async throws {
        let format = try await session.open()
        self.session = session
        leaveBreadcrumb("camera opened")
        _ = recovery.handle(.opened)
        monitor.cameraOpened(format, at: steadySeconds())
        CameraLog(logger: logger).opened(format, request: source.request)
        try await withTaskCancellationHandler {
            async let reading: Void = session.run()
            var lastTime = 0.0
            while let captured = await session.frames.take() {
                lastTime = captured.frame.time
                for case .sayRecovered(let attempts) in recovery.handle(.frame(at: steadySeconds())) {
                    logger.notice("the camera is back", ["path": format.path, "attempts": attempts])
                }
                if let rate = captured.rate { CameraLog(logger: logger).judged(rate) }
                let observation = try await recognition.observe(captured.frame)
                // Who watches the picture sees it whole.
                session.demand.reduction = monitor.isPictureWatched ? 1 : observation.reduction
                show(observation, arrival: captured.arrival)
                let latency = ArrivalTime.now.uptime - captured.arrival.uptime
                monitor.saw(
                    captured, observation, rate: framesPerSecond, busy: session.frames.replacedCount, latency: max(latency, 0),
                    at: steadySeconds())
            }
            session.interrupt()
            show(await recognition.interrupt(at: lastTime), arrival: .now)
            rate.reset()
            monitor.cameraClosed(trouble: "the camera is closed")
            let failure: (any Error)?
            do {
                try await reading
                failure = nil
            } catch {
                failure = error
            }
            CameraLog(logger: logger).closed(await session.ending, dropped: session.frames.replacedCount)
            leaveBreadcrumb("camera closed")
            if let failure { throw failure }
        } onCancel: {
            session.interrupt()
        }
    }

    private func show(_ observation: Recognition.Observation, arrival: ArrivalTime) {
        let time = steadySeconds()
        watch.sawFrame(at: time)
        announcer.announce(watch.availability(at: time))
        for event in observation.events { announcer.announce(event, at: arrival) }
        announcer.announce(fingers: observation.fingers)
        announcer.announce(isArmed: observation.isArmed)
        framesPerSecond = rate.frame(at: observation.time)
        let state = CameraState(observation, framesPerSecond: framesPerSecond)
        self.state = state
        announcer.update(state, at: time)
    }
}

extension CameraState {
    init(_ observation: Recognition.Observation, framesPerSecond: Double) {
        let pinch: Pinch =
            switch observation.pinch {
            case .none: .none
            case .open: .open
            case .pinched: .pinched
            }
        self.init(
            brightness: Int(observation.brightness.rounded()), hand: !observation.hands.isEmpty, pinch: pinch,
            fps: framesPerSecond.rounded(1), armed: observation.isArmed, arming: observation.armingProgress.rounded(1), frameAge: 0)
    }
}

/// Suspends until the task is cancelled.
private func waitForCancellation() async {
    _ = await Mailbox<Never>().take()
}
