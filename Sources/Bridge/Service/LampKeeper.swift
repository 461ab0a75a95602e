import Contract
import HomeKit
import MQTT
import ServiceKit

/// Keeps one lamp connected, for ever: opens sessions, lends them to the bridge, and waits between attempts.
///
/// Only one session is ever open. An attempt that failed is repeated after a jittered backoff; a pairing that the lamp does not know any
/// more is looked at again once a minute, and at once when the pairing file holds another one. Nothing here ever removes a pairing.
struct LampKeeper: Sendable {
    /// What the bridge lends its ear and its requests to.
    protocol Owner: Sendable {
        /// A session is there; the owner puts requests into the mailbox, at most one before its answer.
        func connected(_ lamp: Identifier, requests: Mailbox<LampQueue.Request>) async
        func received(_ input: LampQueue.Input, from lamp: Identifier) async
        func disconnected(_ lamp: Identifier, _ trouble: LampTrouble) async
    }

    let lamp: Identifier
    /// Name of its pairing.
    let pairing: String
    /// Where it answers, instead of where it was when it was paired.
    let address: HAPAddress?
    let shelf: PairingShelf
    var metrics: LampMetrics?

    /// How long a pairing that is missing or not known to the lamp is left alone.
    private static let pairingWait = Duration.seconds(60)
    /// How often the pairing file is looked at meanwhile.
    private static let pairingGlance = Duration.seconds(2)
    /// How long a session must hold before the next loss starts the backoff's schedule anew.
    private static let stableAfter = Duration.seconds(10)

    /// Runs until it is cancelled.
    func run(for owner: some Owner) async {
        var backoff = Backoff()
        while !Task.isCancelled {
            let (record, trouble) = await attempt(owner, &backoff)
            guard !Task.isCancelled else { return }
            metrics?.retries.add()
            await owner.disconnected(lamp, trouble)
            switch trouble {
            case .notPaired, .pairingLost, .pairings: await waitForPairing(otherThan: record)
            case .unreachable, .noLightbulb: try? await Task.sleep(for: backoff.next(jitter: .random(in: 0...1)))
            }
        }
    }

    /// One session from its beginning to its end.
    private func attempt(_ owner: some Owner, _ backoff: inout Backoff) async -> (PairingRecord?, LampTrouble) {
        let record: PairingRecord
        do throws(PairingStoreError) {
            guard let found = try await shelf.record(of: pairing) else { return (nil, .notPaired) }
            record = found
        } catch {
            return (nil, .pairings(error))
        }
        do throws(LampLink.Fault) {
            let link = try await LampLink.open(record, at: address)
            let start = ContinuousClock.now
            let end: HAPError
            do throws(LampLink.Fault) {
                try await link.subscribe()
                end = await serve(link, owner)
            } catch {
                await link.session.close()
                throw error
            }
            if ContinuousClock.now - start > Self.stableAfter { backoff.reset() }
            return (record, .unreachable(end))
        } catch {
            switch error {
            case .hap(.pairingLost): return (record, .pairingLost)
            case .hap(let error): return (record, .unreachable(error))
            case .noLightbulb: return (record, .noLightbulb)
            }
        }
    }

    private func serve(_ link: LampLink, _ owner: some Owner) async -> HAPError {
        let requests = Mailbox<LampQueue.Request>()
        metrics?.sessions.add()
        await owner.connected(lamp, requests: requests)
        await withTaskGroup { group in
            group.addTask {
                while let request = await requests.take() {
                    let start = ContinuousClock.now
                    let answer = await link.perform(request)
                    metrics?.answered(request, answer, after: .now - start)
                    await owner.received(.answered(answer), from: lamp)
                    if answer == .failed(.lost) { break }
                }
                await link.session.close()
            }
            var missed = 0
            for await reading in link.session.events {
                if let input = link.report(reading) { await owner.received(input, from: lamp) }
                if link.session.missedEvents != missed {
                    missed = link.session.missedEvents
                    await owner.received(.missedReports, from: lamp)
                }
            }
            requests.finish()
            await group.waitForAll()
        }
        let end = await link.session.end ?? .closed(errno: nil)
        await link.session.close()
        return end
    }

    private func waitForPairing(otherThan record: PairingRecord?) async {
        let end = ContinuousClock.now + Self.pairingWait
        while ContinuousClock.now < end, !Task.isCancelled {
            try? await Task.sleep(for: Self.pairingGlance)
            if let found = try? await shelf.record(of: pairing), found != record { return }
        }
    }
}

/// Why there is no session with a lamp.
enum LampTrouble: Equatable, Sendable {
    case notPaired
    case pairingLost
    case noLightbulb
    case unreachable(HAPError)
    /// The pairing file cannot be read.
    case pairings(PairingStoreError)

    var status: LampStatus {
        switch self {
        case .notPaired, .pairings: .notPaired
        case .pairingLost: .pairingLost
        case .noLightbulb, .unreachable: .unreachable
        }
    }
}
