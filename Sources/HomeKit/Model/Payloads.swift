/// What an accessory reported about one characteristic.
public struct CharacteristicReading: Hashable, Sendable {
    public var id: CharacteristicID
    public var result: Result<CharacteristicValue, CharacteristicFailure>

    /// The value, nil where there was a failure.
    public var value: CharacteristicValue? { try? result.get() }

    /// Whether the accessory said nothing of it.
    public var isMissing: Bool { result == .failure(CharacteristicFailure(status: .notReported)) }
}

/// A characteristic that could not be read or written, with the accessory's reason.
public struct CharacteristicFailure: Error, Hashable, Sendable {
    public var status: HAPStatus

    public init(status: HAPStatus) { self.status = status }
}

/// One value to write.
public struct CharacteristicWrite: Hashable, Sendable {
    public var id: CharacteristicID
    public var value: CharacteristicValue
    /// Whether the answer is to hold the value that came of it; only for characteristics whose permissions have `wr`.
    public var wantsResponse: Bool

    public init(_ id: CharacteristicID, _ value: CharacteristicValue, wantsResponse: Bool = false) {
        self.id = id
        self.value = value
        self.wantsResponse = wantsResponse
    }
}

/// How the accessory took one write.
public struct CharacteristicWriteResult: Hashable, Sendable {
    public var id: CharacteristicID
    public var status: HAPStatus
    /// What came of it, where that was wanted.
    public var value: CharacteristicValue?
}

extension [Accessory] {
    /// Reads the body of `GET /accessories`; entries without what makes them usable are left out.
    package init(json body: [UInt8]) throws(HAPError) {
        guard let entries = try JSON(body: body, step: .accessories)["accessories"]?.array else {
            throw .malformed(.accessories, reason: "no list of accessories")
        }
        self = entries.compactMap(Accessory.init(json:))
    }
}

extension Accessory {
    fileprivate init?(json: JSON) {
        guard let id = json["aid"]?.uint64 else { return nil }
        self.id = id
        services = (json["services"]?.array ?? []).compactMap { Service(json: $0, accessory: id) }
    }
}

extension Accessory.Service {
    fileprivate init?(json: JSON, accessory: UInt64) {
        guard let type = json["type"]?.string else { return nil }
        instance = json["iid"]?.uint64 ?? 0
        self.type = HAPType(type)
        characteristics = (json["characteristics"]?.array ?? []).compactMap {
            Accessory.Characteristic(json: $0, accessory: accessory)
        }
    }
}

extension Accessory.Characteristic {
    fileprivate init?(json: JSON, accessory: UInt64) {
        guard let instance = json["iid"]?.uint64, let type = json["type"]?.string else { return nil }
        id = CharacteristicID(accessory: accessory, instance: instance)
        self.type = HAPType(type)
        permissions = Set((json["perms"]?.array ?? []).compactMap(\.string))
        format = json["format"]?.string
        unit = json["unit"]?.string
        minimum = json["minValue"]?.double
        maximum = json["maxValue"]?.double
        step = json["minStep"]?.double
        value = json["value"].flatMap(CharacteristicValue.init(json:))
    }
}

extension CharacteristicValue {
    init?(json: JSON) {
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .unsigned(let value): self = .unsigned(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(value)
        case .array, .object: return nil
        }
    }

    /// Compact JSON; truth values as 1 and 0, because some accessories acknowledge `true` and do nothing.
    var json: String {
        switch self {
        case .null: return "null"
        case .bool(let value): return value ? "1" : "0"
        case .integer(let value): return String(value)
        case .unsigned(let value): return String(value)
        case .number(let value): return value.isFinite ? String(value) : "null"
        case .string(let text):
            var json = "\""
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\"", "\\": json += "\\\(scalar)"
                case "\u{0}"..."\u{1F}":
                    let digits = String(scalar.value, radix: 16)
                    json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                default: json.unicodeScalars.append(scalar)
                }
            }
            return json + "\""
        }
    }
}

