internal import Synchronization

/// The numbers that a program tells of itself, rendered in Prometheus' text format.
///
/// Metrics are made once, at the program's start, and then changed from any thread. Names are `handkit_<what>_<unit>` in base units
/// (seconds, bytes), counters end in `_total`, as Prometheus' naming rules want it.
public final class Metrics: Sendable {
    /// A label's name and value.
    public typealias Labels = KeyValuePairs<String, String>

    /// What ``text()`` is, for the `Content-Type` header.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private enum Kind: String {
        case counter, gauge, histogram
    }

    private struct Family {
        let name: String
        let help: String
        let kind: Kind
        var samples: [(labels: String, lines: @Sendable (_ name: String, _ labels: String) -> String)] = []
    }

    private let families = Mutex<[Family]>([])

    public init() {}

    /// A number that only grows.
    public func counter(_ name: String, _ help: String, _ labels: Labels = [:]) -> Counter {
        precondition(name.hasSuffix("_total"), "the name of a counter ends in _total")
        let counter = Counter()
        add(name, help, .counter, labels) { "\($0)\($1) \(counter.value)\n" }
        return counter
    }

    /// A number kept elsewhere that only grows.
    public func counter(_ name: String, _ help: String, _ labels: Labels = [:], read: @escaping @Sendable () -> Double) {
        precondition(name.hasSuffix("_total"), "the name of a counter ends in _total")
        add(name, help, .counter, labels) { "\($0)\($1) \(number(read()))\n" }
    }

    /// A number that goes up and down.
    public func gauge(_ name: String, _ help: String, _ labels: Labels = [:]) -> Gauge {
        let gauge = Gauge()
        add(name, help, .gauge, labels) { "\($0)\($1) \(number(gauge.value))\n" }
        return gauge
    }

    /// A number that is looked at only when somebody asks.
    public func gauge(_ name: String, _ help: String, _ labels: Labels = [:], read: @escaping @Sendable () -> Double) {
        add(name, help, .gauge, labels) { "\($0)\($1) \(number(read()))\n" }
    }

    /// How often values fell below each of some bounds.
    /// - Parameter bounds: Rising; one above all is always there.
    public func histogram(_ name: String, _ help: String, bounds: [Double], _ labels: Labels = [:]) -> Histogram {
        let histogram = Histogram(bounds: bounds)
        add(name, help, .histogram, labels) { histogram.lines(name: $0, labels: $1) }
        return histogram
    }

    /// Everything, as Prometheus scrapes it.
    public func text() -> String {
        families.withLock { $0 }.map { family in
            "# HELP \(family.name) \(escaped(family.help, quotes: false))\n# TYPE \(family.name) \(family.kind.rawValue)\n"
                + family.samples.map { $0.lines(family.name, $0.labels) }.joined()
        }.joined()
    }

    private func add(
        _ name: String, _ help: String, _ kind: Kind, _ labels: Labels, _ lines: @escaping @Sendable (String, String) -> String
    ) {
        precondition(isMetricName(name) && labels.allSatisfy { isMetricName($0.key) }, "'\(name)' or one of its labels is no metric name")
        let pairs = labels.map { "\($0.key)=\"\(escaped($0.value, quotes: true))\"" }.joined(separator: ",")
        let text = pairs.isEmpty ? "" : "{\(pairs)}"
        families.withLock { families in
            if let index = families.firstIndex(where: { $0.name == name }) {
                precondition(families[index].kind == kind, "'\(name)' is made as two kinds of metric")
                precondition(!families[index].samples.contains { $0.labels == text }, "'\(name)\(text)' is made twice")
                families[index].samples.append((text, lines))
            } else {
                families.append(Family(name: name, help: help, kind: kind, samples: [(text, lines)]))
            }
        }
    }
}

extension Metrics {
    public final class Counter: Sendable {
        private let count = Atomic<UInt64>(0)

        public var value: UInt64 { count.load(ordering: .relaxed) }

        public func add(_ more: Int = 1) { count.add(UInt64(max(0, more)), ordering: .relaxed) }
    }

    public final class Gauge: Sendable {
        private let bits = Atomic<UInt64>(0)

        public var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

        public func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
        public func set(_ value: Bool) { set(value ? 1 : 0) }
    }

    public final class Histogram: Sendable {
        private struct State {
            var counts: [UInt64]
            var sum = 0.0
        }

        private let bounds: [Double]
        private let state: Mutex<State>

        init(bounds: [Double]) {
            precondition(!bounds.isEmpty && zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "the bounds of a histogram rise")
            self.bounds = bounds
            state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
        }

        /// A value that is no number is left out.
        public func observe(_ value: Double) {
            guard value.isFinite else { return }
            let index = bounds.firstIndex { value <= $0 } ?? bounds.count
            state.withLock { state in
                state.counts[index] += 1
                state.sum += value
            }
        }

        fileprivate func lines(name: String, labels: String) -> String {
            let state = state.withLock { $0 }
            let lead = labels.isEmpty ? "{" : labels.dropLast() + ","
            var (text, total) = ("", UInt64(0))
            for (bound, count) in zip(bounds.map(number) + ["+Inf"], state.counts) {
                total += count
                text += "\(name)_bucket\(lead)le=\"\(bound)\"} \(total)\n"
            }
            return text + "\(name)_sum\(labels) \(number(state.sum))\n\(name)_count\(labels) \(total)\n"
        }
    }
}

private func isMetricName(_ name: String) -> Bool {
    guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
    return name.utf8.allSatisfy {
        $0 == UInt8(ascii: "_") || (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
    }
}

private func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    return value.shortest
}

private func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\\": escaped += "\\\\"
        case "\n": escaped += "\\n"
        case "\"" where quotes: escaped += "\\\""
        default: escaped.unicodeScalars.append(scalar)
        }
    }
    return escaped
}
