import HomeKit

/// A verified session with a lamp, and where its switch and dimmer are.
struct LampLink: Sendable {
    enum Fault: Error, Equatable, Sendable {
        case hap(HAPError)
        /// The accessory has no light bulb.
        case noLightbulb
    }

    let session: HAPSession
    let bulb: Lightbulb
    /// What makes the accessory show itself; nil where it has none.
    let identify: CharacteristicID?

    /// Connects, verifies and finds the bulb. Of a gateway with several it is the first.
    /// - Parameter address: where to look; nil for where it was when it was paired.
    static func open(_ pairing: PairingRecord, at address: HAPAddress?, timeouts: HAPTimeouts = HAPTimeouts()) async throws(Fault)
        -> LampLink
    {
        let session: HAPSession
        do throws(HAPError) {
            session = try await HAPSession.open(pairing, at: address, timeouts: timeouts)
        } catch {
            throw .hap(error)
        }
        do throws(HAPError) {
            let accessories = try await session.accessories()
            if let bulb = Lightbulb.all(in: accessories).first {
                let information = accessories.first { $0.id == bulb.accessory }?.service(.accessoryInformation)
                return LampLink(session: session, bulb: bulb, identify: information?.characteristic(.identify)?.id)
            }
        } catch {
            await session.close()
            throw .hap(error)
        }
        await session.close()
        throw .noLightbulb
    }

    private var ids: [CharacteristicID] { [bulb.on] + (bulb.brightness.map { [$0.id] } ?? []) }

    /// Asks for the lamp's own changes; what it refuses to tell is seen by polling.
    func subscribe() async throws(Fault) {
        var wanted = bulb.onCanNotify ? [bulb.on] : []
        if let brightness = bulb.brightness, brightness.canNotify { wanted.append(brightness.id) }
        do throws(HAPError) {
            _ = try await session.subscribe(to: wanted)
        } catch {
            throw .hap(error)
        }
    }

    /// Does what a ``LampQueue`` asks for. After `.failed(.lost)` the session is of no more use.
    func perform(_ request: LampQueue.Request) async -> LampQueue.Answer {
        do throws(HAPError) {
            switch request {
            case .read: return answer(try await session.read(ids))
            case .write(let on, let brightness): return answer(try await session.write(writes(on, brightness)))
            case .identify:
                guard let identify else { return .failed(.refused(status: Int(HAPStatus.notReported.code))) }
                return answer(try await session.write([CharacteristicWrite(identify, .bool(true))]))
            }
        } catch {
            return .failed(Self.failure(error))
        }
    }

    private func writes(_ on: Bool?, _ level: Int?) -> [CharacteristicWrite] {
        var writes: [CharacteristicWrite] = []
        if let on { writes.append(CharacteristicWrite(bulb.on, .bool(on))) }
        if let level, let brightness = bulb.brightness {
            let range = max(1, brightness.minimum)...max(1, brightness.minimum, brightness.maximum)
            let value = min(max(Double(level), range.lowerBound), range.upperBound)
            writes.append(CharacteristicWrite(brightness.id, .integer(Int64(value.rounded()))))
        }
        return writes
    }

    private func answer(_ readings: [CharacteristicReading]) -> LampQueue.Answer {
        for reading in readings {
            if case .failure(let failure) = reading.result { return .failed(Self.failure(failure.status)) }
        }
        let level = readings.count > 1 ? readings[1].value.flatMap(Self.percent) : nil
        guard let on = readings.first?.value?.bool, bulb.brightness == nil || level != nil else {
            return .failed(.refused(status: Int(HAPStatus.notReported.code)))
        }
        return .read(LampValues(on: on, brightness: level))
    }

    private func answer(_ results: [CharacteristicWriteResult]) -> LampQueue.Answer {
        guard let failed = results.first(where: { $0.status != .success }) else { return .written }
        return .failed(Self.failure(failed.status))
    }

    /// What an event says of the bulb; nil for anything else.
    func report(_ reading: CharacteristicReading) -> LampQueue.Input? {
        guard let value = reading.value else { return nil }
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
        case .httpStatus(_, code: 401, _), .httpStatus(_, code: 470, _), .httpStatus(_, code: 503, _): .lost
        case .httpStatus(_, _, let status?): failure(status)
        case .httpStatus(_, let code, nil): .refused(status: code)
        default: .lost
        }
    }
}

extension HAPType {
    /// Of the accessory information service, HAP-R2 9.45.
    fileprivate static let identify: HAPType = "14"
}
