internal import Camera
internal import Contract
internal import Gestures
internal import Imaging
internal import ServiceKit
internal import Settings

/// A frame and when it reached us.
struct CapturedFrame: Sendable {
    var frame: Frame
    var arrival: ArrivalTime
    /// What the source lost until then.
    var counters: SourceCounters
    /// What is new about the camera's own rate.
    var rate: RateCheck.Verdict?
}

/// Reads one source on a thread of its own and hands over the newest frame, dropping and counting those nobody was ready for.
actor CaptureSession {
    private let executor = ThreadExecutor(name: "capture")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The newest frame; finished when the source is.
    nonisolated let frames = Mailbox<CapturedFrame>()
    /// What recognition needs of the pictures to come.
    nonisolated let demand = PictureDemand()
    private nonisolated let interruption = Interruption()
    private let request: CaptureRequest
    private let rotation: Rotation
    /// What the source turned out to be, for the next session; known whether or not it could be opened.
    private(set) var memory: SourceMemory
    private var source: (any FrameSource)?
    /// Known once ``run()`` has returned or thrown.
    private(set) var ending = Ending()

    /// How a session ended, well or in an error.
    struct Ending: Sendable {
        /// What was lost on the way.
        var counters = SourceCounters()
        /// The camera is slow, and another of its modes promises more.
        var slowRate: Double?
    }

    init(_ memory: SourceMemory, request: CaptureRequest, rotation: Rotation = .none) {
        (self.memory, self.request, self.rotation) = (memory, request, rotation)
    }

    /// Opens the source and says what it delivers.
    func open() throws(CameraError) -> SourceFormat {
        let source = UprightSource(
            try memory.open(request: request, interruption: interruption, demand: demand), rotation: rotation)
        self.source = source
        return source.format
    }

    /// Reads until the source ends, ``interrupt()`` is called, or the camera should be opened in another mode. A clip is played at the pace
    /// of its own times.
    func run() throws(CameraError) {
        defer { frames.finish() }
        guard let source else { return }
        defer {
            ending.counters = source.counters
            self.source = nil
        }
        let clock = ContinuousClock()
        let start = clock.now
        var check = source.format.camera.map { _ in RateCheck(expected: request.framesPerSecond) }
        while let frame = try source.nextFrame() {
            if !memory.specification.isLive {
                let due = start + .seconds(frame.time)
                while clock.now < due, !interruption.isInterrupted { pause(min(due - clock.now, .milliseconds(50))) }
            }
            let verdict = check?.frame(at: frame.time, source.counters)
            if case .slow(let rate, _) = verdict, let facts = source.format.camera, memory.achieved(rate, by: facts, request: request) {
                ending.slowRate = rate
                return
            }
            frames.put(CapturedFrame(frame: frame, arrival: .now, counters: source.counters, rate: verdict))
        }
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
