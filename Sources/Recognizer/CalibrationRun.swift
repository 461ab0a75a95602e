internal import Camera
internal import Contract
internal import Gestures
internal import HandTracking
internal import Imaging
internal import ServiceKit
internal import Settings

/// Guides a person through the poses of a ``Calibration``, on a thread of its own.
actor CalibrationRun {
    private let executor = ThreadExecutor(name: "calibration")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Seconds to take up a pose, and seconds in which it is measured.
    static let preparation = 2.5
    static let measuring = 3.0

    private let settings: Settings
    private var output = StandardOutput()

    init(settings: Settings) { self.settings = settings }

    /// - Throws: `CameraError`, ``CalibrationFailure``, and what keeps the models from being loaded.
    func run(_ specification: SourceSpecification, profile: Identifier) throws {
        let models = try HandModels(settings: settings.camera).runners()
        var tracker = try HandTracker(palms: models.palms, landmarks: models.landmarks)
        let source = UprightSource(
            try specification.open(request: CaptureRequest(settings.camera)), rotation: Rotation(degrees: settings.camera.rotation))
        var calibration = Calibration()
        for step in Calibration.Step.allCases { try measure(step, of: source, with: &tracker, for: &calibration) }
        let fitted: GestureSettings
        let notes: [String]
        do {
            let (settled, findings) = try calibration.settle(over: settings.gestures)
            fitted = settled
            notes = findings.map { "measured: \($0.what) \($0.value) -> \($0.settles.joined(separator: ", "))" }
        } catch {
            throw CalibrationFailure.refused(error)
        }
        do {
            try settings.profiles.save(fitted, as: profile, notes: notes)
        } catch {
            throw CalibrationFailure.notWritten(error)
        }
        output.write("\n" + notes.joined(separator: "\n") + "\n")
        output.write("\nWritten to \(settings.profiles.path(of: profile)). Use it with 'gestures: {profile: \(profile)}'.\n")
    }

    private func measure(
        _ step: Calibration.Step, of source: any FrameSource, with tracker: inout HandTracker, for calibration: inout Calibration
    ) throws {
        output.write("\n\(step.request)\n")
        var start: Double?
        var isMeasuring = false
        while let frame = try source.nextFrame() {
            let hands = try tracker.hands(in: frame)
            let spent = frame.time - (start ?? frame.time)
            start = start ?? frame.time
            if spent < Self.preparation { continue }
            if !isMeasuring {
                isMeasuring = true
                output.write("  Hold it … ")
            }
            calibration.saw(hands, in: step)
            if spent >= Self.preparation + Self.measuring {
                output.write("done.\n")
                return
            }
        }
        throw CalibrationFailure.sourceEnded(step)
    }
}

extension Calibration.Step {
    fileprivate var request: String {
        switch self {
        case .open: "1 of 4: show an open hand, fingers a little spread."
        case .pinch: "2 of 4: touch thumb and index finger, as you would to switch the lamp."
        case .point: "3 of 4: point with the index finger, the other fingers folded."
        case .still: "4 of 4: go on pointing, as still as you can."
        }
    }
}

/// Why a calibration came to nothing.
enum CalibrationFailure: Error {
    case sourceEnded(Calibration.Step)
    case refused(Calibration.Refusal)
    case notWritten(FileFailure)
}

extension CalibrationFailure: UserFacingFailure {
    var reports: [FailureReport] { [report] }

    private var report: FailureReport {
        switch self {
        case .sourceEnded(let step):
            return FailureReport("the clip ended before '\(step.rawValue)' was measured", remedy: "calibrate with a camera")
        case .notWritten(let failure):
            return FailureReport(
                "the profile cannot be written: \(failure.reason)", at: failure.path, remedy: "set gestures.profiles to a folder of yours")
        case .refused(.handNotSeen(let step, let share)):
            return FailureReport(
                "a hand was seen in only \(Int((share * 100).rounded())) % of '\(step.rawValue)'", remedy: "more light, or come nearer")
        case .refused(.sameGap(let open, let pinched)):
            return FailureReport(
                "open hand (gap \(open.rounded(2))) and touching fingers (\(pinched.rounded(2))) look alike",
                remedy: "show the palm to the camera, and open the hand more")
        case .refused(.notStretched(let step, let reach)):
            return FailureReport(
                "the index finger is not stretched in '\(step.rawValue)' (reach \(reach.rounded(2)))",
                remedy: "a fist is no gesture: stretch it more")
        case .refused(.notPointing(let others)):
            return FailureReport(
                "the other fingers are stretched too (\(others.rounded(2)) of the index finger)", remedy: "fold them to point")
        case .refused(.notStill(let way)):
            return FailureReport("the finger moved by \(way.rounded(2)) palms while it should rest", remedy: "rest the arm, or more light")
        }
    }
}
