/// A verified, encrypted session with one paired accessory.
///
/// Requests from several tasks take turns, one on the wire at a time. A session ends for good with the first passed deadline, cancelled
/// request, broken message or closed connection, and every later call throws why; open a new one then. Any thread may use it.
public final class HAPSession: Sendable {
    /// Readings the accessory sent on its own, for characteristics subscribed to; ends with the session. For one consumer.
    ///
    /// At most ``eventCapacity`` wait. Where a consumer is slower, the oldest go and ``missedEvents`` rises: read the values back then.
    /// Accessories gather changes for up to a second and send none to the session that wrote them.
    public var events: AsyncStream<CharacteristicReading> { connection.outlet.stream }

    public static let eventCapacity = 256

    /// Milliseconds between the announcement of a timed write and the write.
    private static let timedWriteLifetime = 5000

    /// Where the accessory was found.
    public let address: HAPAddress

    private let connection: HAPConnection

    /// How many events went because nobody took them in time, or because they could not be read.
    public var missedEvents: Int { connection.outlet.missed }

    /// Connects to a paired accessory and runs pair-verify.
    ///
    /// - Parameters:
    ///   - addresses: Where to look, in this order; the one in the record where there are none. An address that does not answer, or at
    ///     which another accessory does, is left for the next.
    ///   - clock: Measures all deadlines.
    /// - Throws: ``HAPError/wrongAccessory(expected:found:)`` where only another accessory answers, ``HAPError/pairingLost`` where the
    ///   right one does not know this controller, and whatever can go wrong underneath.
    public static func open(
        _ pairing: PairingRecord, at addresses: [HAPAddress] = [], timeouts: HAPTimeouts = HAPTimeouts(),
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws(HAPError) -> HAPSession {
        let (connection, address) = try await HAPConnection.connect(
            to: addresses.isEmpty ? [pairing.address] : addresses, timeouts: timeouts, clock: clock
        ) { (connection) throws(HAPError) in
            try await connection.verify(PairVerify(pairing: pairing))
        }
        return HAPSession(connection: connection, address: address)
    }

    private init(connection: HAPConnection, address: HAPAddress) {
        self.connection = connection
        self.address = address
    }

    /// Why the session is over, nil while it is not.
    public var end: HAPError? {
        get async { await connection.end }
    }

    /// Ends the session; whoever still waits gets ``HAPError/closed(errno:)``.
    public func close() async { await connection.close() }

    /// The accessory database.
    public func accessories() async throws(HAPError) -> [Accessory] {
        try await perform(.get("/accessories"), .accessories) { (body) throws(HAPError) in try [Accessory](json: body) }
    }

    /// Reads values; one result for each of `ids`, in their order.
    public func read(_ ids: [CharacteristicID]) async throws(HAPError) -> [CharacteristicReading] {
        guard !ids.isEmpty else { return [] }
        return try await perform(.get(CharacteristicsPayload.path(reading: ids)), .read) { (body) throws(HAPError) in
            try CharacteristicsPayload.readings(body, for: ids)
        }
    }

    /// Writes values in one request; one status for each of `writes`, in their order.
    ///
    /// - Parameter timed: For characteristics whose permissions have `tw`: the accessory is told beforehand that a write follows within the
    ///   request's time-out, and refuses it when it comes later.
    public func write(_ writes: [CharacteristicWrite], timed: Bool = false) async throws(HAPError) -> [CharacteristicWriteResult] {
        guard !writes.isEmpty else { return [] }
        let ticket = timed ? try await prepareWrite() : nil
        let payload = CharacteristicsPayload.writing(writes, ticket: ticket)
        return try await perform(.put("/characteristics", json: payload), .write) { (body) throws(HAPError) in
            try CharacteristicsPayload.statuses(body, for: writes.map(\.id), step: .write)
        }
    }

    /// Announces a timed write and returns its number.
    private func prepareWrite() async throws(HAPError) -> UInt64 {
        // Some accessories read numbers as signed.
        let ticket = UInt64.random(in: 1...UInt64(Int64.max))
        let payload = "{\"ttl\":\(Self.timedWriteLifetime),\"pid\":\(ticket)}"
        try await perform(.put("/prepare", json: payload), .prepare) { (body) throws(HAPError) in
            guard !body.isEmpty, let status = try CharacteristicsPayload.statusOfWhole(body, step: .prepare) else { return }
            if status != .success { throw .httpStatus(.prepare, code: 200, status: status) }
        }
        return ticket
    }

    /// Asks for events until the session ends; one status for each of `ids`, in their order.
    ///
    /// One request for each accessory, since large ones overwhelm some gateways. A request that is refused as a whole, by an HTTP status
    /// with nothing more, is a status of each: the session goes on without these events.
    public func subscribe(to ids: [CharacteristicID]) async throws(HAPError) -> [CharacteristicWriteResult] {
        var statuses: [CharacteristicID: HAPStatus] = [:]
        for accessory in Set(ids.map(\.accessory)).sorted() {
            let group = ids.filter { $0.accessory == accessory }
            let payload = CharacteristicsPayload.subscribing(group)
            do throws(HAPError) {
                let results = try await perform(.put("/characteristics", json: payload), .subscribe) { (body) throws(HAPError) in
                    try CharacteristicsPayload.statuses(body, for: group, step: .subscribe)
                }
                for result in results { statuses[result.id] = result.status }
            } catch {
                guard case .httpStatus(_, _, let status) = error, !error.endsSession else { throw error }
                for id in group { statuses[id] = status ?? .notificationNotSupported }
            }
        }
        return ids.map { CharacteristicWriteResult(id: $0, status: statuses[$0] ?? .notReported) }
    }

    /// The controllers that the accessory is paired with. Only an administrator may ask.
    public func pairings() async throws(HAPError) -> [ControllerPairing] {
        let message = TLV8((.state, [1]), (.method, [5]))
        return try await perform(.post("/pairings", pairing: message.encoded), .listPairings) { (body) throws(HAPError) in
            try ControllerPairing.all(
                in: try TLV8(message: body, state: 2, step: .listPairings, authentication: .refused(.listPairings, code: 2)))
        }
    }

    /// Lets another controller in. Only an administrator may.
    public func addPairing(_ controller: ControllerPairing) async throws(HAPError) {
        let message = TLV8(
            (.state, [1]), (.method, [3]), (.identifier, Array(controller.id.utf8)), (.publicKey, controller.publicKey),
            (.permissions, [controller.isAdministrator ? 1 : 0]))
        try await perform(.post("/pairings", pairing: message.encoded), .addPairing) { (body) throws(HAPError) in
            _ = try TLV8(message: body, state: 2, step: .addPairing, authentication: .refused(.addPairing, code: 2))
        }
    }

    /// Takes a controller's pairing off the accessory; the own one ends the session on most.
    public func removePairing(of controllerID: String) async throws(HAPError) {
        let message = TLV8((.state, [1]), (.method, [4]), (.identifier, Array(controllerID.utf8)))
        try await perform(.post("/pairings", pairing: message.encoded), .removePairing) { (body) throws(HAPError) in
            _ = try TLV8(message: body, state: 2, step: .removePairing, authentication: .refused(.removePairing, code: 2))
        }
    }

    /// One request and what its answer says, with everything that is no success as an error.
    private func perform<Outcome: Sendable>(
        _ request: HTTPRequest, _ step: HAPStep, _ interpret: (_ body: [UInt8]) throws(HAPError) -> Outcome
    ) async throws(HAPError) -> Outcome {
        do throws(HAPError) {
            return try interpret(try await connection.request(request, step: step).usableBody(step))
        } catch {
            if error.endsSession { await connection.close() }
            throw error
        }
    }
}
