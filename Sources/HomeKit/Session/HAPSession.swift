/// A verified, encrypted session with one paired accessory.
///
/// Requests from several tasks take turns, one on the wire at a time. A session ends for good with the first passed deadline, cancelled
/// request, broken message or closed connection, and every later call throws why; open a new one then. Any thread may use it.
public final class HAPSession: Sendable {
    /// Readings the accessory sent on its own, for characteristics subscribed to; ends with the session. For one consumer.
    ///
    /// At most ``eventCapacity`` wait. Where a consumer is slower, the oldest go and ``missedEvents`` rises: read the values back then.
    /// Accessories gather changes for up to a second and send none to the session that wrote them.
    public let events: AsyncStream<CharacteristicReading>

    public static let eventCapacity = 256

    private let connection: HAPConnection
    private let outlet: EventOutlet

    /// How many events went because nobody took them in time, or because they could not be read.
    public var missedEvents: Int { outlet.missed }

    /// Connects to a paired accessory and runs pair-verify.
    ///
    /// - Parameters:
    ///   - address: Where to look; the one in the record by default.
    ///   - clock: Measures all deadlines.
    /// - Throws: ``HAPError/wrongAccessory(expected:found:)`` where another accessory answers, ``HAPError/pairingLost`` where the right
    ///   one does not know this controller, and whatever can go wrong underneath.
    public static func open(
        _ pairing: PairingRecord, at address: HAPAddress? = nil, timeouts: HAPTimeouts = HAPTimeouts(),
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws(HAPError) -> HAPSession {
        let outlet = EventOutlet(capacity: eventCapacity)
        let connection = try await HAPConnection.connect(
            to: address ?? pairing.address, timeouts: timeouts, clock: clock,
            onEvent: { outlet.received($0) }, onEnd: { _ in outlet.finish() })
        try await connection.verify(PairVerify(pairing: pairing))
        return HAPSession(connection: connection, outlet: outlet)
    }

    private init(connection: HAPConnection, outlet: EventOutlet) {
        self.connection = connection
        self.outlet = outlet
        events = outlet.stream
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
    public func write(_ writes: [CharacteristicWrite]) async throws(HAPError) -> [CharacteristicWriteResult] {
        guard !writes.isEmpty else { return [] }
        let payload = CharacteristicsPayload.writing(writes)
        return try await perform(.put("/characteristics", json: payload), .write) { (body) throws(HAPError) in
            try CharacteristicsPayload.statuses(body, for: writes.map(\.id), step: .write)
        }
    }

    /// Asks for events until the session ends; one status for each of `ids`, in their order.
    ///
    /// One request for each accessory, since large ones overwhelm some gateways.
    public func subscribe(to ids: [CharacteristicID]) async throws(HAPError) -> [CharacteristicWriteResult] {
        var statuses: [CharacteristicID: HAPStatus] = [:]
        for accessory in Set(ids.map(\.accessory)).sorted() {
            let group = ids.filter { $0.accessory == accessory }
            let payload = CharacteristicsPayload.subscribing(group)
            let results = try await perform(.put("/characteristics", json: payload), .subscribe) { (body) throws(HAPError) in
                try CharacteristicsPayload.statuses(body, for: group, step: .subscribe)
            }
            for result in results { statuses[result.id] = result.status }
        }
        return ids.map { CharacteristicWriteResult(id: $0, status: statuses[$0] ?? .notReported) }
    }

    /// Takes this controller's pairing off the accessory, which ends the session on most.
    func removePairing(of controllerID: String) async throws(HAPError) {
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
