import Contract
import HomeKit
import MQTT
import Reactor
import ServiceKit
import Synchronization

/// Keeps one accessory connected, for ever: opens sessions, lends them to the lamps behind it, and waits between attempts.
///
/// Only one session is ever open, however many lamps the accessory has. An attempt that failed is repeated after a jittered backoff, or as
/// soon as the accessory is heard of on the network; a pairing that the accessory does not know any more is looked at again once a minute,
/// and at once when the pairing file holds another one. Nothing here ever removes a pairing.
struct AccessoryKeeper: Sendable {
    /// What the bridge lends its ear and its requests to.
    protocol Owner: Sendable {
        /// A session is there; the owner puts requests into the mailbox, at most one before its answer.
        func connected(_ lamp: Identifier, requests: Mailbox<LampQueue.Request>) async
        func received(_ input: LampQueue.Input, from lamp: Identifier) async
        func disconnected(_ lamp: Identifier, _ trouble: LampTrouble) async
    }

    /// A lamp and which of the accessory's bulbs it is.
    struct Member: Sendable {
        var lamp: Identifier
        var choice: BulbChoice
        var metrics: LampMetrics?
    }

    /// Name of the pairing.
    let pairing: String
    let members: [Member]
    /// Where it answers, instead of where it is found.
    let address: HAPAddress?
    let shelf: PairingShelf
    /// Nil where the network is not to be asked.
    let discovery: HAPDiscovery?

    /// How long a pairing that is missing or not known to the accessory is left alone.
    private static let pairingWait = Duration.seconds(60)
    /// How often the pairing file is looked at meanwhile.
    private static let pairingGlance = Duration.seconds(2)
    /// How long a session must hold before the next loss starts the backoff's schedule anew.
    private static let stableAfter = Duration.seconds(10)
    /// How soon after a failed attempt a sign of life may start the next one.
    private static let sightingDelay = Duration.seconds(1)

    /// How an attempt ended.
    private struct Outcome {
        var record: PairingRecord?
        var trouble: LampTrouble
        /// How long the session held.
        var lasted = Duration.zero
        /// Whether the accessory ended the session's verification, and nothing else was wrong.
        var isUnverified = false
        /// Whether it did something in this session before that.
        var hasWritten = false
    }

    /// How a lamp's requests ended.
    private struct Work {
        var isUnverified = false
        var hasWritten = false
    }

    /// Runs until it is cancelled.
    func run(for owner: some Owner) async {
        var backoff = Backoff()
        var mayReverify = true
        while !Task.isCancelled {
            let outcome = await attempt(owner)
            guard !Task.isCancelled else { return }
            for member in members {
                member.metrics?.retries.add()
                await owner.disconnected(member.lamp, outcome.trouble)
            }
            if outcome.lasted > Self.stableAfter { backoff.reset() }
            // An accessory that refuses every write is not asked again at once for ever.
            if outcome.hasWritten { mayReverify = true }
            if outcome.isUnverified, mayReverify {
                mayReverify = false
                continue
            }
            // Some hang up after so many requests, and are there again at once.
            if outcome.hasWritten, outcome.trouble == .unreachable(.closed(errno: 0)) {
                backoff.reset()
                continue
            }
            switch outcome.trouble {
            case .notPaired, .pairingLost, .pairings: await waitForPairing(otherThan: outcome.record)
            case .unreachable, .noLightbulb: await pause(backoff.next(jitter: .random(in: 0...1)), after: outcome)
            }
        }
    }

