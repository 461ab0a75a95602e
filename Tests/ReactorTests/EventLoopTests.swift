import Glibc
import Reactor
import Synchronization
import TestSupport
import Testing

@Suite struct `Event loop` {
    private actor Counter {
        let loop: EventLoop
        private(set) var count = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(_ loop: EventLoop) { self.loop = loop }

        func add() { count += 1 }
        nonisolated func isHere() -> Bool { loop.isIsolatingCurrentContext() == true }
        func isWithin() -> Bool { isHere() }
    }

    private final class Pipe: Sendable {
        let (reading, writing): (Int32, Int32)

        init() {
            var ends: [Int32] = [0, 0]
            precondition(pipe(&ends) == 0)
            (reading, writing) = (ends[0], ends[1])
        }

        deinit {
            close(reading)
            close(writing)
        }

        func put() { write(writing, "x", 1) }

        func take() {
            var byte: UInt8 = 0
            read(reading, &byte, 1)
        }
    }

    @Test func `an actor that names it runs on its thread, whoever calls`() async {
        let counter = Counter(EventLoop(name: "test"))
        #expect(!counter.isHere())
        #expect(await counter.isWithin())
        await withTaskGroup { group in
            for _ in 0..<1000 { group.addTask { await counter.add() } }
        }
        #expect(await counter.count == 1000)
    }

    @Test func `a task that prefers it runs there, with the tasks that it starts`() async {
        let loop = EventLoop(name: "test")
        let places = await withTaskExecutorPreference(loop) {
            await withTaskGroup(of: Bool?.self) { group in
                for _ in 0..<4 { group.addTask { loop.isIsolatingCurrentContext() } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(places == [true, true, true, true])
    }

    @Test func `whoever waits for a descriptor hears of each readiness until the watch goes`() async throws {
        let loop = EventLoop(name: "test")
        let pipe = Pipe()
        let count = Atomic(0)
        func heard() -> Int { count.load(ordering: .acquiring) }
        var watch: LoopWatch? = loop.whenReadable(pipe.reading, of: pipe) {
            pipe.take()
            count.add(1, ordering: .releasing)
        }
        for number in 1...3 {
            pipe.put()
            try await eventually("it was heard") { heard() == number }
        }
        withExtendedLifetime(watch) {}
        watch = nil
        pipe.put()
        // Whatever the loop had to say of the pipe would be said before this.
        await loop.sleep(until: .now + .milliseconds(20))
        #expect(heard() == 3)
    }

    @Test func `one descriptor has a reader and a writer that come and go by themselves`() async throws {
        let loop = EventLoop(name: "test")
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let (near, far) = (ends[0], ends[1])
        defer { [near, far].forEach { close($0) } }
        let reads = Atomic(0)
        let writes = Atomic(0)
        let reader = loop.whenReadable(near, of: 0) {
            var byte: UInt8 = 0
            recv(near, &byte, 1, 0)
            reads.add(1, ordering: .releasing)
        }
        var writer: LoopWatch? = loop.whenWritable(near, of: 0) { writes.add(1, ordering: .releasing) }
        try await eventually("there was room to write") { writes.load(ordering: .acquiring) > 0 }
        withExtendedLifetime(writer) {}
        writer = nil
        send(far, "x", 1, 0)
        try await eventually("the reader heard") { reads.load(ordering: .acquiring) == 1 }
        withExtendedLifetime(reader) {}
    }

    @Test func `timers ring in the order of their times, whatever order they were set in`() async throws {
        let loop = EventLoop(name: "test")
        let rung = Mutex<[Int]>([])
        let start = ContinuousClock.now + .milliseconds(5)
        let timers = [3, 1, 4, 2, 0].map { number in
            loop.timer(at: start + .milliseconds(number)) { rung.withLock { $0.append(number) } }
        }
        try await eventually("all rang") { rung.withLock { $0.count } == 5 }
        #expect(rung.withLock { $0 } == [0, 1, 2, 3, 4])
        withExtendedLifetime(timers) {}
    }

    @Test func `a timer that was let go never rings`() async {
        let loop = EventLoop(name: "test")
        let rung = Atomic(false)
        var timer: LoopTimer? = loop.timer(at: .now + .milliseconds(5)) { rung.store(true, ordering: .releasing) }
        withExtendedLifetime(timer) {}
        timer = nil
        await loop.sleep(until: .now + .milliseconds(20))
        let hasRung = rung.load(ordering: .acquiring)
        #expect(!hasRung)
    }

    @Test func `a cancelled task does not sleep on`() async {
        let loop = EventLoop(name: "test")
        let sleeper = Task { await loop.sleep(until: .now + .seconds(3600)) }
        sleeper.cancel()
        await sleeper.value
    }

    @Test func `a cancelled task wakes from the middle of its sleep`() async throws {
        let loop = EventLoop(name: "test")
        let isAsleep = Atomic(false)
        let sleeper = Task(executorPreference: loop) {
            isAsleep.store(true, ordering: .releasing)
            await loop.sleep(until: .now + .seconds(3600))
        }
        try await eventually("it sleeps") { isAsleep.load(ordering: .acquiring) }
        sleeper.cancel()
        await sleeper.value
    }
}
