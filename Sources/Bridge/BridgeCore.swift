public import Contract
public import HomeAssistant
internal import ServiceKit

/// What the bridge makes of messages and of what its lamps do; pure: time is an argument, actions come out.
///
/// A toggle of a camera with several lamps inverts each of them by itself, but those of a group together: the first of them that answers
/// leads, and when it has switched the others follow. The camera's target is that of the first lamp of its route
/// that answers.
public struct BridgeCore: Sendable {
    public enum Input: Equatable, Sendable {
        case message(topic: String, payload: [UInt8], retained: Bool)
        case request(RequestMessage, retained: Bool)
        /// A session with the broker began.
        case connected
        case disconnected
        /// More messages came than could be read, and so many were dropped.
        case overrun(count: Int)
        /// The message of this topic could not be handed over.
        case unsent(topic: String)
        case lamp(Identifier, LampNews)
        /// `deadline` has come.
        case wake
        /// The bridge ends: nobody will know how the lamps are. That the bridge itself is gone is the farewell's to say.
        case stopping
    }

    public enum LampNews: Equatable, Sendable {
        /// It answers, and is so.
        case state(LampValues)
        /// It does not answer any more, or not yet.
        case trouble(LampStatus)
        /// It was toggled for a camera and is on now, or off.
        case toggled(on: Bool, camera: Identifier)
        case dropped(LampCommand, Rejection)
        /// What was requested under this number is done, or is not going to be.
        case answered(request: Int, error: String?)
    }

    public enum Action: Equatable, Sendable {
        case publish(Publications.Message)
        case respond(ResponseMessage)
        /// Read the lamp again.
        case refresh(lamp: Identifier)
        /// - Parameter expires: when it is too late; nil for what the lamp's queue keeps as long as it likes.
        case command(LampCommand, lamp: Identifier, origin: CommandOrigin, expires: ContinuousClock.Instant?)
        /// A message was left alone.
        /// - Parameter isFirst: whether it is the first of this topic for this reason.
        case rejected(Rejection, topic: String, detail: String?, isFirst: Bool)
    }

    public struct Layout: Sendable {
        public var bridge: Identifier
        public var topics: Topics
        /// In the order of the configuration.
        public var lamps: [Identifier]
        /// The lamps of each camera, the first of them its lead.
        public var routes: [Identifier: [Identifier]]
        /// Lamps that a toggle switches together.
        public var groups: [[Identifier]] = []
        /// What bridge and lamps are announced by; nil for not at all.
        public var homeAssistant: Discovery.Settings?
        /// How long to wait before everything is published for a Home Assistant that has started: another time for each program.
        public var announcementPause = Duration.zero
        public var version = ""

        public init(bridge: Identifier, topics: Topics, lamps: [Identifier], routes: [Identifier: [Identifier]]) {
            (self.bridge, self.topics, self.lamps, self.routes) = (bridge, topics, lamps, routes)
        }

        func device(_ lamp: Identifier, isDimmable: Bool) -> DiscoveryDevice {
            .lamp(
                lamp, of: bridge, topics: topics, version: version, isDimmable: isDimmable,
                statuses: LampStatus.allCases.map(\.rawValue))
        }

        var discovery: Discovery? {
            homeAssistant.map { settings in
                let house = DiscoveryDevice.bridge(bridge, topics: topics, version: version)
                return Discovery(settings, owner: availabilityTopic, devices: [house] + lamps.map { device($0, isDimmable: true) })
            }
        }

        /// What to subscribe to with QoS 1: events and commands, which must not be retained.
        public var commands: [String] {
            routes.keys.sorted { $0.rawValue < $1.rawValue }.flatMap { [topics.camera($0, .toggle), topics.camera($0, .brightness)] }
                + lamps.map { topics.lamp($0, .set) } + Topics.Request.allCases.map { topics.request($0) }
        }

        /// What to subscribe to beside ``commands``.
        public var subscriptions: [String] {
            routes.keys.sorted { $0.rawValue < $1.rawValue }.map { topics.camera($0, .availability) } + (discovery?.subscriptions ?? [])
        }

        /// `bridge/<id>/availability`, also the topic of the will.
        public var availabilityTopic: String { topics.bridge(bridge, .availability) }
    }

    /// Least time between two messages of `bridge/<id>/state`.
    public static let stateInterval = Duration.seconds(1)

    private struct Lamp: Sendable {
        var status = LampStatus.connecting
        var values: LampValues?

        var isAvailable: Bool { values != nil }
    }

