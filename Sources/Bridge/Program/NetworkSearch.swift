import HomeKit

/// A look at the network, for a while.
enum NetworkSearch {
    /// Questions go out at 0, 1 and 3 s.
    static let patience = Duration.milliseconds(3500)

    /// Looks until `choose` finds what it wants, or for `duration`.
    /// - Returns: What was chosen, nil where it was not there; and all that was seen.
    static func find<Found: Sendable>(
        for duration: Duration = patience, _ choose: ([HAPService]) -> Found?
    ) async throws(BridgeFailure) -> (found: Found?, seen: [HAPService]) {
        let discovery: HAPDiscovery
        do throws(HAPDiscovery.Failure) { discovery = try HAPDiscovery() } catch { throw .noNetwork(error) }
        let running = Task { await discovery.run() }
        defer { running.cancel() }
        let end = ContinuousClock.now + duration
        while true {
            let services = discovery.services
            if let found = choose(services) { return (found, services) }
            guard ContinuousClock.now < end, !Task.isCancelled else { return (nil, services) }
            await withTaskGroup { group in
                group.addTask { await discovery.sighting(of: nil) }
                group.addTask { try? await Task.sleep(until: end, clock: .continuous) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    /// Where an accessory is now; empty where it was not found.
    static func addresses(of accessoryID: String) async -> [HAPAddress] {
        let search = try? await find { services in services.first { $0.has(id: accessoryID) } }
        return search?.found?.addresses ?? []
    }
}

extension HAPService {
    /// The categories of HAP-R2, 13 that have to do with light and with gateways; others by their number.
    var categoryName: String {
        switch category {
        case 1: "other"
        case 2: "bridge"
        case 5: "light bulb"
        case 7: "outlet"
        case 8: "switch"
        case let number?: "category \(number)"
        case nil: "-"
        }
    }
}
