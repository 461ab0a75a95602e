/// What a hand was seen to mean.
public enum GestureEvent: Hashable, Sendable {
    public enum Phase: String, Hashable, Sendable {
        case began, changed, ended
    }

    /// A pinch; `confidence` is the hand's presence, 0 to 1.
    case toggle(hand: Hand.Side, confidence: Double)
    /// A slide: `value` is 0 to 100 %, `displacement` frame widths from the resting place, positive towards brighter.
    case brightness(value: Double, phase: Phase, displacement: Double)
}

/// Recognises pinches and slides in the hands of successive frames.
///
/// Time is an argument: the frames' own steady clock, in seconds. A frame whose time does not advance is ignored.
public struct GestureRecognizer: Sendable {
    /// Whether a hand's thumb and index finger touch.
    public enum Pinch: String, Hashable, Sendable {
        /// No hand, or one not seen open yet.
        case none
        case open, pinched
    }

    public var settings: GestureSettings
    /// Whether the picture shows the person as a mirror does.
    public let mirrored: Bool

    /// Where the lamp is taken to be, 0 to 100 %.
    public private(set) var brightness: Double
    private var players: [Player] = []
    private var lastTime = -Double.infinity
    private var arming = ArmingMachine()
    private var fingerCounter = FingerCounter()
    /// The one slide under way.
    private var slide: (track: Int, startBrightness: Double, reported: Double)?
    /// The hand that acts, and until when no other may.
    private var lock: (track: Int, until: Double)?

    public init(settings: GestureSettings = GestureSettings(), mirrored: Bool = false, brightness: Double = 50) {
        (self.settings, self.mirrored) = (settings, mirrored)
        self.brightness = min(max(brightness, 0), 100)
    }

    /// Whether any hand that counts was in the latest frame.
    public var seesHand: Bool { players.contains { $0.lastSeen == lastTime } }

    /// Stretched fingers of all hands, 0 to 10, once a number has stood for a moment.
    public var fingers: Int { fingerCounter.value }

    /// Whether gestures act.
    public var isArmed: Bool { settings.arming.mode == .off || arming.isArmed }

    /// How much of the arming gesture is done, 0 to 1; 1 when armed.
    public var armingProgress: Double { isArmed ? 1 : arming.progress(at: lastTime, settings: settings.arming) }

    /// The pinch of the hand in the latest frame that is furthest along: pinched before open before none.
    public var pinch: Pinch {
        var result = Pinch.none
        for player in players where player.lastSeen == lastTime {
            switch player.pinch {
            case .pinched, .opening: return .pinched
            case .open, .closing: result = .open
            case .unarmed: break
            }
        }
        return result
    }

    /// The hand that acts, or else any that counts; nil where the latest frame shows none.
    public var diagnosis: Diagnosis? {
        let seen = players.filter { $0.lastSeen == lastTime }
        guard let player = seen.first(where: { $0.track == lock?.track }) ?? seen.first, let shape = player.lastShape else { return nil }
        return Diagnosis(
            track: player.track, shape: shape, pinch: player.pinch, slide: player.slide, at: lastTime, settings: settings.pinch)
    }

    /// Tells where the lamp is, so that the next slide starts there. A slide under way goes on from its own start.
    public mutating func lampIs(at brightness: Double) {
        guard slide == nil else { return }
        self.brightness = min(max(brightness, 0), 100)
    }

    /// Arms or disarms by command, where the settings allow it.
    public mutating func arm(_ isOn: Bool) {
        guard lastTime.isFinite else { return }
        arming.switched(on: isOn, at: lastTime, settings: settings.arming)
    }