    private let layout: Layout
    private let start: ContinuousClock.Instant
    private var lamps: [Identifier: Lamp]
    /// The cameras that move a lamp.
    private var cameras: [Identifier: [Identifier]] = [:]
    private var filters: [Identifier: EventFilter]
    private var publications = Publications()
    private var accepted = 0
    private var rejected: [Rejection: Int] = [:]
    /// Topics with bad messages, by reason.
    private var noted = FirstTimes(capacity: 256)
    private var discovery: Discovery?
    private var desk = RequestDesk()
    /// When everything is published for a Home Assistant that has started.
    private var announcesAt: ContinuousClock.Instant?
    /// When `bridge/<id>/state` may be published again, and whether it has changed since it was.
    private var nextState: ContinuousClock.Instant?
    private var isStateDue = false

    public init(_ layout: Layout, at now: ContinuousClock.Instant) {
        self.layout = layout
        start = now
        discovery = layout.discovery
        lamps = Dictionary(uniqueKeysWithValues: layout.lamps.map { ($0, Lamp()) })
        for (camera, route) in layout.routes {
            for lamp in route { cameras[lamp, default: []].append(camera) }
        }
        filters = layout.routes.mapValues { _ in EventFilter(origin: now) }
        for message in discovery?.messages ?? [] { _ = publications.set(message.topic, message.payload, at: now) }
        _ = publications.set(layout.availabilityTopic, Self.text(.online), at: now)
        for lamp in layout.lamps { _ = publications.set(layout.topics.lamp(lamp, .availability), Self.text(.offline), at: now) }
        _ = publishState(now)
    }

    /// When to come back with `.wake`, unless something happens before; nil for never.
    public var deadline: ContinuousClock.Instant? {
        var earliest = publications.deadline
        for other in [isStateDue ? nextState : nil, announcesAt] {
            if let other, earliest.map({ other < $0 }) ?? true { earliest = other }
        }
        return earliest
    }

    public mutating func handle(_ input: Input, at now: Moment) -> [Action] {
        switch input {
        case .message(let topic, let payload, let retained): return message(topic, payload, retained, now)
        case .request(let request, let retained): return answer(request, retained, now)
        case .connected: return publishEverything(now.instant)
        case .disconnected:
            publications.disconnected()
            return []
        case .overrun(let count):
            rejected[.overflow, default: 0] += count
            return publishState(now.instant)
        case .unsent(let topic):
            publications.failed(topic, at: now.instant)
            return []
        case .lamp(let id, let news): return lamp(id, news, now.instant)
        case .wake:
            if let due = announcesAt, due <= now.instant {
                announcesAt = nil
                return publishEverything(now.instant)
            }
            let retried = publications.wake(at: now.instant).map(Action.publish)
            return isStateDue ? retried + publishState(now.instant) : retried
        case .stopping:
            return layout.lamps.flatMap { set(layout.topics.lamp($0, .availability), Self.text(.offline), now.instant) }
        }
    }

    // MARK: Messages

    private mutating func message(_ topic: String, _ payload: [UInt8], _ retained: Bool, _ now: Moment) -> [Action] {
        if let discovery, discovery.isConcerned(with: topic) {
            switch discovery.received(topic: topic, payload: payload, retained: retained) {
            case .announceSoon: announcesAt = now.instant + layout.announcementPause
            case .publish(let messages):
                return messages.map { .publish(Publications.Message(topic: $0.topic, payload: $0.payload)) }
            case nil: break
            }
            return []
        }
        return switch layout.topics.address(of: topic) {
        case .camera(let camera, .toggle): event(.toggle, of: camera, topic, payload, retained, now)
        case .camera(let camera, .availability): greet(camera, payload, retained, now)
        case .camera(let camera, .brightness): event(.brightness, of: camera, topic, payload, retained, now)
        case .lamp(let lamp, .set): set(lamp, topic, payload, retained, now)
        default: reject(.unroutable, topic, nil, now)
        }
    }

    /// A camera that has just come may hear nothing that was published before: a broker of several nodes keeps what is retained on one.
    private mutating func greet(_ camera: Identifier, _ payload: [UInt8], _ retained: Bool, _ now: Moment) -> [Action] {
        guard !retained, payload == Self.text(.online) else { return [] }
        return publications.again(layout.topics.camera(camera, .target), at: now.instant).map(Action.publish)
    }

