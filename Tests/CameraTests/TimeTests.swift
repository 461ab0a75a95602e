import TestSupport
import Testing

@testable import Camera

struct ClipClockTests {
    /// What is stored, what comes out, and how many were replaced; at ten frames a second.
    static let cases: [(name: String, stored: [Double?], times: [Double], repaired: Int)] = [
        ("regular", [0, 0.1, 0.2], [0, 0.1, 0.2], 0),
        ("starts later", [5, 5.1, 5.3], [0, 0.1, 0.3], 0),
        ("starts before zero", [-0.2, -0.1, 0], [0, 0.1, 0.2], 0),
        ("one missing", [0, nil, 0.2], [0, 0.1, 0.2], 1),
        ("all missing", [nil, nil, nil], [0, 0.1, 0.2], 3),
        ("first missing", [nil, 7, 7.1], [0, 0.1, 0.2], 1),
        ("twice the same", [0, 0.1, 0.1, 0.2], [0, 0.1, 0.15, 0.2], 1),
        ("a little back", [0, 0.1, 0.05, 0.2], [0, 0.1, 0.15, 0.2], 1),
        ("set back", [100, 100.1, 0, 0.1], [0, 0.1, 0.2, 0.3], 1),
        ("absurd leap", [0, 0.1, 1e9, 1e9 + 0.1], [0, 0.1, 0.2, 0.3], 1),
        ("a real pause", [0, 0.1, 4.1, 4.2], [0, 0.1, 4.1, 4.2], 0),
    ]

    @Test(arguments: cases.indices)
    func `stored times become times that start at zero and always increase`(index: Int) {
        let (name, stored, times, repaired) = Self.cases[index]
        var clock = ClipClock(interval: 0.1)
        let result: [Double] = stored.map { clock.time(presentation: $0) }
        #expect(
            zip(result, times).allSatisfy { (a: Double, b: Double) in abs(a - b) < 1e-6 } && result.count == times.count,
            "\(name): \(result)")
        #expect(clock.repaired == repaired, "\(name)")
    }

    @Test(arguments: UInt64(0)..<20) func `times increase whatever is stored`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var clock = ClipClock(interval: 1 / 30)
        var last = -1.0
        for _ in 0..<500 {
            let scale = [0.1, 1, 100, 1e12][Int.random(in: 0..<4, using: &generator)]
            let stored: Double? = Bool.random(using: &generator) ? Double.random(in: -scale...scale, using: &generator) : nil
            let time = clock.time(presentation: stored)
            #expect(time > last && time.isFinite)
            last = time
        }
    }
}

struct DeviceClockTests {
    @Test func `a driver's monotonic stamp is a frame's time`() {
        var clock = DeviceClock()
        #expect(clock.judge(stamp: 50.00, isMonotonic: true, arrival: 50.02) == .use(50.00, repaired: false))
        #expect(clock.judge(stamp: 50.03, isMonotonic: true, arrival: 50.05) == .use(50.03, repaired: false))
    }

    @Test func `the same stamp twice is the same frame`() {
        var clock = DeviceClock()
        #expect(clock.judge(stamp: 50, isMonotonic: true, arrival: 50.02) == .use(50, repaired: false))
        #expect(clock.judge(stamp: 50, isMonotonic: true, arrival: 50.05) == .duplicate)
        #expect(clock.judge(stamp: 50.06, isMonotonic: true, arrival: 50.08) == .use(50.06, repaired: false))
    }

    /// Stamp, whether it is called monotonic, all arriving at 50.1 after a frame of 50.
    @Test(
        arguments: [(1_700_000_000, false), (50.05, false), (0, true), (49, true), (1_700_000_000, true), (20, true)] as [(Double, Bool)])
    func `a stamp of another clock gives way to the time of arrival`(stamp: Double, isMonotonic: Bool) {
        var clock = DeviceClock()
        #expect(clock.judge(stamp: 50, isMonotonic: true, arrival: 50.02) == .use(50, repaired: false))
        #expect(clock.judge(stamp: stamp, isMonotonic: isMonotonic, arrival: 50.1) == .use(50.1, repaired: true))
    }

    @Test func `a driver without stamps gives every frame its time of arrival`() {
        var clock = DeviceClock()
        let arrivals = [1.0, 1.1, 1.2]
        let verdicts = arrivals.map { clock.judge(stamp: 0, isMonotonic: false, arrival: $0) }
        #expect(verdicts == arrivals.map { .use($0, repaired: true) })
    }
}

struct DeviceSequenceTests {
    /// The driver's numbers, ours, and how many frames were lost between them.
    static let cases: [(raw: [UInt32], numbers: [UInt64], missing: Int)] = [
        ([0, 1, 2], [0, 1, 2], 0),
        ([7, 8, 11], [0, 1, 4], 2),
        ([.max, 0, 1], [0, 1, 2], 0),
        ([.max - 1, 1], [0, 3], 2),
        ([0, 0, 0], [0, 1, 2], 0),
        ([500, 0, 1], [0, 1, 2], 0),
        ([0, 2_000_000, 2_000_001], [0, 1, 2], 0),
    ]

    @Test(arguments: cases.indices)
    func `numbers always increase and gaps are counted`(index: Int) {
        let (raw, numbers, missing) = Self.cases[index]
        var sequence = DeviceSequence()
        #expect(raw.map { sequence.number(of: $0) } == numbers)
        #expect(sequence.missing == missing)
    }
}
