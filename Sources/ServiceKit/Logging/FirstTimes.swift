/// Tells what is new from what was said before, for a log that says each thing once.
///
/// Bounded, as texts may hold what somebody sends: beyond the capacity nothing is new any more.
public struct FirstTimes: Sendable {
    private let capacity: Int
    private var seen: Set<String> = []

    public init(capacity: Int) { self.capacity = capacity }

    public mutating func isFirst(_ text: String) -> Bool { seen.count < capacity && seen.insert(text).inserted }
}
