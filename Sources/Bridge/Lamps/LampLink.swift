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

    /// Where the bulb is now; another place after the accessory database has changed. Its level is the one last heard of.
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
            case .read: return try await read(bulb)
            case .write(let on, let brightness): return try await write(on, brightness, to: bulb)
            case .identify:
                guard let identify = bulb.identify else { return .failed(.refused(status: Int(HAPStatus.notReported.code))) }
                return Self.answer(try await session.write([CharacteristicWrite(identify, .bool(true))]))
            }
        } catch {
            return .failed(Self.failure(error))
        }
    }

    /// Some lamps do not tell their brightness while they are off, or in one answer with something else; then what was last heard counts.
    private func read(_ bulb: Lightbulb) async throws(HAPError) -> LampQueue.Answer {
        guard let brightness = bulb.brightness else {
            return Self.answer(try await session.read([bulb.on])) { LampValues(on: $0, brightness: nil) }
        }
        var readings = try await session.read([bulb.on, brightness.id])
        if readings[0].value != nil, readings[1].isMissing {
            readings[1] = try await session.read([brightness.id])[0]
        }
        if case .failure(let failure) = readings[1].result, Self.failure(failure.status) == .busy { return .failed(.busy) }
        let level = readings[1].value?.number.flatMap(brightness.scale.percent)
        if let level { heard(level) }
        return Self.answer(readings) { LampValues(on: $0, brightness: level ?? brightness.level ?? 100) }
    }

    private static func answer(_ readings: [CharacteristicReading], _ values: (Bool) -> LampValues) -> LampQueue.Answer {
        if case .failure(let failure)? = readings.first?.result { return .failed(Self.failure(failure.status)) }
        guard let on = readings.first?.value?.bool else { return .failed(.refused(status: Int(HAPStatus.notReported.code))) }
        return .read(values(on))
    }

    private func write(_ on: Bool?, _ level: Int?, to bulb: Lightbulb) async throws(HAPError) -> LampQueue.Answer {
        var writes: [CharacteristicWrite] = []
        if let on { writes.append(CharacteristicWrite(bulb.on, .bool(on))) }
        var taken: Int?
        if let level, let brightness = bulb.brightness {
            let value = brightness.scale.value(percent: level)
            taken = value.number.flatMap(brightness.scale.percent)
            writes.append(CharacteristicWrite(brightness.id, value))
        }
        let answer = Self.answer(try await session.write(writes, timed: bulb.needsTimedWrites))
        guard answer == .written, let taken else { return answer }
        heard(taken)
        return taken == level ? .written : .writtenNear(level: taken)
    }

    private func heard(_ level: Int) { place.withLock { $0.brightness?.level = level } }

    private static func answer(_ results: [CharacteristicWriteResult]) -> LampQueue.Answer {
        guard let failed = results.first(where: { $0.status != .success }) else { return .written }
        return .failed(failure(failed.status))
    }

    /// What an event says of the bulb; nil for anything else.
    func report(_ reading: CharacteristicReading) -> LampQueue.Input? {
        guard let value = reading.value else { return nil }
        let bulb = bulb
        if reading.id == bulb.on { return value.bool.map { .report(on: $0, brightness: nil) } }
        guard let brightness = bulb.brightness, reading.id == brightness.id, let level = value.number.flatMap(brightness.scale.percent)
        else {
            return nil
        }
        heard(level)
        return .report(on: nil, brightness: level)
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
