/// `camera/<id>/instance` and `bridge/<id>/instance`: which running program has this id. Retained; published on every connect, and again in
/// answer to somebody else's.
public struct InstanceClaim: Codable, Equatable, Sendable {
    /// Random for each start.
    public var instance: String
    /// When it started.
    public var since: Timestamp
    public var v: Int

    public init(instance: String, since: Timestamp) {
        (self.instance, self.since, v) = (instance, since, schemaVersion)
    }

    /// Whether this one keeps the id where both run: the elder, whoever judges it.
    public func prevails(over other: InstanceClaim) -> Bool {
        (since, instance) < (other.since, other.instance)
    }
}
