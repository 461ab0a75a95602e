internal import Camera
internal import Contract
internal import Gestures
internal import Imaging
internal import ServiceKit
internal import Settings

/// A frame and when it reached us by the system's clock.
struct CapturedFrame: Sendable {
    var frame: Frame
    var arrival: Timestamp
    /// What the source lost until then.
    var counters: SourceCounters
}

/// Reads one source on a thread of its own and hands over the newest frame, dropping and counting those nobody was ready for.
actor CaptureSession {
    private let executor = ThreadExecutor(name: "capture")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The newest frame; finished when the source is.
    nonisolated let frames = Mailbox<CapturedFrame>()
    private nonisolated let interruption = Interruption()
    private let specification: SourceSpecification
    private let request: CaptureRequest
    private var source: (any FrameSource)?

    init(_ specification: SourceSpecification, request: CaptureRequest) {
        (self.specification, self.request) = (specification, request)
    }

    /// Opens the source and says what it delivers.
    func open() throws(CameraError) -> SourceFormat {
        let source = try specification.open(request: request, interruption: interruption)
        self.source = source
        return source.format
    }

    /// Reads until the source ends or ``interrupt()`` is called. A clip is played at the pace of its own times.
    ///
    /// - Returns: What was lost on the way.
    func run() throws(CameraError) -> SourceCounters {
        defer {
            frames.finish()
            source = nil
        }
        guard let source else { return SourceCounters() }
        let clock = ContinuousClock()
        let start = clock.now
        while let frame = try source.nextFrame() {
            if case .clip = specification {
                let due = start + .seconds(frame.time)
                while clock.now < due, !interruption.isInterrupted { pause(min(due - clock.now, .milliseconds(50))) }
            }
            frames.put(CapturedFrame(frame: frame, arrival: .now, counters: source.counters))
        }
        return source.counters
    }

    /// Makes ``run()`` return soon.
    nonisolated func interrupt() { interruption.interrupt() }
}

/// Runs recognition on a thread of its own, because inference blocks.
actor RecognitionThread {
    private let executor = ThreadExecutor(name: "recognition")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var recognition: Recognition

    /// - Parameter make: Loads the models, on the thread itself.
    init(_ make: @Sendable () throws -> Recognition) async rethrows {
        recognition = try make()
    }

    func observe(_ frame: Frame) throws -> Recognition.Observation {
        let start = steadySeconds()
        var observation = try recognition.observe(frame)
        observation.duration = steadySeconds() - start
        return observation
    }

    func apply(_ settings: GestureSettings) { recognition.settings = settings }

    /// Reads a profile and puts it into force.
    func use(_ name: Identifier, of profiles: GestureProfiles, over settings: GestureSettings) throws(SettingsError) -> GestureSettings {
        let loaded = try profiles.load(name, over: settings)
        recognition.settings = loaded
        return loaded
    }

    func interrupt(at time: Double) -> Recognition.Observation { recognition.interrupt(at: time) }
    func lampIs(at brightness: Double) { recognition.lampIs(at: brightness) }
    func arm(_ isOn: Bool) -> Bool { recognition.arm(isOn) }
}