    /// One session from its beginning to its end.
    private func attempt(_ owner: some Owner) async -> Outcome {
        let record: PairingRecord
        do throws(PairingStoreError) {
            guard let found = try await shelf.record(of: pairing) else { return Outcome(trouble: .notPaired) }
            record = found
        } catch {
            return Outcome(trouble: .pairings(error))
        }
        do throws(HAPError) {
            let configuration = discovery?.service(id: record.accessoryID)?.configuration
            let session = try await HAPSession.open(record, at: addresses(of: record))
            await remember(session.address, of: record)
            let start = ContinuousClock.now
            let end = await serve(session, configuration, record, owner)
            await session.close()
            return Outcome(
                record: record, trouble: end.trouble, lasted: ContinuousClock.now - start, isUnverified: end.work.isUnverified,
                hasWritten: end.work.hasWritten)
        } catch {
            return Outcome(record: record, trouble: error == .pairingLost ? .pairingLost : .unreachable(error))
        }
    }

    /// The configured address, where the accessory says it is, and where it was last.
    private func addresses(of record: PairingRecord) -> [HAPAddress] {
        let all = [address].compactMap(\.self) + (discovery?.service(id: record.accessoryID)?.addresses ?? []) + [record.address]
        var seen: Set<HAPAddress> = []
        return all.filter { seen.insert($0).inserted }
    }

    /// Keeps the new address of an accessory that has moved, for the next start. Where the file cannot be written now, it is next time.
    private func remember(_ found: HAPAddress, of record: PairingRecord) async {
        guard found != record.address, found != address else { return }
        try? await shelf.relocate(pairing, ifStill: record, to: found)
    }

    private func serve(
        _ session: HAPSession, _ configuration: UInt64?, _ record: PairingRecord, _ owner: some Owner
    ) async -> (trouble: LampTrouble, work: Work) {
        let links: [Identifier: LampLink]
        do throws(HAPError) {
            links = try await find(session)
        } catch {
            return (.unreachable(error), Work(isUnverified: error.isUnverified))
        }
        guard !links.isEmpty else { return (.noLightbulb, Work()) }
        for member in members where links[member.lamp] == nil { await owner.disconnected(member.lamp, .noLightbulb) }
        let requests = links.mapValues { _ in Mailbox<LampQueue.Request>() }
        for (lamp, mailbox) in requests {
            metrics(of: lamp)?.sessions.add()
            await owner.connected(lamp, requests: mailbox)
        }
        let done = await withTaskGroup(of: Work.self) { group in
            for (lamp, link) in links {
                guard let mailbox = requests[lamp] else { continue }
                group.addTask { await work(link, mailbox, lamp, owner) }
            }
            let following = Task(executorPreference: EventLoop.shared) {
                await follow(session, links, configuration, record.accessoryID, owner)
            }
            let watching = Task(executorPreference: EventLoop.shared) { await endWithPairing(session, record) }
            await listen(session, links, owner)
            following.cancel()
            watching.cancel()
            for mailbox in requests.values { mailbox.finish() }
            return await group.reduce(Work()) { sum, work in
                Work(isUnverified: sum.isUnverified || work.isUnverified, hasWritten: sum.hasWritten || work.hasWritten)
            }
        }
        return (.unreachable(await session.end ?? .closed(errno: nil)), done)
    }

    /// Finds the bulbs of the members, and asks for their own changes.
    private func find(_ session: HAPSession) async throws(HAPError) -> [Identifier: LampLink] {
        let accessories = try await session.accessories()
        var links: [Identifier: LampLink] = [:]
        for member in members {
            if let bulb = member.choice.bulb(in: accessories) { links[member.lamp] = LampLink(session: session, bulb: bulb) }
        }
        _ = try await session.subscribe(to: links.values.flatMap(\.notified))
        return links
    }

    /// Performs a lamp's requests until the session ends.
    private func work(
        _ link: LampLink, _ requests: Mailbox<LampQueue.Request>, _ lamp: Identifier, _ owner: some Owner
    ) async -> Work {
        var done = Work()
        let metrics = metrics(of: lamp)
        while let request = await requests.take() {
            let start = ContinuousClock.now
            let answer = await link.perform(request)
            metrics?.answered(request, answer, after: .now - start)
            await owner.received(.answered(answer), from: lamp)
            if answer.isWritten { done.hasWritten = true }
            done.isUnverified = answer == .failed(.unverified)
            if answer == .failed(.lost) || done.isUnverified { break }
        }
        await link.session.close()
        return done
    }

