import Testing

@testable import Gestures

struct PinchTests {
    @Test(arguments: [0.4, 2, 30])
    func `a pinch toggles once however long it is held`(seconds: Double) {
        var stage = Stage()
        stage.pinch(seconds)
        #expect(stage.kinds == ["toggle right"])
    }

    @Test func `every pinch toggles, with the hand's side and presence`() {
        var stage = Stage()
        for side in [Hand.Side.left, .right, .left] { stage.pinch(open: .open.with(side: side)) }
        #expect(stage.toggles.map(\.hand) == [.left, .right, .left])
        for event in stage.events { #expect(event == .toggle(hand: event.side ?? .right, confidence: Double(Float(0.97)))) }
    }

    @Test(arguments: [10.0, 15, 24, 30, 60, 120])
    func `a pinch is recognised at any frame rate, by time and not by frames`(rate: Double) throws {
        var stage = Stage(rate: rate)
        stage.show(1, .open)
        let contact = stage.time
        stage.show(0.6, .pinched)
        let toggle = try #require(stage.toggles.first)
        #expect(stage.toggles.count == 1)
        // A tenth of a second or two to be sure, and the frame in which that is noticed.
        #expect(toggle.time - contact > 0.04 && toggle.time - contact < 0.2 + 1 / rate)
    }

    @Test(arguments: [30.0, 60, 120])
    func `a touch shorter than a pinch takes is none`(rate: Double) {
        var stage = Stage(rate: rate)
        for _ in 0..<20 {
            stage.show(0.5, .open)
            stage.show(0.034, .pinched)
        }
        stage.show(0.5, .open)
        #expect(stage.events.isEmpty)
    }

    @Test func `the dwell that is set is the dwell`() throws {
        var settings = GestureSettings()
        (settings.pinch.dwell, settings.pinch.doubtfulDwell) = (0.5, 0.5)
        var stage = Stage(settings: settings, rate: 100)
        stage.show(1, .open)
        let contact = stage.time
        stage.show(2, .pinched)
        let toggle = try #require(stage.toggles.first)
        #expect(abs(toggle.time - contact - 0.5) < 0.0101)
    }

    @Test func `a hand that appears pinched does not toggle`() {
        var stage = Stage()
        stage.show(0.5)
        stage.show(3, .pinched)
        #expect(stage.events.isEmpty)
        #expect(stage.recognizer.pinch == .none)
        stage.show(0.2, from: .pinched, to: .open)
        stage.pinch()
        #expect(stage.toggles.count == 1)
    }

    @Test func `a hand must have been seen open for a while first`() {
        var stage = Stage(rate: 60)
        stage.show(0.5)
        for _ in 0..<10 {
            stage.show(0.5, .pinched)
            stage.show(0.1, .open)
        }
        #expect(stage.events.isEmpty)
    }

    @Test func `a hand lost while it closes does not toggle`() {
        var stage = Stage(rate: 60)
        stage.show(1, .open)
        stage.show(0.05, .pinched)
        stage.show(2)
        #expect(stage.events.isEmpty)
    }

    /// Shows an open hand, hides it just before or while the fingers touch, and shows it pinched.
    private func hidden(frames: Int, rate: Double, closing: Bool) -> Stage {
        var stage = Stage(rate: rate)
        stage.show(1, .open)
        stage.show((Double(frames) + (closing ? 1 : 0)) / rate) { $0 == 0 && closing ? [.pinched] : [] }
        stage.show(1, .pinched)
        return stage
    }

    @Test(arguments: [(10.0, 1), (15, 1), (30, 1), (30, 2), (60, 4), (120, 10)], [false, true])
    func `a pinch counts though a few frames of it are missing`(view: (rate: Double, missing: Int), closing: Bool) {
        #expect(hidden(frames: view.missing, rate: view.rate, closing: closing).toggles.count == 1)
    }

    @Test(arguments: [(10.0, 2), (15, 2), (30, 4), (30, 8), (60, 8), (120, 15), (120, 35)], [false, true])
    func `a hand that was out of sight for longer and returns pinched must be seen open first`(
        view: (rate: Double, missing: Int), closing: Bool
    ) {
        var stage = hidden(frames: view.missing, rate: view.rate, closing: closing)
        #expect(stage.toggles.isEmpty)
        stage.show(0.5, .open)
        stage.show(0.5, .pinched)
        #expect(stage.toggles.count == 1)
    }

    @Test func `a gap in the view starts the dwell anew`() {
        var settings = GestureSettings()
        (settings.pinch.dwell, settings.pinch.doubtfulDwell) = (0.2, 0.2)
        var stage = Stage(settings: settings, rate: 60)
        stage.show(1, .open)
        for _ in 0..<5 {
            stage.show(0.15, .pinched)
            stage.show(0.05)
        }
        stage.show(1, .open)
        #expect(stage.events.isEmpty)
    }

    @Test(arguments: [0.04, 0.1, 0.2, 0.27])
    func `a pinched hand lost for a moment does not toggle again`(seconds: Double) {
        var stage = Stage()
        stage.show(1, .open)
        stage.show(0.5, .pinched)
        for _ in 0..<5 {
            stage.show(seconds)
            stage.show(0.5, .pinched)
        }
        #expect(stage.toggles.count == 1)
        stage.show(0.3, .open)
        stage.show(0.5, .pinched)
        #expect(stage.toggles.count == 2)
    }

    @Test func `a hand that is not in the picture shows no pinch`() {
        var stage = Stage()
        stage.show(1, .open)
        stage.show(0.5, .pinched)
        #expect(stage.recognizer.pinch == .pinched)
        stage.show(0.1)
        #expect(stage.recognizer.pinch == .none)
        stage.show(0.1, .pinched)
        #expect(stage.recognizer.pinch == .pinched)
    }

    @Test(arguments: [1, 2])
    func `a hand lost for longer must be seen open again, whatever its track is called`(track: Int) {
        var stage = Stage()
        stage.show(1, .open)
        stage.show(0.5, .pinched)
        stage.show(0.5)
        stage.show(2, .pinched.with(track: track))
        #expect(stage.toggles.count == 1)
        stage.show(0.6, .open.with(track: track))
        stage.show(0.5, .pinched.with(track: track))
        #expect(stage.toggles.count == 2)
    }

    @Test(arguments: [(20.0, 2), (400, 1)])
    func `a new track goes on where a hand was lost close by, and only there`(way: Double, toggles: Int) {
        var settings = GestureSettings()
        (settings.pinch.seenOpen, settings.pinch.release) = (0.6, 0.05)
        var stage = Stage(settings: settings)
        stage.show(1, .open)
        stage.show(0.5, .pinched)
        stage.show(0.1)
        stage.show(0.3, .pinched.with(track: 2).moved(way))
        // Open for less than a stranger would have to be.
        stage.show(0.3, .open.with(track: 2).moved(way))
        stage.show(0.5, .pinched.with(track: 2).moved(way))
        #expect(stage.toggles.count == toggles)
    }

    @Test(arguments: [10.0, 15, 30, 60])
    func `closing and opening a fist never toggles`(rate: Double) {
        var stage = Stage(rate: rate)
        for seconds in [0.15, 0.3, 0.6, 1] {
            stage.show(0.6, .open)
            stage.show(seconds, from: .open, to: .fist)
            stage.show(1, .fist)
            stage.show(seconds, from: .fist, to: .open)
        }
        stage.show(0.6, .open)
        #expect(stage.toggles.isEmpty)
    }

    @Test(arguments: [15.0, 30])
    func `fingers that touch and seem half apart in every other frame, as in the dark, are one pinch`(rate: Double) {
        var halfApart = SyntheticHand.pinched
        halfApart.gap = 0.6
        var stage = Stage(rate: rate)
        stage.show(1, .open)
        stage.show(1.5) { [Int(($0 * rate).rounded()) % 2 == 0 ? .pinched : halfApart] }
        #expect(stage.toggles.count == 1)
        stage.show(0.5, .open)
        stage.show(0.5, .pinched)
        #expect(stage.toggles.count == 2)
    }

    @Test func `fingers that are wide apart in between did not pinch`() {
        var stage = Stage()
        stage.show(1, .open)
        stage.show(1.5) { [Int(($0 * 30).rounded()) % 2 == 0 ? .pinched : .open] }
        #expect(stage.toggles.isEmpty)
    }

    @Test(arguments: [(0.33, 0), (0.6, 1)])
    func `a finger that folds before it meets the thumb makes a fist, however far it then seems stretched`(folded: Double, toggles: Int) {
        var folding = SyntheticHand.open
        (folding.reach, folding.gap) = (folded, 0.6)
        var closed = SyntheticHand.fist
        closed.reach = 0.53
        var stage = Stage()
        stage.show(1, .open)
        stage.show(0.1, folding)
        // Every fourth frame the finger seems folded again.
        stage.show(0.2, closed)
        for _ in 0..<10 {
            stage.show(0.033, folded < 0.47 ? .fist : closed)
            stage.show(0.2, closed)
        }
        #expect(stage.toggles.count == toggles)
    }

    @Test func `fingers that were together as a fist have to open before they pinch`() {
        var stage = Stage()
        stage.show(1, .open)
        stage.show(0.7, .fist)
        stage.show(1, .pinched)
        #expect(stage.toggles.isEmpty)
        stage.show(0.5, .open)
        stage.show(0.5, .pinched)
        #expect(stage.toggles.count == 1)
    }

    @Test func `a pinch is over only when it was open for a while`() {
        var settings = GestureSettings()
        settings.pinch.release = 0.1
        var stage = Stage(settings: settings, rate: 60)
        stage.show(1, .open)
        stage.show(0.5, .pinched)
        for _ in 0..<10 {
            stage.show(0.05, .open)
            stage.show(0.5, .pinched)
        }
        #expect(stage.toggles.count == 1)
        #expect(stage.recognizer.pinch == .pinched)
        stage.show(0.15, .open)
        #expect(stage.recognizer.pinch == .open)
        stage.show(0.5, .pinched)
        #expect(stage.toggles.count == 2)
    }

    @Test func `a gap exactly on the closing threshold keeps the state`() throws {
        let gap = try #require(HandShape(SyntheticHand.pinched.hand)).gap
        for (close, toggles) in [(gap, 0), (gap.nextUp, 1)] {
            var settings = GestureSettings()
            (settings.pinch.close, settings.pinch.certainClose) = (close, close)
            var stage = Stage(settings: settings)
            stage.show(1, .open)
            stage.show(2, .pinched)
            #expect(stage.toggles.count == toggles)
            #expect(stage.recognizer.pinch == (toggles == 0 ? .open : .pinched))
        }
    }

    @Test func `a gap exactly on the opening threshold keeps the state`() throws {
        var wide = SyntheticHand.open
        wide.gap = 1.1
        var settings = GestureSettings()
        settings.pinch.open = try #require(HandShape(SyntheticHand.open.hand)).gap
        var stage = Stage(settings: settings)
        stage.show(1, wide)
        stage.show(0.5, .pinched)
        stage.show(2, .open)
        #expect(stage.recognizer.pinch == .pinched)
        stage.show(0.5, wide)
        #expect(stage.recognizer.pinch == .open)
        stage.show(2, .open)
        #expect(stage.recognizer.pinch == .open)
        #expect(stage.toggles.count == 1)
    }

    @Test func `between the thresholds nothing changes`() throws {
        var between = SyntheticHand.pinched
        between.gap = 0.32
        var stage = Stage()
        stage.show(1, .open)
        stage.show(2, between)
        #expect(stage.recognizer.pinch == .open)
        stage.show(0.5, .pinched)
        stage.show(2, between)
        #expect(stage.recognizer.pinch == .pinched)
        #expect(stage.toggles.count == 1)
    }

    @Test func `repeated and backward times are ignored`() {
        var recognizer = GestureRecognizer()
        var events: [GestureEvent] = []
        for frame in 0..<30 { events += recognizer.saw([SyntheticHand.open.hand], width: 640, height: 480, at: Double(frame) / 30) }
        for _ in 0..<100 { events += recognizer.saw([SyntheticHand.pinched.hand], width: 640, height: 480, at: 1) }
        for frame in 0..<30 { events += recognizer.saw([SyntheticHand.pinched.hand], width: 640, height: 480, at: Double(frame) / 30) }
        #expect(events.isEmpty)
        #expect(recognizer.saw([SyntheticHand.pinched.hand], width: 640, height: 480, at: .nan).isEmpty)
        for frame in 31..<45 { events += recognizer.saw([SyntheticHand.pinched.hand], width: 640, height: 480, at: Double(frame) / 30) }
        #expect(events.count == 1)
    }

    @Test func `after a pause every hand is a stranger`() {
        var stage = Stage()
        stage.show(1, .open)
        #expect(stage.recognizer.pinch == .open && stage.recognizer.seesHand)
        #expect(stage.recognizer.reset(width: 640).isEmpty)
        #expect(stage.recognizer.pinch == .none && !stage.recognizer.seesHand)
        stage.show(1, .pinched)
        #expect(stage.events.isEmpty)
    }

    @Test func `what is seen is told`() {
        var stage = Stage()
        stage.show(0.1)
        #expect(stage.recognizer.pinch == .none && !stage.recognizer.seesHand)
        stage.show(1, .open)
        #expect(stage.recognizer.pinch == .open && stage.recognizer.seesHand)
        stage.show(0.5, .pinched)
        #expect(stage.recognizer.pinch == .pinched && stage.recognizer.seesHand)
        stage.show(0.1)
        #expect(!stage.recognizer.seesHand)
        stage.show(1)
        #expect(stage.recognizer.pinch == .none && !stage.recognizer.seesHand)
    }

    @Test(arguments: [-0.7, -0.35, 0.35, 0.7])
    func `a hand that leans or is turned pinches as well`(angle: Double) {
        for path in [\SyntheticHand.lean, \.rotation] {
            var open = SyntheticHand.open
            open[keyPath: path] = angle
            var pinched = SyntheticHand.pinched
            pinched[keyPath: path] = angle
            var stage = Stage()
            stage.show(1, open)
            stage.show(0.2, from: open, to: pinched)
            stage.show(0.5, pinched)
            stage.show(0.5, open)
            #expect(stage.toggles.count == 1)
        }
    }

    @Test func `measured in the picture, a gap counts by its share of the sides, at once where no dwell is set`() throws {
        var settings = GestureSettings()
        settings.pinch.unit = .picture
        (settings.pinch.close, settings.pinch.certainClose, settings.pinch.open, settings.pinch.wideOpen) = (0.015, 0.015, 0.03, 0.03)
        (settings.pinch.dwell, settings.pinch.doubtfulDwell, settings.pinch.release) = (0, 0, 0)
        settings.pinch.sudden = 1000
        // 0.12 palm lengths at 0.8 and 0.6 to the sides are 0.0214 of the picture from near, and 0.0097 from half as near.
        for (palm, toggles) in [(110.0, 0), (50, 1)] {
            var stage = Stage(settings: settings)
            var (open, pinched) = (SyntheticHand.open, SyntheticHand.pinched)
            (open.palm, pinched.palm) = (palm, palm)
            stage.show(1, open)
            let contact = stage.time
            stage.show(1, pinched)
            #expect(stage.toggles.count == toggles)
            if toggles == 1 { #expect(try #require(stage.toggles.first).time == contact) }
        }
    }

    @Test func `either of two hands toggles, one after the other`() {
        let (left, right) = Self.twoHands(.open)
        let (pinchedLeft, pinchedRight) = Self.twoHands(.pinched)
        var stage = Stage()
        for _ in 0..<2 {
            stage.show(1.2, left, right)
            stage.show(0.5, pinchedLeft, right)
            stage.show(1.2, right, left)
            stage.show(0.5, pinchedRight, left)
        }
        #expect(stage.toggles.map(\.hand) == [.left, .right, .left, .right])
    }

    @Test func `while one hand pinches, another does not act`() {
        let (left, right) = Self.twoHands(.open)
        let (pinchedLeft, pinchedRight) = Self.twoHands(.pinched)
        var stage = Stage()
        stage.show(1, left, right)
        stage.show(0.5, pinchedLeft, right)
        stage.show(0.5, pinchedLeft, pinchedRight)
        stage.show(0.5, pinchedLeft, right)
        stage.show(0.5, left, right)
        #expect(stage.toggles.map(\.hand) == [.left])
    }

    private static func twoHands(_ pose: SyntheticHand) -> (left: SyntheticHand, right: SyntheticHand) {
        (pose.with(track: 1, side: .left).moved(-180), pose.with(track: 2, side: .right).moved(180))
    }

    @Test func `a hand whose numbers are none counts as lost`() {
        var stage = Stage()
        stage.show(1, .open)
        var broken = SyntheticHand.pinched
        broken.gap = .nan
        stage.show(2, broken)
        #expect(stage.events.isEmpty)
        var nowhere = SyntheticHand.pinched
        nowhere.palm = 0
        stage.show(2, nowhere)
        #expect(stage.events.isEmpty)
        stage.show(1, .open)
        stage.show(0.5, .pinched)
        #expect(stage.toggles.count == 1)
    }
}

extension GestureEvent {
    fileprivate var side: Hand.Side? {
        if case .toggle(let hand, _) = self { hand } else { nil }
    }
}
