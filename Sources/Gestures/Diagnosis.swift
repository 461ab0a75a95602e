/// What the gestures make of one hand at the moment: for a person who watches and tunes them.
public struct Diagnosis: Hashable, Sendable {
    public enum Pinch: String, Hashable, Sendable {
        /// Not seen open yet, so it may not pinch.
        case unarmed
        case open
        /// Closed, not for long enough yet.
        case closing
        case pinched
        /// Open again, not for long enough yet.
        case opening
    }

    public enum Slide: String, Hashable, Sendable {
        /// Not fit for a slide, or not at rest for long enough yet.
        case waiting
        case resting
        case sliding
    }

    /// ``Hand/track`` of the hand.
    public var track: Int
    /// Thumb tip to index tip in palm sizes, as ``PinchSettings/close`` and ``PinchSettings/open`` measure it.
    public var gap: Double
    /// Index tip to index knuckle in palm lengths, as ``PinchSettings/reach`` measures it.
    public var reach: Double
    public var pinch: Pinch
    /// How much of the time that ``pinch`` has to last is over, 0 to 1; 0 where it waits for nothing.
    public var dwell: Double
    public var slide: Slide
}

extension Diagnosis {
    init(track: Int, shape: HandShape, pinch: PinchMachine, slide: SlideMachine, at time: Double, settings: PinchSettings) {
        (self.track, gap, reach) = (track, shape.gap, shape.reach)
        func share(_ spent: Double, of duration: Double) -> Double { duration > 0 ? min(max(spent / duration, 0), 1) : 0 }
        (self.pinch, dwell) =
            switch pinch {
            case .unarmed(let since): (.unarmed, since.map { share(time - $0, of: settings.seenOpen) } ?? 0)
            case .open: (.open, 0)
            case .closing(let candidate): (.closing, candidate.progress(settings))
            case .pinched: (.pinched, 0)
            case .opening(let since):
                (.opening, share(time - since, of: PinchMachine.release(of: shape, settings: settings)))
            }
        self.slide =
            switch slide {
            case .waiting: .waiting
            case .resting: .resting
            case .sliding: .sliding
            }
    }
}