    /// Takes in all hands of one frame of `width` × `height` pixels.
    public mutating func saw(_ hands: [Hand], width: Int, height: Int, at time: Double) -> [GestureEvent] {
        guard time > lastTime else { return [] }
        let interval = lastTime.isFinite ? time - lastTime : 0
        lastTime = time
        var events: [GestureEvent] = []
        assign(hands, at: time)
        for index in players.indices {
            guard let hand = hands.first(where: { $0.track == players[index].track }),
                let shape = players[index].shape(of: hand, at: time, unit: settings.pinch.unit, width: width, height: height),
                players[index].counts(hand, shape, at: time, settings: settings.hands, width: width, height: height)
            else {
                players[index].missed()
                // A fast hand is a blur in a frame or two of a slide; the slide waits for it.
                if time - players[index].lastSeen > settings.pinch.lost {
                    report(players[index].slide.interrupted(), track: players[index].track, width: width, to: &events)
                }
                continue
            }
            players[index].remember(hand, shape, at: time, settings: settings.pinch)
            guard isArmed, mayAct(hand.track, at: time) else {
                players[index].pinch.standBy()
                report(players[index].slide.interrupted(), track: hand.track, width: width, to: &events)
                continue
            }
            let action = players[index].pinch.saw(shape, at: time, settings: settings.pinch)
            let slideAction = players[index].slideAction(shape, at: time, interval: interval, width: width, settings: settings)
            report(slideAction, track: hand.track, width: width, to: &events)
            if action == .toggle { events.append(.toggle(hand: hand.side, confidence: Double(hand.presence))) }
            if players[index].pinch.isEngaged || slide?.track == hand.track { lock = (hand.track, time + settings.hands.lock) }
        }
        players.removeAll { time - $0.lastSeen > settings.pinch.lost }
        let seen = players.filter { $0.lastSeen == time }
        fingerCounter.saw(seen.reduce(0) { $0 + $1.pose.count }, at: time)
        if settings.arming.mode != .off {
            arming.saw(openPalm: seen.contains(where: \.showsPalm), acted: !events.isEmpty, at: time, settings: settings.arming)
        }
        return events
    }

    private func mayAct(_ track: Int, at time: Double) -> Bool {
        guard let lock, time < lock.until else { return true }
        return lock.track == track
    }

    /// Forgets every hand, as after a pause of the camera; a slide under way ends where it is.
    public mutating func reset(width: Int) -> [GestureEvent] {
        var events: [GestureEvent] = []
        for index in players.indices {
            report(players[index].slide.interrupted(), track: players[index].track, width: width, to: &events)
        }
        players.removeAll()
        lock = nil
        lastTime = -.infinity
        return events
    }

    /// Gives each hand its memory: that of its track, or of a hand lost close by a moment ago, or a fresh one.
    private mutating func assign(_ hands: [Hand], at time: Double) {
        for hand in hands where !players.contains(where: { $0.track == hand.track }) {
            let shape = HandShape(hand)
            let orphan = players.firstIndex { player in
                guard let shape, time - player.lastSeen <= settings.pinch.lost, !hands.contains(where: { $0.track == player.track }) else {
                    return false
                }
                return player.isNear(shape, at: time)
            }
            if let orphan {
                if slide?.track == players[orphan].track { slide?.track = hand.track } else { players[orphan].slide = SlideMachine() }
                if lock?.track == players[orphan].track { lock?.track = hand.track }
                players[orphan].track = hand.track
            } else {
                players.append(Player(track: hand.track, firstSeen: time))
            }
        }
    }

    private mutating func report(_ action: SlideMachine.Action?, track: Int, width: Int, to events: inout [GestureEvent]) {
        guard let action else { return }
        let (way, phase): (Double, GestureEvent.Phase) =
            switch action {
            case .began(let way): (way, .began)
            case .moved(let way): (way, .changed)
            case .ended(let way): (way, .ended)
            }
        if phase == .began {
            guard slide == nil else { return }
            slide = (track, brightness, brightness)
        }
        guard let current = slide, current.track == track else { return }
        // An unmirrored camera sees a movement to the person's own right as one to the left.
        let towardsBrighter = (mirrored ? 1.0 : -1.0) * (settings.slide.direction == .natural ? 1 : -1)
        let displacement = towardsBrighter * way / Double(width)
        let value = min(max(current.startBrightness + settings.slide.gain * displacement, 0), 100)
        if phase == .changed, abs(value - current.reported) < Self.smallestStep { return }
        slide?.reported = value
        brightness = value
        if phase == .ended { slide = nil }
        events.append(.brightness(value: value, phase: phase, displacement: displacement))
    }

    /// Points of brightness below which a change is not worth telling; lamps know whole percents.
    private static let smallestStep = 0.5
}