/// The bodies of `/characteristics`, in the compact form that even strict accessories take.
package enum CharacteristicsPayload {
    static func path(reading ids: [CharacteristicID]) -> String {
        "/characteristics?id=" + ids.map(\.description).joined(separator: ",")
    }

    /// - Parameter ticket: The number of a timed write.
    static func writing(_ writes: [CharacteristicWrite], ticket: UInt64? = nil) -> String {
        list(
            writes.map {
                "{\"aid\":\($0.id.accessory),\"iid\":\($0.id.instance),\"value\":\($0.value.json)\($0.wantsResponse ? ",\"r\":true" : "")}"
            },
            ticket)
    }

    static func subscribing(_ ids: [CharacteristicID]) -> String {
        list(ids.map { "{\"aid\":\($0.accessory),\"iid\":\($0.instance),\"ev\":true}" })
    }

    private static func list(_ items: [String], _ ticket: UInt64? = nil) -> String {
        "{\"characteristics\":[\(items.joined(separator: ","))]\(ticket.map { ",\"pid\":\($0)" } ?? "")}"
    }

    /// The readings in a GET's answer or an event, in the accessory's order; what cannot be told apart is left out.
    package static func readings(_ body: [UInt8], step: HAPStep) throws(HAPError) -> [CharacteristicReading] {
        try items(body, step: step).compactMap { item in
            guard let id = id(of: item) else { return nil }
            if let value = item["value"].flatMap(CharacteristicValue.init(json:)) {
                return CharacteristicReading(id: id, result: .success(value))
            }
            let status = status(of: item) ?? .notReported
            return CharacteristicReading(id: id, result: .failure(.init(status: status == .success ? .notReported : status)))
        }
    }

    /// The readings of an answer for exactly the characteristics asked for, in that order.
    static func readings(_ body: [UInt8], for ids: [CharacteristicID]) throws(HAPError) -> [CharacteristicReading] {
        if let status = try statusOfWhole(body, step: .read) {
            return ids.map { CharacteristicReading(id: $0, result: .failure(.init(status: status))) }
        }
        let found = Dictionary(try readings(body, step: .read).map { ($0.id, $0) }) { first, _ in first }
        return ids.map { found[$0] ?? CharacteristicReading(id: $0, result: .failure(.init(status: .notReported))) }
    }

    /// The statuses of an answer to a write for exactly the characteristics written, in that order.
    ///
    /// No body is success for all, and so is an object that has nothing to say; what a list leaves out was taken, since some accessories
    /// list nothing but what they refuse.
    package static func statuses(_ body: [UInt8], for ids: [CharacteristicID], step: HAPStep) throws(HAPError)
        -> [CharacteristicWriteResult]
    {
        if body.isEmpty { return ids.map { CharacteristicWriteResult(id: $0, status: .success) } }
        if let status = try statusOfWhole(body, step: step) {
            return ids.map { CharacteristicWriteResult(id: $0, status: status) }
        }
        if case .object(let members) = try JSON(body: body, step: step), members["characteristics"] == nil {
            return ids.map { CharacteristicWriteResult(id: $0, status: .success) }
        }
        var found: [CharacteristicID: CharacteristicWriteResult] = [:]
        for item in try items(body, step: step) {
            guard let id = id(of: item), found[id] == nil else { continue }
            let status = item["status"] == nil ? .success : status(of: item) ?? .notReported
            found[id] = CharacteristicWriteResult(id: id, status: status, value: item["value"].flatMap(CharacteristicValue.init(json:)))
        }
        return ids.map { found[$0] ?? CharacteristicWriteResult(id: $0, status: .success) }
    }

    /// The status some accessories give in place of a list.
    static func statusOfWhole(_ body: [UInt8], step: HAPStep) throws(HAPError) -> HAPStatus? {
        let json = try JSON(body: body, step: step)
        guard json["characteristics"] == nil else { return nil }
        return json["status"]?.int64.map(HAPStatus.init(code:))
    }

    private static func items(_ body: [UInt8], step: HAPStep) throws(HAPError) -> [JSON] {
        guard let items = try JSON(body: body, step: step)["characteristics"]?.array else {
            throw .malformed(step, reason: "no list of characteristics")
        }
        return items
    }

    private static func id(of item: JSON) -> CharacteristicID? {
        guard let accessory = item["aid"]?.uint64, let instance = item["iid"]?.uint64 else { return nil }
        return CharacteristicID(accessory: accessory, instance: instance)
    }

    private static func status(of item: JSON) -> HAPStatus? { item["status"]?.int64.map(HAPStatus.init(code:)) }
}

extension JSON {
    init(body: [UInt8], step: HAPStep) throws(HAPError) {
        do { self = try JSON(parsing: body) } catch { throw .malformed(step, reason: "JSON breaks off at byte \(error.offset)") }
    }
}
