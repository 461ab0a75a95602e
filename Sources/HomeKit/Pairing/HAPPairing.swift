internal import Cryptography

/// Makes and removes pairings with accessories.
public enum HAPPairing {
    /// Pairs a new controller identity with the accessory at the first of `addresses` that accepts a connection.
    ///
    /// - Parameters:
    ///   - method: By the accessory's `ff` flag where it is known.
    ///   - clock: Measures all deadlines.
    /// - Returns: What ``HAPSession/open(_:at:timeouts:clock:)`` needs from now on; keep it, or the accessory must be reset.
    public static func pair(
        at addresses: [HAPAddress], code: SetupCode, method: PairSetupMethod = .plain, timeouts: HAPTimeouts = HAPTimeouts(),
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws(HAPError) -> PairingRecord {
        let (connection, address) = try await HAPConnection.connect(to: addresses, timeouts: timeouts, clock: clock)
        let controller = ControllerIdentity.random()
        var setup = PairSetup(code: code, method: method, controller: controller)
        do throws(HAPError) {
            var message = setup.start()
            while true {
                let answer = try await exchange(message, setup.step, connection, address)
                switch try setup.received(answer) {
                case .send(let next): message = next
                case .paired(let accessoryID, let accessoryKey):
                    await connection.close()
                    return PairingRecord(
                        accessoryID: accessoryID, accessoryKey: accessoryKey, controller: controller, address: address)
                }
            }
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Removes the pairing from the accessory; forget the record afterwards.
    public static func unpair(
        _ pairing: PairingRecord, at addresses: [HAPAddress] = [], timeouts: HAPTimeouts = HAPTimeouts(),
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws(HAPError) {
        let session = try await HAPSession.open(pairing, at: addresses, timeouts: timeouts, clock: clock)
        do throws(HAPError) {
            try await session.removePairing(of: pairing.controllerID)
        } catch {
            await session.close()
            // Some hang up in place of an answer.
            guard case .closed = error, await isForgotten(pairing, at: session.address, timeouts, clock) else { throw error }
        }
        await session.close()
    }

    private static func isForgotten(
        _ pairing: PairingRecord, at address: HAPAddress, _ timeouts: HAPTimeouts, _ clock: any Clock<Duration>
    ) async -> Bool {
        do throws(HAPError) {
            try await HAPSession.open(pairing, at: [address], timeouts: timeouts, clock: clock).close()
            return false
        } catch {
            return error == .pairingLost
        }
    }

    /// Lets an accessory that nobody is paired with make itself noticed, a lamp by blinking.
    ///
    /// - Throws: ``HAPError/alreadyPaired`` where somebody is: only they may ask then.
    public static func identify(
        at addresses: [HAPAddress], timeouts: HAPTimeouts = HAPTimeouts(), clock: any Clock<Duration> = ContinuousClock()
    ) async throws(HAPError) {
        let (connection, _) = try await HAPConnection.connect(to: addresses, timeouts: timeouts, clock: clock)
        let answer: Result<HTTPMessage, HAPError>
        do throws(HAPError) {
            let request = HTTPRequest(method: .post, path: "/identify", contentType: .json)
            answer = .success(try await connection.request(request, step: .identify))
        } catch {
            answer = .failure(error)
        }
        await connection.close()
        let message = try answer.get()
        guard !(200...299).contains(message.status) else { return }
        let status = (try? JSON(parsing: message.body))?["status"]?.int64.map(HAPStatus.init(code:))
        // 400 with -70401, or 401 or 470 on accessories that ask for a session first.
        if status == .insufficientPrivileges || status == .insufficientAuthorization { throw .alreadyPaired }
        throw .httpStatus(.identify, code: message.status, status: status)
    }

    private static func exchange(
        _ message: [UInt8], _ step: HAPStep, _ connection: HAPConnection, _ address: HAPAddress
    ) async throws(HAPError) -> [UInt8] {
        let answer: HTTPMessage
        do throws(HAPError) {
            answer = try await connection.request(.post("/pair-setup", pairing: message), step: step)
        } catch {
            // Some servers speak before they are asked.
            if case .malformed(.pairSetupStart, _) = error { throw .notHAP(host: address.host, port: address.port) }
            if case .malformed(.event, _) = error, step == .pairSetupStart { throw .notHAP(host: address.host, port: address.port) }
            throw error
        }
        switch answer.status {
        case 200...299: return answer.body
        case _ where answer.isPairingRefusal: return answer.body
        case 429, 503: throw .busy
        case 404, 405, 501: throw .notHAP(host: address.host, port: address.port)
        default: throw .httpStatus(step, code: answer.status, status: nil)
        }
    }
}
