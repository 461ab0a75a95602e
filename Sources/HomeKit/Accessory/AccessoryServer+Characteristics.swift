extension AccessoryServer {
    mutating func prepare(_ request: AccessoryRequest, _ connection: Connection, _ now: Duration) -> AccessoryResponse {
        guard let json = try? JSON(parsing: request.body), let ttl = json["ttl"]?.uint64, let id = json["pid"]?.uint64 else {
            return .refusal(400, .invalidValue)
        }
        peers[connection]?.prepared = (id, now + .milliseconds(Int64(min(ttl, 60_000))))
        return .json("{\"status\":0}")
    }

    func read(_ request: AccessoryRequest, _ connection: Connection) -> AccessoryResponse {
        var ids: [CharacteristicID] = []
        for item in (request.query["id"] ?? "").split(separator: ",", omittingEmptySubsequences: false) {
            let parts = item.split(separator: ".", omittingEmptySubsequences: false).map { UInt64($0) }
            guard parts.count == 2, let accessory = parts[0], let instance = parts[1] else { return .refusal(400, .invalidValue) }
            ids.append(CharacteristicID(accessory: accessory, instance: instance))
        }
        func wants(_ option: String) -> Bool { ["1", "true"].contains(request.query[option]) }
        let subscriptions = peers[connection]?.subscriptions ?? []

        var items: [(fields: [String], status: HAPStatus)] = []
        for id in ids {
            var fields = ["\"aid\":\(id.accessory)", "\"iid\":\(id.instance)"]
            guard let characteristic = database.characteristics[id] else {
                items.append((fields, .noSuchResource))
                continue
            }
            if wants("meta") { fields.append(characteristic.metadata) }
            if wants("perms") { fields.append(BulbDatabase.permissions(characteristic)) }
            if wants("type") { fields.append("\"type\":\"\(characteristic.type)\"") }
            if wants("ev") { fields.append("\"ev\":\(subscriptions.contains(id))") }
            let value = database.value(of: characteristic, bulbs)
            if let value { fields.append("\"value\":\(value)") }
            items.append((fields, value == nil ? .writeOnly : .success))
        }
        return Self.answer(items, statusAlways: items.contains { $0.status != .success })
    }

    private static func answer(_ items: [(fields: [String], status: HAPStatus)], statusAlways: Bool) -> AccessoryResponse {
        let list = items.map { fields, status in
            "{\((fields + (statusAlways ? ["\"status\":\(status.code)"] : [])).joined(separator: ","))}"
        }
        return .json("{\"characteristics\":[\(list.joined(separator: ","))]}", status: statusAlways ? 207 : 200)
    }

    mutating func write(
        _ request: AccessoryRequest, _ connection: Connection, _ now: Duration
    ) -> (AccessoryResponse, [Action]) {
        guard let json = try? JSON(parsing: request.body), let entries = json["characteristics"]?.array, !entries.isEmpty else {
            return (.refusal(400, .invalidValue), [])
        }
        var items: [WriteItem] = []
        for entry in entries {
            guard let item = WriteItem(entry) else { return (.refusal(400, .invalidValue), []) }
            items.append(item)
        }
        let prepared = peers[connection]?.prepared
        peers[connection]?.prepared = nil
        var isInTime = true
        if let id = json["pid"] { isInTime = prepared.map { $0.id == id.uint64 && now <= $0.until } ?? false }

        var statuses = [HAPStatus](repeating: .invalidValue, count: items.count)
        var actions: [Action] = []
        if isInTime {
            for index in items.indices { statuses[index] = check(items[index]) }
            actions = perform(items, &statuses, connection, now)
        }
        if statuses.allSatisfy({ $0 == .success }) { return (.status(204), actions) }
        let answers = zip(items, statuses).map { item, status in
            (fields: ["\"aid\":\(item.id.accessory)", "\"iid\":\(item.id.instance)"], status: status)
        }
        return (Self.answer(answers, statusAlways: true), actions)
    }

    /// One entry of a PUT.
    private struct WriteItem {
        var id: CharacteristicID
        var value: CharacteristicValue?
        var subscribes: Bool?
        var wantsResponse: Bool

        init?(_ json: JSON) {
            guard let accessory = json["aid"]?.uint64, let instance = json["iid"]?.uint64 else { return nil }
            id = CharacteristicID(accessory: accessory, instance: instance)
            if let value = json["value"] {
                guard let read = CharacteristicValue(json: value) else { return nil }
                self.value = read
            }
            func flag(_ name: String) -> Bool? { json[name].flatMap(CharacteristicValue.init(json:))?.bool }
            subscribes = flag("ev")
            wantsResponse = flag("r") ?? false
        }
    }

    /// What speaks against an entry before anything is done.
    private func check(_ item: WriteItem) -> HAPStatus {
        guard let characteristic = database.characteristics[item.id] else { return .noSuchResource }
        if item.subscribes != nil, !characteristic.permissions.contains("ev") { return .notificationNotSupported }
        guard let value = item.value else { return .success }
        guard characteristic.permissions.contains("pw") else { return .readOnly }
        // No characteristic here has write responses, and Apple's reference accessory calls that write-only.
        if item.wantsResponse { return .writeOnly }
        switch characteristic.role {
        case .identify, .on: return value.bool == nil ? .invalidValue : .success
        case .brightness:
            guard let level = Self.percentage(value), level.isMultiple(of: manners.traits.brightnessStep) else { return .invalidValue }
            return .success
        case .fixed: return .readOnly
        }
    }

    private static func percentage(_ value: CharacteristicValue) -> Int? {
        guard case let number? = value.number, let whole = Int(exactly: number), (0...100).contains(whole) else { return nil }
        return whole
    }

    /// Does what was found right; what the bulbs refuse goes into the statuses.
    private mutating func perform(
        _ items: [WriteItem], _ statuses: inout [HAPStatus], _ connection: Connection, _ now: Duration
    ) -> [Action] {
        var actions: [Action] = []
        var changes: [Int: BulbChange] = [:]
        var places: [Int: (on: [Int], brightness: [Int])] = [:]
        for (index, item) in items.enumerated() where statuses[index] == .success {
            if let subscribes = item.subscribes { subscribe(subscribes, item.id, connection) }
            guard let value = item.value else { continue }
            switch database.characteristics[item.id]?.role {
            case .identify where value.bool == true: actions.append(.report(.identify))
            case .on(let bulb):
                changes[bulb, default: BulbChange()].on = value.bool
                places[bulb, default: ([], [])].on.append(index)
            case .brightness(let bulb):
                changes[bulb, default: BulbChange()].brightness = Self.percentage(value)
                places[bulb, default: ([], [])].brightness.append(index)
            default: break
            }
        }
        for (bulb, change) in changes.sorted(by: { $0.key < $1.key }) {
            let outcome = manners.settle(change, bulbs[bulb])
            for index in places[bulb]?.on ?? [] { statuses[index] = outcome.onStatus }
            for index in places[bulb]?.brightness ?? [] { statuses[index] = outcome.brightnessStatus }
            become(outcome.state, bulb: bulb, by: connection, now)
            if let (delay, change) = outcome.later { later.append((now + delay, bulb, change)) }
            actions.append(.report(.set(bulb: bulb, change, outcome.state, by: peers[connection]?.controller ?? "")))
        }
        return actions
    }

    private mutating func subscribe(_ subscribes: Bool, _ id: CharacteristicID, _ connection: Connection) {
        guard subscribes else {
            peers[connection]?.subscriptions.remove(id)
            peers[connection]?.pending.remove(id)
            return
        }
        if let limit = manners.traits.subscriptionLimit, peers[connection]?.subscriptions.count ?? 0 >= limit { return }
        peers[connection]?.subscriptions.insert(id)
    }

    /// A bulb is as `state` now: whoever has subscribed is to be told, except who did it.
    mutating func become(_ state: BulbState, bulb: Int, by writer: Connection?, _ now: Duration) {
        let changed = database.differences(of: bulb, bulbs[bulb], state)
        bulbs[bulb] = state
        guard !changed.isEmpty else { return }
        let traits = manners.traits
        for connection in peers.keys where connection != writer || traits.echoesEvents {
            let news = peers[connection]?.subscriptions.intersection(changed) ?? []
            guard !news.isEmpty, peers[connection]?.isClosing == false else { continue }
            peers[connection]?.pending.formUnion(news)
            if peers[connection]?.eventDue == nil { peers[connection]?.eventDue = now + traits.eventInterval }
        }
    }

    mutating func sendEvent(_ connection: Connection) -> [Action] {
        let ids = (peers[connection]?.pending ?? []).sorted { ($0.accessory, $0.instance) < ($1.accessory, $1.instance) }
        peers[connection]?.pending = []
        peers[connection]?.eventDue = nil
        let items = ids.compactMap { id -> String? in
            guard let characteristic = database.characteristics[id], let value = database.value(of: characteristic, bulbs) else {
                return nil
            }
            return "{\"aid\":\(id.accessory),\"iid\":\(id.instance),\"value\":\(value)}"
        }
        guard !items.isEmpty else { return [] }
        var event = AccessoryResponse.json("{\"characteristics\":[\(items.joined(separator: ","))]}")
        event.kind = .event
        return send(event, connection, for: nil)
    }
}
