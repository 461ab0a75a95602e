internal import BrokerLink
internal import Camera
internal import Contract
internal import Gestures
internal import Imaging
internal import MQTT
internal import Monitoring
internal import Preview
internal import ServiceKit
internal import Settings
internal import Synchronization

/// Keeps what others may know of the recognizer: its numbers, its health, and the page where there is one.
///
/// Every call returns at once. Thread-safe.
final class RecognizerMonitor: Sendable {
    private struct State {
        /// When the latest frame was seen, in steady seconds; nil before the first.
        var lastFrame: Double?
        var losses = FrameLosses()
        var isPaused = false
        var cameraTrouble: String? = "the camera is not open yet"
        var brokerTrouble: String? = "there was no connection to the broker yet"
    }

    let metrics = Metrics()
    let numbers: RecognizerMetrics
    /// Nil where nobody can ask for it.
    let preview: Preview?
    private let state = Mutex(State())

    init(settings: Settings) {
        metrics.describeProcess(program: "handkit-recognizer", version: Product.version)
        numbers = RecognizerMetrics(metrics)
        preview = settings.preview.http.port == 0 ? nil : Preview(settings: settings, metrics: metrics, version: Product.version)
        metrics.gauge("handkit_frame_age_seconds", "Time since the latest frame; NaN before the first.") { [weak self] in
            guard let last = self?.state.withLock({ $0.lastFrame }) else { return .nan }
            return steadySeconds() - last
        }
    }

    // MARK: Health

    /// Failing while no frames come, unless paused on purpose, and while there is no broker.
    func health(at time: Double) -> Health {
        let state = state.withLock { $0 }
        var reasons: [String] = []
        if !state.isPaused {
            if let trouble = state.cameraTrouble {
                reasons.append(trouble)
            } else if let last = state.lastFrame, time - last >= FrameWatch.patience {
                reasons.append("no frame came for \(Int(time - last)) s")
            }
        }
        if let trouble = state.brokerTrouble { reasons.append(trouble) }
        return Health(reasons: reasons)
    }

    // MARK: Camera

    var isPictureWatched: Bool { preview?.isPictureWatched ?? false }

    func cameraOpened(_ format: SourceFormat, at time: Double) {
        state.withLock { state in
            // Frames are awaited from now on.
            (state.cameraTrouble, state.lastFrame, state.losses) = (nil, time, FrameLosses())
        }
        numbers.cameraSessions.add()
        numbers.isCameraOpen.set(true)
        preview?.cameraOpened(source: "\(format.name) \(format.width)×\(format.height) \(format.codec)", rotation: format.rotation)
    }

    func cameraClosed(trouble: String) {
        state.withLock { $0.cameraTrouble = trouble }
        numbers.isCameraOpen.set(false)
        numbers.hands.set(0)
        numbers.framesPerSecond.set(0)
        preview?.cameraClosed(trouble: trouble)
    }

    func paused(_ isPaused: Bool) {
        state.withLock { $0.isPaused = isPaused }
        numbers.isEnabled.set(!isPaused)
        preview?.enabled(!isPaused)
    }

    /// - Parameter latency: Seconds from the frame's arrival until now.
    func saw(_ captured: CapturedFrame, _ observation: Recognition.Observation, rate: Double, busy: Int, latency: Double, at time: Double) {
        let losses = FrameLosses(busy: busy, source: captured.counters)
        let earlier = state.withLock { state in
            defer { (state.lastFrame, state.losses) = (time, losses) }
            return state.losses
        }
        losses.count(since: earlier, in: numbers)
        numbers.frames.add()
        numbers.framesPerSecond.set(rate)
        numbers.inference.observe(observation.duration)
        numbers.latency.observe(latency)
        numbers.hands.set(Double(observation.hands.count))
        if let diagnosis = observation.diagnosis { numbers.gap.observe(diagnosis.gap) }
        preview?.saw(
            captured.frame.image,
            Moment(
                time: observation.time, hands: observation.hands, diagnosis: observation.diagnosis, brightness: observation.brightness,
                fingers: observation.fingers, arming: observation.armingProgress, framesPerSecond: rate, duration: observation.duration))
    }

    // MARK: Broker

    func happened(_ event: MQTTEvent) {
        numbers.broker.happened(event)
        switch event {
        case .connected: broker(trouble: nil)
        case .disconnected(let disconnection): broker(trouble: "no broker: \(disconnection.reason.report)")
        case .message, .subscribed, .subscriptionRefused, .undelivered, .dropped: break
        }
    }

    private func broker(trouble: String?) {
        state.withLock { $0.brokerTrouble = trouble }
        preview?.broker(trouble: trouble)
    }

    func published(_ event: GestureEvent, _ topic: TopicName, _ payload: [UInt8], sent: Bool) {
        numbers.count(event)
        if !sent { numbers.droppedEvents.add() }
        preview?.published(topic: topic.string, payload: payload, sent: sent)
    }

    func lampIs(_ target: Target) { preview?.lampIs(target) }
}
