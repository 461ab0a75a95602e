/// Who of two that ask for the same name at the same moment gives way: the one whose data comes first in order (RFC 6762, 8.2).
enum ProbeContest {
    enum Outcome: Equatable {
        case won
        case lost
        /// Both want to say the same, which is no conflict; one's own probe comes back like this too.
        case same
    }

    /// - Parameters: The records that each wants to have, of any order.
    static func outcome(ours: [DNSRecord], theirs: [DNSRecord]) -> Outcome {
        let (ours, theirs) = (sorted(ours), sorted(theirs))
        for (our, their) in zip(ours, theirs) where our != their { return precedes(our, their) ? .lost : .won }
        // Whoever has records left has the later data.
        return ours.count == theirs.count ? .same : ours.count < theirs.count ? .lost : .won
    }

    /// Type and uncompressed data, the form in which records are put in order.
    private struct Key: Equatable {
        var type: UInt16
        var data: [UInt8]
    }

    private static func sorted(_ records: [DNSRecord]) -> [Key] {
        records.map { Key(type: $0.type.rawValue, data: $0.value.uncompressed) }.sorted(by: precedes)
    }

    private static func precedes(_ left: Key, _ right: Key) -> Bool {
        left.type == right.type ? left.data.lexicographicallyPrecedes(right.data) : left.type < right.type
    }
}

extension DNSRecord.Value {
    /// The data as on the wire, with all names in full.
    fileprivate var uncompressed: [UInt8] {
        switch self {
        case .a(let bytes), .aaaa(let bytes), .other(_, let bytes): bytes
        case .ptr(let name): name.uncompressed
        case .srv(let priority, let weight, let port, let target):
            [priority, weight, port].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } + target.uncompressed
        case .txt(let strings): strings.flatMap { [UInt8($0.count)] + $0 }
        case .nsec(let next, let types): next.uncompressed + types.map { UInt8(truncatingIfNeeded: $0.rawValue) }.sorted()
        }
    }
}

extension DNSName {
    fileprivate var uncompressed: [UInt8] { labels.flatMap { [UInt8($0.count)] + $0 } + [0] }
}