    private mutating func event(
        _ kind: EventKind, of camera: Identifier, _ topic: String, _ payload: [UInt8], _ retained: Bool, _ now: Moment
    ) -> [Action] {
        guard let route = layout.routes[camera] else { return reject(.unroutable, topic, "no route for this camera", now) }
        // A retained topic is cleared by an empty message, which is news of nothing.
        if payload.isEmpty { return [] }
        let event: CameraEvent
        do {
            event = try CameraEvent(kind, payload: payload)
        } catch {
            return reject(.malformed, topic, error.description, now)
        }
        switch filters[camera]?.judge(event.stamp, retained: retained, arrived: now) {
        case .accept(let age):
            switch event {
            case .toggle:
                let expires = now.instant + .seconds(max(0, eventLifetime - age))
                return accept(.toggle, leads(of: route), .camera(camera), expires, now)
            case .brightness(let event):
                let origin: CommandOrigin = event.phase == .ended ? .camera(camera) : .slide(camera)
                return accept(.level(percent: event.value), route, origin, nil, now)
            }
        case .reject(let reason): return reject(reason, topic, event.stamp.id, now)
        case nil: return []
        }
    }

    /// The lamps of a route that are toggled by themselves: of a group only the first that answers.
    private func leads(of route: [Identifier]) -> [Identifier] {
        var seen: Set<Identifier> = []
        return route.compactMap { lamp in
            guard seen.insert(lamp).inserted else { return nil }
            let members = companions(of: lamp, in: route)
            seen.formUnion(members)
            return ([lamp] + members).first { lamps[$0]?.isAvailable == true } ?? lamp
        }
    }

    private func companions(of lamp: Identifier, in route: [Identifier]) -> [Identifier] {
        let members = Set(layout.groups.filter { $0.contains(lamp) }.joined())
        return route.filter { $0 != lamp && members.contains($0) }
    }

    private mutating func set(_ lamp: Identifier, _ topic: String, _ payload: [UInt8], _ retained: Bool, _ now: Moment) -> [Action] {
        guard lamps[lamp] != nil else { return reject(.unroutable, topic, "no such lamp", now) }
        guard !retained else { return reject(.retained, topic, nil, now) }
        if payload.isEmpty { return [] }
        do {
            return accept(try LampCommand(set: payload), [lamp], .set, nil, now)
        } catch {
            return reject(.malformed, topic, error.description, now)
        }
    }

    private mutating func accept(
        _ command: LampCommand, _ lamps: [Identifier], _ origin: CommandOrigin, _ expires: ContinuousClock.Instant?, _ now: Moment
    ) -> [Action] {
        accepted += 1
        return lamps.map { .command(command, lamp: $0, origin: origin, expires: expires) } + publishState(now.instant)
    }

    private mutating func reject(_ reason: Rejection, _ topic: String, _ detail: String?, _ now: Moment) -> [Action] {
        rejected[reason, default: 0] += 1
        let isFirst = noted.isFirst("\(reason) \(topic)")
        return [.rejected(reason, topic: topic, detail: detail, isFirst: isFirst)] + publishState(now.instant)
    }

    // MARK: Lamps

    private mutating func lamp(_ id: Identifier, _ news: LampNews, _ now: ContinuousClock.Instant) -> [Action] {
        guard var lamp = lamps[id] else { return [] }
        switch news {
        case .state(let values): lamp = Lamp(status: .ok, values: values)
        case .trouble(let status): lamp = Lamp(status: status, values: nil)
        case .dropped(_, let reason):
            rejected[reason, default: 0] += 1
            return publishState(now)
        case .toggled(let on, let camera):
            let expires = now + .seconds(eventLifetime)
            return companions(of: id, in: layout.routes[camera] ?? []).map {
                .command(.power(on), lamp: $0, origin: .camera(camera), expires: expires)
            }
        case .answered(let number, let error):
            return desk.take(number).map { [respond($0, error: error)] } ?? []
        }
        lamps[id] = lamp
        return publish(id, lamp, now)
    }

    private mutating func publish(_ id: Identifier, _ lamp: Lamp, _ now: ContinuousClock.Instant) -> [Action] {
        var actions: [Action] = []
        if let values = lamp.values, let message = announce(id, values) { actions += set(message.topic, message.payload, now) }
        if let values = lamp.values { actions += set(layout.topics.lamp(id, .state), Payload.encode(values.state), now) }
        actions += set(layout.topics.lamp(id, .availability), Self.text(lamp.isAvailable ? .online : .offline), now)
        for camera in cameras[id] ?? [] {
            guard let lead = layout.routes[camera]?.first(where: { lamps[$0]?.isAvailable == true }), let values = lamps[lead]?.values
            else { continue }
            actions += set(layout.topics.camera(camera, .target), Payload.encode(values.target), now)
        }
        return actions + publishState(now)
    }

    /// What is known of a lamp only once it has answered.
    private mutating func announce(_ id: Identifier, _ values: LampValues) -> Discovery.Message? {
        let device = layout.device(id, isDimmable: values.brightness != nil)
        return discovery?.replace(device) == true ? discovery?.message(for: device) : nil
    }

