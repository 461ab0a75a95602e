import Testing

@testable import Bridge

@Suite struct `Time that commands take` {
    private let start = ContinuousClock.now

    @Test func `it counts from a command's acceptance to its end`() {
        var awaited = AwaitedCommands()
        awaited.accepted(.toggle, at: start)
        awaited.accepted(.power(true), at: start + .seconds(1))
        #expect(awaited.done(.toggle, at: start + .seconds(3)) == .seconds(3))
        #expect(awaited.done(.power(true), at: start + .seconds(3)) == .seconds(2))
        #expect(awaited.done(.power(true), at: start + .seconds(4)) == nil)
    }

    @Test func `a level that replaced another counts from its own acceptance`() {
        var awaited = AwaitedCommands()
        awaited.accepted(.level(10), at: start)
        awaited.accepted(.level(20), at: start + .seconds(1))
        #expect(awaited.done(.level(20), at: start + .seconds(2)) == .seconds(1))
    }

    @Test func `a level that was on the wire when the next came counts as well`() {
        var awaited = AwaitedCommands()
        awaited.accepted(.level(10), at: start)
        awaited.accepted(.level(20), at: start + .seconds(1))
        #expect(awaited.done(.level(10), at: start + .seconds(2)) == .seconds(2))
        #expect(awaited.done(.level(20), at: start + .seconds(3)) == .seconds(2))
    }

    @Test func `what was dropped is forgotten, and what never ends does not pile up`() {
        var awaited = AwaitedCommands()
        awaited.accepted(.toggle, at: start)
        awaited.dropped(.toggle)
        #expect(awaited.done(.toggle, at: start) == nil)
        for second in 0..<1000 { awaited.accepted(second.isMultiple(of: 2) ? .toggle : .identify, at: start + .seconds(second)) }
        #expect(awaited.done(.toggle, at: start + .seconds(1000)).map { $0 <= .seconds(64) } == true)
    }
}
