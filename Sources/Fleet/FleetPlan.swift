/// Which camera moves which lamp, and which bridge drives it.
///
/// Cameras take the lamps in turn, so that each has as many; a bridge has a row of neighbours. A camera's lamps are so on all bridges, which
/// is more work for the broker than a house would make.
public struct FleetPlan: Hashable, Sendable {
    public let lamps: Int
    public let cameras: Int
    public let bridges: Int

    /// - Parameters: at least one of each; a camera or bridge that would have no lamp is left out.
    public init(lamps: Int, cameras: Int, bridges: Int) {
        self.lamps = max(1, lamps)
        self.cameras = min(max(1, cameras), self.lamps)
        self.bridges = min(max(1, bridges), self.lamps)
    }

    /// Every number of lamps with every number of cameras, without cameras that have no lamp.
    public static func all(lamps: [Int], cameras: [Int], bridges: Int) -> [FleetPlan] {
        lamps.flatMap { lamps in
            cameras.filter { $0 <= lamps }.map { FleetPlan(lamps: lamps, cameras: $0, bridges: bridges) }
        }
    }

    public func camera(of lamp: Int) -> Int { lamp % cameras }
    public func bridge(of lamp: Int) -> Int { lamp * bridges / lamps }

    public func lamps(of camera: Int) -> [Int] { Array(stride(from: camera, to: lamps, by: cameras)) }
    public func lamps(drivenBy bridge: Int) -> [Int] { (0..<lamps).filter { self.bridge(of: $0) == bridge } }

    /// How many lamps each event of all cameras together is to move.
    public var fanOut: Double { Double(lamps) / Double(cameras) }
}
