internal import BrokerLink
internal import Camera
internal import Gestures
internal import MQTT
internal import ServiceKit
internal import Settings

/// What the recognizer counts and measures; see the page "The page, metrics and health" for what each means.
struct RecognizerMetrics: Sendable {
    let frames: Metrics.Counter
    let framesPerSecond: Metrics.Gauge
    let latency: Metrics.Histogram
    let inference: Metrics.Histogram
    let hands: Metrics.Gauge
    let gap: Metrics.Histogram
    let toggles: Metrics.Counter
    let slides: Metrics.Counter
    let steps: Metrics.Counter
    let droppedEvents: Metrics.Counter
    let isEnabled: Metrics.Gauge
    let isCameraOpen: Metrics.Gauge
    let cameraSessions: Metrics.Counter
    let broker: BrokerMetrics
    private let dropped: [Loss: Metrics.Counter]

    /// Why a frame was not recognised.
    enum Loss: String, CaseIterable {
        /// Recognition was still at an earlier one.
        case busy
        case corrupt, duplicate, missing
    }

    init(_ metrics: Metrics) {
        frames = metrics.counter("handkit_frames_total", "Frames recognised.")
        dropped = Dictionary(
            uniqueKeysWithValues: Loss.allCases.map { loss in
                (loss, metrics.counter("handkit_frames_dropped_total", "Frames not recognised, by reason.", ["reason": loss.rawValue]))
            })
        framesPerSecond = metrics.gauge("handkit_frames_per_second", "Frames recognised over the last second.")
        latency = metrics.histogram(
            "handkit_frame_latency_seconds", "From the arrival of a frame to the end of its recognition.",
            bounds: [0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.2, 0.5, 1])
        inference = metrics.histogram(
            "handkit_inference_seconds", "Time that recognising a frame took, almost all of it inference.",
            bounds: [0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.1, 0.2, 0.5])
        hands = metrics.gauge("handkit_hands", "Hands in the latest frame.")
        gap = metrics.histogram(
            "handkit_pinch_gap_ratio", "Gap between thumb and index finger of the hand that acts, in palm sizes, a frame.",
            bounds: [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.8, 1, 1.5])
        func events(_ kind: String) -> Metrics.Counter {
            metrics.counter("handkit_events_total", "Gestures recognised, by kind.", ["kind": kind])
        }
        (toggles, slides, steps) = (events("toggle"), events("slide"), events("slide_step"))
        droppedEvents = metrics.counter("handkit_events_dropped_total", "Events that found no broker and were dropped.")
        isEnabled = metrics.gauge("handkit_enabled", "1 unless recognition is paused.")
        isCameraOpen = metrics.gauge("handkit_camera_open", "1 while the camera is open.")
        cameraSessions = metrics.counter("handkit_camera_opened_total", "How often the camera was opened.")
        broker = BrokerMetrics(metrics)
        isEnabled.set(true)
    }

    func count(_ event: GestureEvent) {
        switch event {
        case .toggle: toggles.add()
        case .brightness(_, .began, _): slides.add()
        case .brightness: steps.add()
        }
    }

    func lost(_ count: Int, _ loss: Loss) { dropped[loss]?.add(count) }
}

/// Running totals of the frames that one opening of the camera lost.
struct FrameLosses: Sendable {
    var busy = 0
    var source = SourceCounters()

    func count(since earlier: FrameLosses, in metrics: RecognizerMetrics) {
        metrics.lost(busy - earlier.busy, .busy)
        metrics.lost(source.corrupt - earlier.source.corrupt, .corrupt)
        metrics.lost(source.duplicates - earlier.source.duplicates, .duplicate)
        metrics.lost(source.missing - earlier.source.missing, .missing)
    }
}
