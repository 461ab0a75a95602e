import FoundationEssentials
import Glibc
import ServiceKit
import TestSupport
import Testing

private actor Worker {
    private let executor: ThreadExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private var order: [Int] = []

    init(name: String) { executor = ThreadExecutor(name: name) }

    func note(_ number: Int) { order.append(number) }
    func noted() -> [Int] { order }
    func thread() -> (id: pid_t, name: String) { (currentThread(), threadName(currentThread())) }
    nonisolated func checkedFromInside() async -> Bool { await isInside() }
    private func isInside() -> Bool { assumeIsolated { _ in true } }
    func block(until condition: @Sendable () -> Bool) { while !condition() { usleep(1000) } }
}

/// The kernel's id of the calling thread: `/proc/thread-self` leads to `<process>/task/<thread>`.
private func currentThread() -> pid_t {
    var target = [CChar](repeating: 0, count: 64)
    let count = readlink("/proc/thread-self", &target, target.count)
    let text = String(decoding: target.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return text.split(separator: "/").last.flatMap { pid_t($0) } ?? -1
}

private func threadName(_ id: pid_t) -> String {
    let bytes = (try? readFile("/proc/self/task/\(id)/comm", limit: 64)) ?? []
    return String(decoding: bytes.dropLast(), as: UTF8.self)
}

struct ThreadExecutorTests {
    @Test func `jobs run on one thread of the given name, cut to what Linux keeps`() async {
        let worker = Worker(name: "a-long-capture-name")
        let first = await worker.thread()
        await Task.yield()
        let second = await worker.thread()
        #expect(first.id == second.id)
        #expect(first.name == "a-long-capture-")
        #expect(first.id != getpid())
    }

    @Test func `jobs run in the order they were handed over`() async {
        let worker = Worker(name: "order")
        for number in 0..<500 { await worker.note(number) }
        #expect(await worker.noted() == Array(0..<500))
    }

    @Test func `a blocked executor leaves the pool and other executors alone`() async {
        let (blocked, free) = (Worker(name: "blocked"), Worker(name: "free"))
        let mailbox = Mailbox<Int>()
        let isOver = Flag()
        async let blocking: Void = blocked.block { isOver.isSet }
        // More of these than the pool has threads would stall what follows if they ran there.
        let others = (0..<8).map { _ in Worker(name: "other") }
        await withTaskGroup(of: Void.self) { group in
            for other in others { group.addTask { await other.block { isOver.isSet } } }
            group.addTask {
                await free.note(1)
                mailbox.put(await free.noted().count)
                #expect(await mailbox.take() == 1)
                isOver.set()
            }
        }
        await blocking
    }

    @Test func `code on the thread is seen as isolated`() async {
        #expect(await Worker(name: "isolated").checkedFromInside())
    }

    @Test func `the thread ends when the executor is released`() async throws {
        var worker: Worker? = Worker(name: "released")
        let id = try #require(await worker?.thread().id)
        worker = nil
        try await eventually("the thread ended") { !Paths.exists("/proc/self/task/\(id)") }
    }

    @Test func `what was handed over before the release still runs`() async {
        let seen = await Task { await Worker(name: "last").thread().name }.value
        #expect(seen == "last")
    }
}
