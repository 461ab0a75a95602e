import HomeKit
import Synchronization

/// A verified session with an accessory, and where the switch and the dimmer of one of its bulbs are.
final class LampLink: Sendable {
    enum Fault: Error, Equatable, Sendable {
        case hap(HAPError)
        /// The accessory has no light bulb, or not the one that was chosen.
        case noLightbulb
    }

    let session: HAPSession
    private let place: Mutex<Lightbulb>

    /// Where the bulb is now; another place after the accessory database has changed.
    var bulb: Lightbulb {
        get { place.withLock { $0 } }
        set { place.withLock { $0 = newValue } }
    }

    init(session: HAPSession, bulb: Lightbulb) {
        self.session = session
        place = Mutex(bulb)
    }

    /// Connects, verifies and finds the bulb.
    /// - Parameter addresses: Where to look, the most promising first; where it was when it was paired where there are none.
    static func open(
        _ pairing: PairingRecord, at addresses: [HAPAddress], choice: BulbChoice = .first, timeouts: HAPTimeouts = HAPTimeouts()
    ) async throws(Fault) -> LampLink {
        let session: HAPSession
        do throws(HAPError) {
            session = try await HAPSession.open(pairing, at: addresses, timeouts: timeouts)
        } catch {
            throw .hap(error)
        }
        do throws(HAPError) {
            if let bulb = choice.bulb(in: try await session.accessories()) { return LampLink(session: session, bulb: bulb) }
        } catch {
            await session.close()
            throw .hap(error)
        }
        await session.close()
        throw .noLightbulb
    }

    /// What the lamp tells of by itself; what it does not is seen by polling.
    var notified: [CharacteristicID] {
        let bulb = bulb
        return (bulb.onCanNotify ? [bulb.on] : []) + (bulb.brightness.map { $0.canNotify ? [$0.id] : [] } ?? [])
    }

    /// Does what a ``LampQueue`` asks for. After `.failed(.lost)` and `.failed(.unverified)` the session is of no more use.
    func perform(_ request: LampQueue.Request) async -> LampQueue.Answer {
        let bulb = bulb
        do throws(HAPError) {
            switch request {
            case .read:
                return Self.answer(
                    try await session.read([bulb.on] + (bulb.brightness.map { [$0.id] } ?? [])), canDim: bulb.brightness != nil)
            case .write(let on, let brightness):
                let writes = Self.writes(on, brightness, to: bulb)
                return Self.answer(try await session.write(writes, timed: bulb.needsTimedWrites))
            case .identify:
                guard let identify = bulb.identify else { return .failed(.refused(status: Int(HAPStatus.notReported.code))) }
                return Self.answer(try await session.write([CharacteristicWrite(identify, .bool(true))]))
            }
        } catch {
            return .failed(Self.failure(error))
        }
    }

    private static func writes(_ on: Bool?, _ level: Int?, to bulb: Lightbulb) -> [CharacteristicWrite] {
        var writes: [CharacteristicWrite] = []
        if let on { writes.append(CharacteristicWrite(bulb.on, .bool(on))) }
        if let level, let brightness = bulb.brightness {
            let range = max(1, brightness.minimum)...max(1, brightness.minimum, brightness.maximum)
            let value = min(max(Double(level), range.lowerBound), range.upperBound)
            writes.append(CharacteristicWrite(brightness.id, .integer(Int64(value.rounded()))))
        }
        return writes
    }

    private static func answer(_ readings: [CharacteristicReading], canDim: Bool) -> LampQueue.Answer {
        for reading in readings {
            if case .failure(let failure) = reading.result { return .failed(Self.failure(failure.status)) }
        }
        let level = readings.count > 1 ? readings[1].value.flatMap(Self.percent) : nil
        guard let on = readings.first?.value?.bool, !canDim || level != nil else {
            return .failed(.refused(status: Int(HAPStatus.notReported.code)))
        }
        return .read(LampValues(on: on, brightness: level))
    }

    private static func answer(_ results: [CharacteristicWriteResult]) -> LampQueue.Answer {
        guard let failed = results.first(where: { $0.status != .success }) else { return .written }
        return .failed(failure(failed.status))
    }

    /// What an event says of the bulb; nil for anything else.
    func report(_ reading: CharacteristicReading) -> LampQueue.Input? {
        guard let value = reading.value else { return nil }
        let bulb = bulb
        if reading.id == bulb.on { return value.bool.map { .report(on: $0, brightness: nil) } }
        guard reading.id == bulb.brightness?.id, let level = Self.percent(value) else { return nil }
        return .report(on: nil, brightness: level)
    }

    private static func percent(_ value: CharacteristicValue) -> Int? {
        guard let number = value.number, number.isFinite else { return nil }
        return Int(min(max(number, 0), 100).rounded())
    }

    private static func failure(_ status: HAPStatus) -> LampQueue.Failure {
        switch status {
        case .busy, .outOfResources, .timedOut: .busy
        default: .refused(status: Int(status.code))
        }
    }

    /// Only an answer that the lamp gave to this request leaves the session usable.
    private static func failure(_ error: HAPError) -> LampQueue.Failure {
        switch error {
        case .httpStatus(_, code: 401, _), .httpStatus(_, code: 470, _): .unverified
        case .httpStatus(_, code: 503, _): .lost
        case .httpStatus(_, _, let status?): failure(status)
        case .httpStatus(_, let code, nil): .refused(status: code)
        default: .lost
        }
    }
}
