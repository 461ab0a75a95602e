internal import Contract
internal import FoundationEssentials

/// A report as Sentry wants it: an envelope with one event.
///
/// The form is that of Sentry's developer documentation: *Envelopes* and *Event payloads*.
struct SentryEvent: Encodable {
    /// What a Sentry takes at most for an event is 1 MiB; these are far below.
    static let largest = 256 * 1024

    let report: CrashReport
    let environment: String
    /// What the machine is called; nil for not telling.
    let host: String?
    let kernel: String?

    static func client(_ version: String) -> String { "handkit/\(version)" }

    /// The envelope: a header, and an item with its own.
    func envelope(at now: Timestamp) -> [UInt8] {
        struct Header: Encodable {
            var event_id: String
            var sent_at: Timestamp
        }
        struct Item: Encodable {
            let type = "event"
            let content_type = "application/json"
            var length: Int
        }
        let event = Payload.encode(self)
        let header = Payload.encode(Header(event_id: report.id, sent_at: now))
        let line = UInt8(ascii: "\n")
        return header + [line] + Payload.encode(Item(length: event.count)) + [line] + event + [line]
    }

    func encode(to encoder: any Encoder) throws {
        var event = encoder.container(keyedBy: Key.self)
        try event.encode(report.id, forKey: "event_id")
        try event.encode(Timestamp(millisecondsSinceEpoch: report.time), forKey: "timestamp")
        try event.encode("native", forKey: "platform")
        try event.encode("fatal", forKey: "level")
        try event.encode("handkit@\(report.version)", forKey: "release")
        try event.encode(String(report.build.prefix(64)), forKey: "dist")
        try event.encode(environment, forKey: "environment")
        try event.encodeIfPresent(host, forKey: "server_name")
        try event.encode(["program": report.program, "signal": report.signal], forKey: "tags")
        try event.encode(["uptime_s": report.uptime, "dropped_before": Double(report.dropped)], forKey: "extra")
        try encodeException(&event)
        try encodeImages(&event)
        try encodeStates(&event)
        try encodeContexts(&event)
    }

    private func encodeException(_ event: inout KeyedEncodingContainer<Key>) throws {
        var exceptions = event.list("exception", "values")
        var exception = exceptions.nestedContainer(keyedBy: Key.self)
        try exception.encode(report.signal, forKey: "type")
        try exception.encode(report.message ?? report.summary, forKey: "value")
        var mechanism = exception.nested("mechanism")
        try mechanism.encode("signalhandler", forKey: "type")
        try mechanism.encode(false, forKey: "handled")
        try mechanism.encode(true, forKey: "synthetic")
        var meta = mechanism.nested("meta")
        var signal = meta.nested("signal")
        try signal.encode(report.number, forKey: "number")
        try signal.encode(report.code, forKey: "code")
        try signal.encode(report.signal, forKey: "name")
        var trace = exception.nested("stacktrace")
        var frames = trace.nestedUnkeyedContainer(forKey: "frames")
        // The outermost first.
        for frame in report.frames.reversed() {
            var entry = frames.nestedContainer(keyedBy: Key.self)
            try entry.encode(frame.address, forKey: "instruction_addr")
            try entry.encodeIfPresent(frame.function, forKey: "function")
            try entry.encodeIfPresent(frame.file, forKey: "filename")
            try entry.encodeIfPresent(frame.line, forKey: "lineno")
            try entry.encodeIfPresent(frame.image, forKey: "package")
            try entry.encode(frame.isOwn, forKey: "in_app")
        }
    }

    private func encodeImages(_ event: inout KeyedEncodingContainer<Key>) throws {
        var images = event.list("debug_meta", "images")
        for image in report.images {
            guard let build = image.build, let id = Self.debugID(build) else { continue }
            var entry = images.nestedContainer(keyedBy: Key.self)
            try entry.encode("elf", forKey: "type")
            try entry.encode(build, forKey: "code_id")
            try entry.encode(id, forKey: "debug_id")
            try entry.encode(image.name, forKey: "code_file")
            try entry.encode(image.base, forKey: "image_addr")
            try entry.encode(image.size, forKey: "image_size")
            try entry.encode(report.architecture, forKey: "arch")
        }
    }

    private func encodeStates(_ event: inout KeyedEncodingContainer<Key>) throws {
        var states = event.list("breadcrumbs", "values")
        for state in report.states {
            var entry = states.nestedContainer(keyedBy: Key.self)
            try entry.encode(Timestamp(millisecondsSinceEpoch: state.time), forKey: "timestamp")
            try entry.encode("state", forKey: "category")
            try entry.encode(state.name, forKey: "message")
        }
    }

    private func encodeContexts(_ event: inout KeyedEncodingContainer<Key>) throws {
        var contexts = event.nested("contexts")
        var system = contexts.nested("os")
        try system.encode("Linux", forKey: "name")
        try system.encodeIfPresent(kernel, forKey: "kernel_version")
        var device = contexts.nested("device")
        try device.encode(report.architecture, forKey: "arch")
        var app = contexts.nested("app")
        try app.encode(report.program, forKey: "app_name")
        try app.encode(report.version, forKey: "app_version")
        try app.encode(Timestamp(millisecondsSinceEpoch: report.started), forKey: "app_start_time")
    }

    /// The first 16 bytes of a build id as a GUID, whose first three fields are of the lower byte first.
    static func debugID(_ build: String) -> String? {
        guard build.count >= 32, build.allSatisfy(\.isHexDigit) else { return nil }
        let digits = Array(build.lowercased())
        let order = [3, 2, 1, 0, 5, 4, 7, 6] + Array(8..<16)
        let bytes = order.map { String(digits[2 * $0..<2 * $0 + 2]) }
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { bytes[$0].joined() }.joined(separator: "-")
    }

    fileprivate struct Key: CodingKey, ExpressibleByStringLiteral {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringLiteral value: String) { stringValue = value }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension KeyedEncodingContainer<SentryEvent.Key> {
    fileprivate mutating func nested(_ key: SentryEvent.Key) -> Self { nestedContainer(keyedBy: SentryEvent.Key.self, forKey: key) }

    /// The list alone in an object of its own.
    fileprivate mutating func list(_ object: SentryEvent.Key, _ key: SentryEvent.Key) -> any UnkeyedEncodingContainer {
        var container = nested(object)
        return container.nestedUnkeyedContainer(forKey: key)
    }
}
