internal import Cryptography

/// Something that happened to an accessory, for whoever shows it.
package enum AccessoryReport: Equatable, Sendable {
    /// A controller has written; the state is what came of it.
    case set(bulb: Int, BulbChange, BulbState, by: String)
    /// The bulb has changed by itself or at a person's hand.
    case local(bulb: Int, BulbState)
    case identify
    case paired(controller: String)
    /// No controller is left.
    case unpaired
    case controllerAdded(String)
    case controllerRemoved(String)
    /// A proof of a wrong setup code.
    case wrongCode(tries: Int)
}

/// An accessory with light bulbs, as a value: connections, their bytes, changes and time in; ordered actions out.
///
/// Times are durations since any fixed moment. Every call may return actions that have to be performed in their order.
package struct AccessoryServer: Sendable {
    /// Names a connection; never used twice.
    package typealias Connection = UInt64

    package enum Action: Equatable, Sendable {
        case write([UInt8], to: Connection)
        /// Wait before whatever is next for this connection.
        case pause(Duration, Connection)
        /// Close once everything before has been written.
        case close(Connection)
        /// Keep this before anything that follows is done.
        case save(AccessoryIdentity)
        case report(AccessoryReport)
    }

    /// How long a connection may be silent once others wait for its place (Apple's reference accessory: a minute).
    static let patienceWhenFull = Duration.seconds(60)

    package private(set) var identity: AccessoryIdentity
    package internal(set) var bulbs: [BulbState]

    let database: BulbDatabase
    var manners: any AccessoryManners
    private var setup = PairSetupResponder()
    var peers: [Connection: Peer] = [:]
    var later: [(due: Duration, bulb: Int, change: BulbChange)] = []

    /// One connection.
    struct Peer: Sendable {
        var parser = RequestParser()
        var verify = PairVerifyResponder()
        var encryption: (sealer: FrameSealer, opener: FrameOpener)?
        var controller: String?
        var subscriptions: Set<CharacteristicID> = []
        /// Changes it has not been told of, and when it is to be.
        var pending: Set<CharacteristicID> = []
        var eventDue: Duration?
        var prepared: (id: UInt64, until: Duration)?
        var lastHeard: Duration
        var isRefused = false
        var isClosing = false
    }

    /// - Parameters:
    ///   - count: Bulbs; above one the accessory is a bridge.
    ///   - instanceOffset: Added to the instance numbers of everything but the accessory information.
    package init(
        _ identity: AccessoryIdentity, _ information: AccessoryInformation, count: Int = 1, instanceOffset: UInt64 = 0,
        manners: any AccessoryManners = ReferenceManners()
    ) {
        self.identity = identity
        self.manners = manners
        database = BulbDatabase(information, count: count, offset: instanceOffset, brightnessStep: manners.traits.brightnessStep)
        bulbs = Array(repeating: BulbState(), count: count)
    }

    /// Whether another connection may be accepted now.
    package var acceptsConnections: Bool { manners.traits.refusesBeyondLimit || peers.count < manners.traits.connectionLimit }

    /// When ``timePassed(now:)`` has to be called at the latest; nil for never.
    package var nextDeadline: Duration? {
        let traits = manners.traits
        let isFull = !acceptsConnections
        var deadlines = peers.values.compactMap(\.eventDue) + later.map(\.due)
        if let limit = traits.idleLimit { deadlines += peers.values.map { $0.lastHeard + limit } }
        if isFull { deadlines += peers.values.map { $0.lastHeard + Self.patienceWhenFull } }
        return deadlines.min()
    }

    package mutating func connected(_ connection: Connection, now: Duration) -> [Action] {
        var peer = Peer(lastHeard: now)
        peer.isRefused = peers.count >= manners.traits.connectionLimit
        peers[connection] = peer
        return []
    }

    /// The connection has ended, from whichever side.
    package mutating func disconnected(_ connection: Connection) {
        peers[connection] = nil
        setup.closed(connection)
        manners.closed(connection)
    }

    package mutating func received(_ bytes: [UInt8], on connection: Connection, now: Duration) -> [Action] {
        guard peers[connection]?.isClosing == false else { return [] }
        peers[connection]?.lastHeard = now
        var actions: [Action] = []
        guard feed(bytes, connection) else { return close(connection) }
        while peers[connection]?.isClosing == false {
            do throws(RequestFault) {
                guard let request = try peers[connection]?.parser.next() else { break }
                actions += handle(request, connection, now)
            } catch {
                actions += send(.status(400), connection, for: nil) + close(connection)
            }
        }
        if manners.traits.wantsWholeRequests, peers[connection]?.parser.isWithinRequest == true {
            actions += send(.status(400), connection, for: nil) + close(connection)
        }
        return actions
    }

    /// A person, or the bulb itself, has changed a bulb.
    package mutating func changed(bulb: Int, _ change: BulbChange, now: Duration) -> [Action] {
        guard bulbs.indices.contains(bulb) else { return [] }
        let new = change.applied(to: bulbs[bulb])
        guard new != bulbs[bulb] else { return [] }
        become(new, bulb: bulb, by: nil, now)
        return [.report(.local(bulb: bulb, new))]
    }

    package mutating func timePassed(now: Duration) -> [Action] {
        var actions: [Action] = []
        let due = later.filter { $0.due <= now }
        later.removeAll { $0.due <= now }
        for entry in due { actions += changed(bulb: entry.bulb, entry.change, now: now) }
        for connection in peers.keys.sorted() {
            guard let peer = peers[connection], !peer.isClosing else { continue }
            let limit = [manners.traits.idleLimit, acceptsConnections ? nil : Self.patienceWhenFull].compactMap { $0 }.min()
            if let limit, now - peer.lastHeard >= limit {
                actions += close(connection)
            } else if let eventDue = peer.eventDue, eventDue <= now {
                actions += sendEvent(connection)
            }
        }
        return actions
    }

    // MARK: Connections

    /// Takes bytes in, decrypted where the session is; false where they are not genuine.
    private mutating func feed(_ bytes: [UInt8], _ connection: Connection) -> Bool {
        guard peers[connection]?.encryption != nil else {
            peers[connection]?.parser.append(bytes)
            return true
        }
        do throws(FrameFault) {
            if let plaintext = try peers[connection]?.encryption?.opener.open(bytes) { peers[connection]?.parser.append(plaintext) }
            return true
        } catch {
            return false
        }
    }

    private mutating func close(_ connection: Connection) -> [Action] {
        guard peers[connection]?.isClosing == false else { return [] }
        peers[connection]?.isClosing = true
        peers[connection]?.eventDue = nil
        return [.close(connection)]
    }

    mutating func send(_ response: AccessoryResponse, _ connection: Connection, for request: AccessoryRequest?) -> [Action] {
        let occasion = AccessoryOccasion(
            request: request, connection: connection, isVerified: peers[connection]?.controller != nil)
        var actions: [Action] = []
        for delivery in manners.deliver(response, occasion) {
            switch delivery {
            case .send(let response):
                let bytes = response.encoded
                let sent = peers[connection]?.encryption?.sealer.seal(bytes) ?? bytes
                actions += cut(sent, connection)
            case .pause(let duration): actions.append(.pause(duration, connection))
            case .close: actions += close(connection)
            }
        }
        return actions
    }

    private func cut(_ bytes: [UInt8], _ connection: Connection) -> [Action] {
        guard let segment = manners.traits.segment else { return [.write(bytes, to: connection)] }
        var actions: [Action] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            actions.append(.write(Array(rest.prefix(segment)), to: connection))
            rest = rest.dropFirst(segment)
            // Long enough that the next piece is a segment of its own.
            if !rest.isEmpty { actions.append(.pause(.milliseconds(2), connection)) }
        }
        return actions
    }

    // MARK: Requests

    private mutating func handle(_ request: AccessoryRequest, _ connection: Connection, _ now: Duration) -> [Action] {
        if peers[connection]?.isRefused == true { return send(.status(503), connection, for: request) + close(connection) }
        let isVerified = peers[connection]?.controller != nil
        let occasion = AccessoryOccasion(request: request, connection: connection, isVerified: isVerified)
        if let answer = manners.answer(occasion) { return send(answer, connection, for: request) }

        switch (request.method, request.path) {
        case ("POST", "/pair-setup"): return pairSetup(request, connection)
        case ("POST", "/pair-verify"): return pairVerify(request, connection)
        case ("POST", "/identify"):
            guard identity.controllers.isEmpty else {
                return send(.refusal(400, .insufficientPrivileges), connection, for: request)
            }
            return [.report(.identify)] + send(.status(204), connection, for: request)
        case ("POST", "/pairings"), ("GET", "/accessories"), ("GET", "/characteristics"), ("PUT", "/characteristics"),
            ("PUT", "/prepare"):
            guard isVerified else { return send(.refusal(470, .insufficientAuthorization), connection, for: request) }
            switch request.path {
            case "/pairings": return pairings(request, connection)
            case "/accessories":
                var response = AccessoryResponse.json(database.json(bulbs))
                response.framing = .chunked
                return send(response, connection, for: request)
            case "/prepare": return send(prepare(request, connection, now), connection, for: request)
            default:
                guard request.method == "PUT" else { return send(read(request, connection), connection, for: request) }
                let (response, actions) = write(request, connection, now)
                return actions + send(response, connection, for: request)
            }
        case (_, "/pair-setup"), (_, "/pair-verify"), (_, "/identify"), (_, "/pairings"), (_, "/accessories"), (_, "/characteristics"),
            (_, "/prepare"):
            return send(.status(405), connection, for: request)
        default: return send(.status(404), connection, for: request)
        }
    }

    private mutating func pairSetup(_ request: AccessoryRequest, _ connection: Connection) -> [Action] {
        guard peers[connection]?.encryption == nil else { return send(.status(400), connection, for: request) }
        let traits = manners.traits
        let outcome = setup.received(
            request.body, on: connection, of: identity, leadingZeros: traits.leadingZeros, salt: traits.salt)
        switch outcome {
        case .answer(let message): return send(.pairing(message), connection, for: request)
        case .malformed: return send(.status(400), connection, for: request)
        case .wrongCode(let message):
            identity.failedTries += 1
            return [.save(identity), .report(.wrongCode(tries: identity.failedTries))]
                + send(.pairing(message), connection, for: request)
        case .paired(let message, let controller):
            _ = identity.controllers.add(controller)
            return [.save(identity), .report(.paired(controller: controller.id))] + send(.pairing(message), connection, for: request)
        }
    }

    private mutating func pairVerify(_ request: AccessoryRequest, _ connection: Connection) -> [Action] {
        guard peers[connection]?.encryption == nil, let outcome = peers[connection]?.verify.received(request.body, of: identity) else {
            return send(.status(400), connection, for: request)
        }
        switch outcome {
        case .answer(let message): return send(.pairing(message), connection, for: request)
        case .malformed: return send(.status(400), connection, for: request)
        case .verified(let message, let keys, let controller):
            let actions = send(.pairing(message), connection, for: request)
            peers[connection]?.encryption = (FrameSealer(key: keys.outgoing), FrameOpener(key: keys.incoming))
            peers[connection]?.controller = controller.id
            // Whatever followed in the same read is already encrypted.
            let rest = peers[connection]?.parser.takeUnparsed() ?? []
            return feed(rest, connection) ? actions : actions + close(connection)
        }
    }

    private mutating func pairings(_ request: AccessoryRequest, _ connection: Connection) -> [Action] {
        guard let message = try? TLV8(decoding: request.body), message[.state] == [1], let method = message.integer(.method) else {
            return send(.status(400), connection, for: request)
        }
        func answer(_ code: PairingErrorCode?) -> AccessoryResponse {
            code.map { .pairingError(state: 2, code: $0.rawValue) } ?? .pairing(TLV8((.state, [2])))
        }
        guard let own = peers[connection]?.controller, identity.controllers[own]?.isAdmin == true else {
            return send(answer(.authentication), connection, for: request)
        }
        switch method {
        case 3:
            guard let identifier = message[.identifier], (1...PairedController.maximumID).contains(identifier.count),
                let id = String(validating: identifier, as: UTF8.self), let key = message[.publicKey], key.count == 32,
                let permissions = message.integer(.permissions)
            else { return send(.status(400), connection, for: request) }
            if let code = identity.controllers.add(PairedController(id: id, key: key, isAdmin: permissions & 1 != 0)) {
                return send(answer(code), connection, for: request)
            }
            return [.save(identity), .report(.controllerAdded(id))] + send(answer(nil), connection, for: request)
        case 4:
            guard let identifier = message[.identifier], let id = String(validating: identifier, as: UTF8.self) else {
                return send(.status(400), connection, for: request)
            }
            let removed = identity.controllers.remove(id)
            guard !removed.isEmpty else { return send(answer(nil), connection, for: request) }
            var actions: [Action] = [.save(identity)]
            actions += removed.map { .report(.controllerRemoved($0.id)) }
            if identity.controllers.isEmpty { actions.append(.report(.unpaired)) }
            actions += send(answer(nil), connection, for: request)
            let gone = Set(removed.map(\.id))
            for (other, peer) in peers.sorted(by: { $0.key < $1.key }) where peer.controller.map(gone.contains) == true {
                actions += close(other)
            }
            return actions
        case 5: return send(.pairing(identity.controllers.list), connection, for: request)
        default: return send(.status(400), connection, for: request)
        }
    }
}