    // MARK: Requests

    private mutating func answer(_ message: RequestMessage, _ retained: Bool, _ now: Moment) -> [Action] {
        let topic = layout.topics.request(message.request)
        guard !retained else { return reject(.retained, topic, nil, now) }
        var slip = RequestDesk.Slip(topic: layout.topics.response(to: message.request))
        // A response topic of the contract would turn an answer into a command or a state.
        if let wanted = message.responseTopic, layout.topics.address(of: wanted).map(\.isResponse) ?? true {
            (slip.topic, slip.correlation) = (wanted, message.correlation)
        }
        let request: BridgeRequest
        do {
            request = try BridgeRequest(payload: message.payload)
        } catch {
            return [respond(slip, error: error.description)] + reject(.malformed, topic, error.description, now)
        }
        slip.transaction = request.transaction
        guard request.bridge == nil || request.bridge == layout.bridge else { return [] }
        if let lamp = request.lamp, lamps[lamp] == nil { return [respond(slip, error: "this bridge has no lamp '\(lamp)'")] }
        let chosen = layout.lamps.filter { request.lamp == nil || request.lamp == $0 }
        switch message.request {
        case .lamps: return [respond(slip, lamps: chosen)]
        case .health: return [respond(slip, health: health(now.instant))]
        case .refresh: return publishEverything(now.instant) + chosen.map { .refresh(lamp: $0) } + [respond(slip)]
        case .identify:
            guard let lamp = request.lamp else { return [respond(slip, error: "'lamp' is missing")] }
            guard let number = desk.keep(slip) else { return [respond(slip, error: "too many requests wait")] }
            return [.command(.identify, lamp: lamp, origin: .request(number), expires: now.instant + .seconds(eventLifetime))]
        }
    }

    private func respond(
        _ slip: RequestDesk.Slip, lamps: [Identifier]? = nil, health: BridgeResponse.Health? = nil, error: String? = nil
    ) -> Action {
        let response = BridgeResponse(
            bridge: layout.bridge, transaction: slip.transaction, lamps: lamps?.map(describe), health: health, error: error)
        return .respond(ResponseMessage(topic: slip.topic, payload: Payload.encode(response), correlation: slip.correlation))
    }

    private func describe(_ id: Identifier) -> BridgeResponse.Lamp {
        let lamp = lamps[id] ?? Lamp()
        let state = lamp.values?.state
        return .init(
            id: id, available: lamp.isAvailable, status: lamp.status.rawValue, state: state?.state, brightness: state?.brightness)
    }

    private func health(_ now: ContinuousClock.Instant) -> BridgeResponse.Health {
        .init(
            healthy: lamps.values.allSatisfy(\.isAvailable), version: layout.version, uptime: Int((now - start) / .seconds(1)),
            accepted: accepted, rejected: Dictionary(uniqueKeysWithValues: rejected.map { ($0.rawValue, $1) }))
    }

    // MARK: Publications

    private mutating func publishEverything(_ now: ContinuousClock.Instant) -> [Action] {
        nextState = nil
        _ = publishState(now)
        return publications.connected(at: now).map(Action.publish)
    }

    private mutating func publishState(_ now: ContinuousClock.Instant) -> [Action] {
        if let nextState, nextState > now {
            isStateDue = true
            return []
        }
        (nextState, isStateDue) = (now + Self.stateInterval, false)
        let list = layout.lamps.map { id in
            let lamp = lamps[id] ?? Lamp()
            return BridgeState.Lamp(id: id, available: lamp.isAvailable, status: lamp.status.rawValue)
        }
        let counts = Dictionary(uniqueKeysWithValues: rejected.map { ($0.rawValue, $1) })
        let state = Payload.encode(BridgeState(lamps: list, accepted: accepted, rejected: counts))
        return set(layout.topics.bridge(layout.bridge, .state), state, now)
    }

    private mutating func set(_ topic: String, _ payload: [UInt8], _ now: ContinuousClock.Instant) -> [Action] {
        publications.set(topic, payload, at: now).map(Action.publish)
    }

    private static func text(_ availability: Availability) -> [UInt8] { Array(availability.rawValue.utf8) }
}

/// How the bridge stands with a lamp; the raw values are what `bridge/<id>/state` says.
public enum LampStatus: String, Equatable, Sendable, CaseIterable {
    case connecting
    case ok
    case unreachable
    /// The lamp does not know this controller any more: it was reset, or unpaired from elsewhere.
    case pairingLost = "pairing_lost"
    /// The configuration names a lamp that was never paired.
    case notPaired = "not_paired"
}

extension Topics.Address {
    fileprivate var isResponse: Bool { if case .response = self { true } else { false } }
}
