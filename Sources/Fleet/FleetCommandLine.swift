public import Settings

/// What somebody wrote behind an option, and why it cannot be taken.
public struct FleetOptionFault: Error, Equatable, CustomStringConvertible {
    public let option: String
    public let text: String
    public let expected: String

    public var description: String { "--\(option): '\(text)' is not valid; it has to be \(expected)" }
}

/// `1,10,100`: each from 1 to 10,000.
public func fleetCounts(_ text: String, option: String) throws(FleetOptionFault) -> [Int] {
    try items(text, option: option, expected: "whole numbers from 1 to 10000, separated by commas") { item in
        Int(item).flatMap { (1...10_000).contains($0) ? $0 : nil }
    }
}

/// `host:port,host:port`: the nodes of a broker.
public func fleetBrokers(_ text: String, option: String) throws(FleetOptionFault) -> [HostAndPort] {
    try items(text, option: option, expected: "HOST:PORT, separated by commas") { HostAndPort($0) }
}

/// `123,456`: processes.
public func fleetProcesses(_ text: String, option: String) throws(FleetOptionFault) -> [Int32] {
    try items(text, option: option, expected: "process ids, separated by commas") { item in Int32(item).flatMap { $0 > 0 ? $0 : nil } }
}

private func items<Item>(
    _ text: String, option: String, expected: String, _ parse: (String) -> Item?
) throws(FleetOptionFault) -> [Item] {
    var items: [Item] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
        guard let item = parse(String(part)) else { throw FleetOptionFault(option: option, text: text, expected: expected) }
        items.append(item)
    }
    return items
}

extension [HostAndPort] {
    /// The same nodes, beginning with another one: so clients are spread over all of them.
    public func rotated(by count: Int) -> [HostAndPort] {
        isEmpty ? [] : Array(self[(count % self.count)...] + self[..<(count % self.count)])
    }
}