/// One hand's memory.
private struct Player: Sendable {
    var track: Int
    private let firstSeen: Double
    private(set) var lastSeen: Double
    var pinch = PinchMachine()
    var slide = SlideMachine()
    private(set) var pose: FingerPose = []
    private var plausibility = HandPlausibility()
    private(set) var lastShape: HandShape?
    /// Frames since then that did not show it.
    private var missedFrames = 0
    /// Where an open palm was first shown, for as long as it stays there.
    private var palmShown: HandShape?
    // Cut-offs chosen on the labelled clips: no visible lag at 3 palms a second, jitter at rest below a tenth of the start travel.
    private var filterX = OneEuroFilter(minimumCutoff: 2, beta: 1, speedCutoff: 2)
    private var filterY = OneEuroFilter(minimumCutoff: 2, beta: 1, speedCutoff: 2)

    init(track: Int, firstSeen: Double) {
        (self.track, self.firstSeen, lastSeen) = (track, firstSeen, firstSeen)
    }

    /// Whether the hand is to be taken for one, and for one that may act.
    mutating func counts(_ hand: Hand, _ shape: HandShape, at time: Double, settings: HandSettings, width: Int, height: Int) -> Bool {
        let isPlausible = plausibility.accepts(hand, shape, at: time)
        let isChosen =
            switch settings.choice {
            case .any: true
            case .left: hand.side == .left
            case .right: hand.side == .right
            }
        return isPlausible && isChosen && Double(hand.presence) >= settings.presence && time - firstSeen >= settings.settle
            && settings.zone.contains(x: shape.knuckles.x / Double(width), y: shape.knuckles.y / Double(height))
    }

    mutating func missed() {
        missedFrames += 1
        pinch.lost()
    }

    mutating func remember(_ hand: Hand, _ shape: HandShape, at time: Double, settings: PinchSettings) {
        // A single frame may be missing at any rate.
        if missedFrames > 1, time - lastSeen > settings.unseen { pinch.returned() }
        (lastShape, lastSeen, missedFrames) = (shape, time, 0)
        pose = FingerPose(hand, previous: pose)
        if pose != .all {
            palmShown = nil
        } else if palmShown.map({ !$0.isStill(shape) }) ?? true {
            palmShown = shape
        }
    }

    /// Whether all five fingers are stretched and the hand has stayed where it was.
    var showsPalm: Bool { palmShown != nil }

    /// Whether a hand may be this one found again: of like size and no further away than a fast hand gets (14 palms a second measured).
    func isNear(_ shape: HandShape, at time: Double) -> Bool {
        guard let last = lastShape else { return false }
        let way = (shape.knuckles - last.knuckles) / last.palm
        return (way * way).sum().squareRoot() < 1.5 + 10 * (time - lastSeen) && (0.6...1.7).contains(shape.palm / last.palm)
    }

    /// The shape of a hand with what only its past tells.
    mutating func shape(of hand: Hand, at time: Double, unit: LengthUnit, width: Int, height: Int) -> HandShape? {
        guard var shape = HandShape(hand) else { return nil }
        if unit == .picture { shape.gap = HandShape.pictureGap(hand, width: width, height: height) }
        if let lastShape, time > lastSeen {
            let interval = time - lastSeen
            // Sinks within a second to what it is; a hand that pinches keeps the measure it had.
            let sinking = (lastShape.openGap - shape.gap) * min(interval, 1)
            shape.openGap = pinch.isEngaged ? lastShape.openGap : max(shape.gap, lastShape.openGap - sinking)
            // Fades within a tenth of a second, about the time a pinch takes to close.
            let faded = lastShape.closingSpeed * max(0, 1 - interval / 0.1)
            shape.closingSpeed = max((lastShape.gap - shape.gap) / interval, faded)
        }
        return shape
    }

    mutating func slideAction(
        _ shape: HandShape, at time: Double, interval: Double, width: Int, settings: GestureSettings
    ) -> SlideMachine.Action? {
        let unit = settings.slide.unit == .palm ? shape.palm : Double(width)
        let tip = SIMD2(filterX.smooth(shape.tip.x, at: time, unit: shape.palm), filterY.smooth(shape.tip.y, at: time, unit: shape.palm))
        guard shape.reach >= settings.slide.reach, shape.gap > settings.pinch.open, !pinch.isEngaged else { return slide.interrupted() }
        return slide.saw(
            SlideMachine.Sight(
                pose: SlideMachine.Pose(tip: tip, knuckles: shape.knuckles, gap: shape.gap, reach: shape.reach, angle: shape.angle),
                isPointing: shape.others <= settings.slide.pointing,
                speed: filterX.speed / unit, unit: unit, time: time, interval: interval),
            settings: settings.slide)
    }
}
