public import Contract
public import Settings

/// Which lamps are driven and by which cameras.
public struct BridgePlan: Sendable {
    public private(set) var lamps: [Settings.Lamp]
    public private(set) var routes: [Identifier: [Identifier]] = [:]
    /// Lamps that switch together.
    public private(set) var groups: [[Identifier]]
    /// Names of pairings that cannot stand in topics.
    public private(set) var unusable: [String] = []

    /// The configured lamps and routes; where no lamp is configured, every pairing is one, driven by the configured camera.
    public init(_ settings: Settings, pairings: [String]) {
        lamps = settings.lamps
        groups = settings.groups.map(\.lamps)
        var configured = settings.routes
        if lamps.isEmpty {
            for name in pairings.sorted() {
                if let id = try? Identifier(name) { lamps.append(Settings.Lamp(id: id)) } else { unusable.append(name) }
            }
            if !lamps.isEmpty { configured = [Settings.Route(camera: settings.camera.id, lamps: lamps.map(\.id))] }
        }
        for route in configured {
            let known = routes[route.camera, default: []]
            routes[route.camera] = known + route.lamps.filter { !known.contains($0) }
        }
    }
}
