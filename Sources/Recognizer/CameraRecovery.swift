internal import Camera
internal import MQTT

/// Decides what is done about a camera that fails: it is tried again for ever, ever less often, and each trouble is said once.
///
/// Pure: errors and times in, actions out.
struct CameraRecovery {
    /// What a trouble is about: the same one is not said twice in a row, however it is noticed.
    enum Trouble: Hashable {
        /// It is not there: unplugged, or not plugged in yet.
        case absent
        case otherCamera, busy, forbidden, noBandwidth, silent, unfit, broken
        /// A camera in the network that cannot be reached, and one that wants other credentials.
        case unreachable, unauthorized
    }

    enum Input {
        case opened
        /// In steady seconds.
        case frame(at: Double)
        /// - Parameter jitter: evenly random in 0…1.
        case failed(CameraError, jitter: Double)
        /// It was closed on purpose: switched off, or to be opened in another mode.
        case closed
    }

    enum Action: Equatable {
        /// For the log, as something that a person should know.
        case warn(CameraError)
        /// For the log of who looks closely: the same trouble again.
        case note(CameraError)
        /// The trouble is over, after so many attempts.
        case sayRecovered(attempts: Int)
        case tryAgain(after: Duration)
        /// Nothing that is waited for could help.
        case end(CameraError)
    }

    private enum State {
        case idle
        case opened
        /// With the time of the first frame.
        case streaming(since: Double)
        case failing
    }

    /// A camera that delivered for so long works; one that fails sooner is waited for as before.
    static let trial = 10.0

    private var state = State.idle
    private var backoff = Backoff()
    /// What was said last, until the camera has worked for a while; and whether its end is still to be said.
    private var said: (trouble: Trouble, attempts: Int, isOpen: Bool)?

    mutating func handle(_ input: Input) -> [Action] {
        switch (input, state) {
        case (.opened, _):
            state = .opened
            return []
        case (.frame(let time), .streaming(let start)):
            if time - start >= Self.trial { (backoff, said) = (Backoff(), nil) }
            return []
        case (.frame(let time), _):
            state = .streaming(since: time)
            guard let last = said, last.isOpen else { return [] }
            said?.isOpen = false
            return [.sayRecovered(attempts: last.attempts)]
        case (.closed, _):
            state = .idle
            return []
        case (.failed(let error, let jitter), _):
            guard let trouble = Trouble(error) else { return [.end(error)] }
            let last = said
            let isNews = last?.trouble != trouble
            // A camera that comes and goes is spoken of once.
            said = (trouble, (last?.attempts ?? 0) + 1, isNews || last?.isOpen == true)
            state = .failing
            return [isNews ? .warn(error) : .note(error), .tryAgain(after: backoff.next(jitter: jitter))]
        }
    }
}

extension CameraRecovery.Trouble {
    /// Nil for what no camera does: a source that was written wrong, and a clip's faults.
    init?(_ error: CameraError) {
        switch error {
        case .noCamera, .noSuchDevice, .unplugged: self = .absent
        case .otherCamera, .ambiguousCamera: self = .otherCamera
        case .busy: self = .busy
        case .permissionDenied: self = .forbidden
        case .noBandwidth: self = .noBandwidth
        case .stalled, .onlyBrokenFrames: self = .silent
        case .notACaptureDevice, .noUsableFormat: self = .unfit
        case .device: self = .broken
        case .unreachable, .streamEnded: self = .unreachable
        case .unauthorized: self = .unauthorized
        case .emptySource, .unsupportedScheme, .badAddress, .unreadableClip, .emptyClip, .notAClip, .noVideo, .unsupportedCodec,
            .unsupportedPixelFormat, .damagedClip:
            return nil
        }
    }
}