    private func metrics(of lamp: Identifier) -> LampMetrics? { members.first { $0.lamp == lamp }?.metrics }

    private func listen(_ session: HAPSession, _ links: [Identifier: LampLink], _ owner: some Owner) async {
        var missed = 0
        for await reading in session.events {
            for (lamp, link) in links {
                if let input = link.report(reading) { await owner.received(input, from: lamp) }
            }
            guard session.missedEvents != missed else { continue }
            missed = session.missedEvents
            for lamp in links.keys { await owner.received(.missedReports, from: lamp) }
        }
    }

    /// Follows what the accessory says of itself: another `c#` is a changed database, another address may be a broken connection.
    private func follow(
        _ session: HAPSession, _ links: [Identifier: LampLink], _ configuration: UInt64?, _ id: String, _ owner: some Owner
    ) async {
        guard let discovery else { return }
        var known = configuration
        var places = discovery.service(id: id)?.addresses
        while !Task.isCancelled {
            await discovery.sighting(of: id)
            guard !Task.isCancelled, let service = discovery.service(id: id) else { continue }
            if let places, places != service.addresses {
                for lamp in links.keys { await owner.received(.missedReports, from: lamp) }
            }
            places = service.addresses
            defer { known = service.configuration }
            guard let known, known != service.configuration else { continue }
            do throws(HAPError) {
                let accessories = try await session.accessories()
                for member in members {
                    // A bulb that is not there any more, or one that was not, is what a new session is for.
                    guard let link = links[member.lamp], let bulb = member.choice.bulb(in: accessories) else {
                        return await session.close()
                    }
                    link.bulb = bulb
                }
                _ = try await session.subscribe(to: links.values.flatMap(\.notified))
            } catch {
                return await session.close()
            }
            for lamp in links.keys { await owner.received(.missedReports, from: lamp) }
        }
    }

    /// Ends a session whose pairing was forgotten or replaced: some accessories go on with one that was unpaired.
    private func endWithPairing(_ session: HAPSession, _ record: PairingRecord) async {
        while !Task.isCancelled {
            let stamp = await shelf.stamp()
            // A file that cannot be read now says nothing.
            if let pairings = try? await shelf.all(), pairings[pairing]?.isSamePairing(as: record) != true {
                return await session.close()
            }
            await shelf.change(from: stamp)
        }
    }

    /// Waits, but not after a sign of life: an accessory that comes to the network is tried at once.
    private func pause(_ duration: Duration, after outcome: Outcome) async {
        guard let discovery, let id = outcome.record?.accessoryID, !outcome.trouble.isFull else {
            try? await Task.sleep(for: duration)
            return
        }
        await discovery.ask()
        await withTaskGroup { group in
            group.addTask { try? await Task.sleep(for: duration) }
            group.addTask {
                try? await Task.sleep(for: Self.sightingDelay)
                await discovery.sighting(of: id)
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func waitForPairing(otherThan record: PairingRecord?) async {
        let end = ContinuousClock.now + Self.pairingWait
        while ContinuousClock.now < end, !Task.isCancelled {
            try? await Task.sleep(for: Self.pairingGlance)
            guard let found = try? await shelf.record(of: pairing) else { continue }
            if record?.isSamePairing(as: found) != true { return }
        }
    }
}

extension HAPError {
    var isUnverified: Bool {
        switch self {
        case .httpStatus(_, code: 401, _), .httpStatus(_, code: 470, _): true
        default: false
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

    /// Whether the accessory has no place for another session; then signs of life mean nothing.
    var isFull: Bool {
        if case .unreachable(.httpStatus(_, code: 503, _)) = self { true } else { false }
    }
}
