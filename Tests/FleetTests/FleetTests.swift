import Fleet
import Settings
import Testing

struct `Plan of a fleet` {
    @Test(arguments: [(1, 1, 1), (10, 10, 3), (100, 10, 2), (1000, 100, 4), (7, 3, 2), (5, 9, 9)])
    func `every lamp has one camera and one bridge, and nobody has none`(lamps: Int, cameras: Int, bridges: Int) {
        let plan = FleetPlan(lamps: lamps, cameras: cameras, bridges: bridges)
        let byCamera = (0..<plan.cameras).map { plan.lamps(of: $0) }
        let byBridge = (0..<plan.bridges).map { plan.lamps(drivenBy: $0) }
        for shares in [byCamera, byBridge] {
            #expect(shares.flatMap(\.self).sorted() == Array(0..<lamps))
            #expect(shares.allSatisfy { !$0.isEmpty })
        }
        for (camera, lamps) in byCamera.enumerated() { #expect(lamps.allSatisfy { plan.camera(of: $0) == camera }) }
        #expect(plan.fanOut == Double(lamps) / Double(plan.cameras))
    }

    @Test func `all numbers are combined, without cameras that have no lamp`() {
        let plans = FleetPlan.all(lamps: [1, 10], cameras: [1, 10, 100], bridges: 2)
        #expect(
            plans == [
                FleetPlan(lamps: 1, cameras: 1, bridges: 1), FleetPlan(lamps: 10, cameras: 1, bridges: 2),
                FleetPlan(lamps: 10, cameras: 10, bridges: 2),
            ])
    }
}

struct `Options of the fleet` {
    @Test func `lists are read`() throws {
        #expect(try fleetCounts("1,10,1000", option: "lamps") == [1, 10, 1000])
        #expect(try fleetProcesses("12,3", option: "broker-processes") == [12, 3])
        #expect(
            try fleetBrokers("a:1,[::1]:2", option: "broker") == [HostAndPort(host: "a", port: 1), HostAndPort(host: "::1", port: 2)])
    }

    @Test(arguments: ["", "0", "x", "1,,2", "1, 2", "10001", "-1"])
    func `a list of counts with anything else is refused as a whole`(text: String) {
        let fault = #expect(throws: FleetOptionFault.self) { try fleetCounts(text, option: "lamps") }
        #expect(
            fault?.description == "--lamps: '\(text)' is not valid; it has to be whole numbers from 1 to 10000, separated by commas")
    }

    @Test(arguments: ["", "a", "a:0", "a:1,", "::1:2"]) func `a node without a port is refused`(text: String) {
        #expect(throws: FleetOptionFault.self) { try fleetBrokers(text, option: "broker") }
    }

    @Test func `clients are spread by beginning elsewhere`() throws {
        let nodes = try fleetBrokers("a:1,b:1,c:1", option: "broker")
        #expect((0..<4).map { nodes.rotated(by: $0).map(\.host).joined() } == ["abc", "bca", "cab", "abc"])
        #expect([HostAndPort]().rotated(by: 3).isEmpty)
    }
}

struct `Quantiles of delays` {
    @Test func `they are values that occurred`() {
        let values = (1...100).shuffled().map(Double.init)
        #expect(values.quantile(0) == 1 && values.quantile(0.5) == 50 && values.quantile(0.99) == 99 && values.quantile(1) == 100)
        #expect([7.0].quantile(0.99) == 7 && [Double]().quantile(0.5) == 0)
    }
}

struct `Ledger of a fleet` {
    private let start = ContinuousClock.now
    private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }
    private func ledger(_ lamps: Int = 1) -> FleetLedger { FleetLedger(lamps: lamps, longestSilence: .seconds(2)) }

    @Test func `a level that arrives has its delay, whatever else the lamp is told`() {
        var ledger = ledger(2)
        ledger.sent(level: 30, to: [0, 1], at: at(0))
        ledger.wrote(on: true, brightness: 30, to: 1, at: at(0.2))
        ledger.wrote(on: nil, brightness: 20, to: 0, at: at(0.3))
        ledger.wrote(on: nil, brightness: 30, to: 0, at: at(0.5))
        ledger.wrote(on: nil, brightness: 30, to: 0, at: at(0.6))
        let outcome = ledger.ended(at: at(1))
        #expect(outcome.delays == [.milliseconds(200), .milliseconds(500)])
        #expect(outcome.levels == 2 && outcome.overtaken == 0 && outcome.missing == 0)
    }

    @Test func `a level that never arrives is overtaken by the next one or missing, and one that never went out is neither`() {
        var ledger = ledger()
        ledger.sent(level: 30, to: [0], at: at(0))
        ledger.sent(level: 31, to: [0], at: at(0.5))
        ledger.sent(level: 32, to: [0], at: at(1))
        ledger.withdrew(level: 32, from: [0])
        ledger.sent(level: 33, to: [0], at: at(1.5))
        let outcome = ledger.ended(at: at(2))
        #expect(outcome.levels == 3 && outcome.overtaken == 2 && outcome.missing == 1 && outcome.delays.isEmpty)
    }

    @Test func `a toggle switches once; a second time is one too many, and so is a late one`() {
        var ledger = ledger()
        ledger.sentToggle(to: [0], at: at(0))
        ledger.wrote(on: false, brightness: nil, to: 0, at: at(0.1))
        ledger.wrote(on: true, brightness: nil, to: 0, at: at(0.2))
        ledger.sentToggle(to: [0], at: at(5))
        ledger.wrote(on: true, brightness: nil, to: 0, at: at(9))
        let outcome = ledger.ended(at: at(10))
        #expect(outcome.toggles == 2 && outcome.switched == 1 && outcome.doubled == 2 && outcome.lostToggles == 1)
    }

    @Test func `a toggle that is not acted on is lost, and one that never went out was not sent`() {
        var ledger = ledger()
        ledger.sentToggle(to: [0], at: at(0))
        ledger.sentToggle(to: [0], at: at(5))
        ledger.withdrewToggle(from: [0])
        ledger.sentToggle(to: [0], at: at(10))
        let outcome = ledger.ended(at: at(20))
        #expect(outcome.toggles == 2 && outcome.lostToggles == 2 && outcome.switched == 0 && outcome.doubled == 0)
    }

    @Test func `after an interruption the end of the longest silence is when a lamp was served again`() {
        var ledger = ledger(4)
        for lamp in 0..<3 { ledger.wrote(on: nil, brightness: 1, to: lamp, at: at(9)) }
        ledger.interrupted(at: at(10))
        for second in 11...20 { ledger.wrote(on: nil, brightness: 1, to: 0, at: at(Double(second))) }
        for second in [10.5, 14, 15, 16, 17, 18, 19, 20] { ledger.wrote(on: nil, brightness: 1, to: 1, at: at(second)) }
        ledger.wrote(on: nil, brightness: 1, to: 2, at: at(11))
        let outcome = ledger.ended(at: at(20.5))
        #expect(outcome.outages == [1: .seconds(4), 2: nil, 3: nil])
    }

    @Test func `once ended it begins anew`() {
        var ledger = ledger()
        ledger.interrupted(at: at(0))
        ledger.sent(level: 1, to: [0], at: at(0))
        _ = ledger.ended(at: at(9))
        #expect(ledger.ended(at: at(9)) == FleetLedger.Outcome())
    }
}
