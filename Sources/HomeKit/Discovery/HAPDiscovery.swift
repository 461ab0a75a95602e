internal import MDNS
internal import Synchronization

/// Knows the accessories on the network as long as ``run()`` runs, and wakes those who wait for one.
public final class HAPDiscovery: Sendable {
    /// Why nothing can be looked for.
    public struct Failure: Error, Equatable, Sendable {
        public var call: String
        public var errno: Int32
    }

    private struct State {
        /// By instance name, with the turn in which each was last heard.
        var services: [String: (service: HAPService, turn: UInt64)] = [:]
        var lastTurn: UInt64 = 0
        var waiters: [UInt64: Waiter] = [:]
        var lastWaiter: UInt64 = 0
    }

    private struct Waiter {
        /// Upper case; nil for whatever comes.
        var id: String?
        var continuation: CheckedContinuation<Void, Never>
    }

    private let browser: Browser
    private let state = Mutex(State())

    public init() throws(Failure) {
        guard let type = HAPService.type else { preconditionFailure("the type is a name") }
        do throws(MDNSFailure) {
            browser = try Browser(type: type)
        } catch {
            throw Failure(call: error.call, errno: error.errno)
        }
    }

    /// Looks until the task is cancelled.
    public func run() async {
        await withTaskGroup { group in
            group.addTask { [browser] in await browser.run() }
            for await sighting in browser.sightings { seen(sighting) }
            await group.waitForAll()
        }
        wake { _ in true }
    }

    /// Asks the network at once.
    public func ask() async { await browser.ask() }

    /// All that is known now, by name.
    public var services: [HAPService] {
        state.withLock { $0.services.values.map(\.service) }.sorted { ($0.name, $0.id ?? "") < ($1.name, $1.id ?? "") }
    }

    /// The accessory of a pairing identifier, in whatever case. Where it has changed its name, the one last heard counts.
    public func service(id: String) -> HAPService? {
        state.withLock { $0.services.values.filter { $0.service.has(id: id) }.max { $0.turn < $1.turn }?.service }
    }

    /// Waits until an accessory has come, has changed or has spoken to everybody, or the task is cancelled.
    /// - Parameter id: Nil for any accessory.
    public func sighting(of id: String?) async {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiters[number] = Waiter(id: id.flatMap(HAPService.identifier), continuation: continuation) }
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func cancel(_ number: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume()
    }

    private func seen(_ sighting: ServiceSighting) {
        switch sighting {
        case .changed(let browsed), .alive(let browsed):
            let service = HAPService(browsed, networks: LocalNetwork.all())
            state.withLock { state in
                state.lastTurn += 1
                state.services[browsed.instance] = (service, state.lastTurn)
            }
            wake { $0.id == nil || $0.id == service.id }
        case .gone(let instance):
            state.withLock { _ = $0.services.removeValue(forKey: instance) }
        }
    }

    private func wake(_ isMeant: (Waiter) -> Bool) {
        let woken = state.withLock { state in
            let meant = state.waiters.filter { isMeant($0.value) }
            for number in meant.keys { state.waiters[number] = nil }
            return meant
        }
        for waiter in woken.values { waiter.continuation.resume() }
    }
}
