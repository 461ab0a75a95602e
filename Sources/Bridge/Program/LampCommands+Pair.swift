import Contract
import Glibc
import HomeKit
import ServiceKit
import Settings

/// The commands that make pairings and move them.
extension LampCommands {
    /// Where an accessory is that is to be paired, or shown.
    struct Target {
        var addresses: [HAPAddress]
        /// Nil where nothing but the address is known.
        var service: HAPService?
    }

    func pair(_ arguments: Arguments) async throws {
        let name = arguments["NAME"] ?? ""
        guard (try? Identifier(name)) != nil else { throw BridgeFailure.badName(name) }
        if let host = arguments["host"], HostAndPort(host) == nil { throw BridgeFailure.badAddress(host) }
        if try await pairings()[name] != nil, !arguments.has(flag: "replace") {
            throw BridgeFailure.alreadyPaired(name: name, path: shelf.path)
        }
        // A pairing that cannot be kept would lock everybody out of the lamp.
        try await kept { () async throws(PairingStoreError) in try await shelf.rehearse() }
        let secret = try await SetupSecret.read(file: arguments["code-file"], isPiped: arguments.has(flag: "code-stdin"))
        let target = try await target(which: arguments["host"] ?? arguments["lamp"], payload: secret.payload)
        try await pair(name, with: secret.code, target)
    }

    private func pair(_ name: String, with code: SetupCode, _ target: Target) async throws {
        let record: PairingRecord
        do throws(HAPError) {
            record = try await HAPPairing.pair(at: target.addresses, code: code, method: target.service?.pairingMethod ?? .plain)
            if let id = target.service?.id, id != record.accessoryID.uppercased() {
                try? await HAPPairing.unpair(record)
                throw .wrongAccessory(expected: id, found: record.accessoryID)
            }
        } catch {
            throw BridgeFailure.lamp(name: name, address: target.addresses[0], .hap(error), pairing: true)
        }
        do throws(PairingStoreError) {
            try await shelf.save(record, as: name)
        } catch {
            let undone = (try? await HAPPairing.unpair(record)) != nil
            throw BridgeFailure.pairingNotKept(name: name, error, undone: undone)
        }
        let values = try await read(Paired(name: name, record: record, addresses: [record.address], choice: .first))
        print("paired '\(name)' at \(record.address): \(values.text)")
    }

    /// Finds what a person means.
    ///
    /// - Parameters:
    ///   - which: A name or id as `discover` shows it, or an address with port; nil for the one that the payload names, or else the only
    ///     accessory that is not paired.
    func target(which: String?, payload: SetupPayload?) async throws(BridgeFailure) -> Target {
        if let which, let place = HostAndPort(which) {
            return Target(addresses: [HAPAddress(host: place.host, port: place.port)], service: nil)
        }
        guard settings.bridge.discovers else { throw .discoveryOff }
        let search = try await NetworkSearch.find { services in
            if let which { return Self.only(services.filter { $0.has(id: which) || $0.isCalled(which) }) }
            guard let payload else { return nil }
            return Self.only(services.filter { $0.matches(payload) })
        }
        let found = search.found
        // Who is the only one is known only after everybody had the time to answer.
        let unpaired = search.seen.filter { !$0.isPaired && !$0.addresses.isEmpty }
        if let found, !found.addresses.isEmpty { return Target(addresses: found.addresses, service: found) }
        if which == nil, unpaired.count == 1, payload == nil || unpaired[0].setupHash == nil {
            return Target(addresses: unpaired[0].addresses, service: unpaired[0])
        }
        let seen = (which == nil ? unpaired : search.seen).map { $0.id.map { id in "\(id)" } ?? $0.name }
        throw which.map { .notFound($0, seen: seen) } ?? (payload == nil ? .unclear(seen: seen) : .noneMatches(seen: seen))
    }

    private static func only(_ services: [HAPService]) -> HAPService? { services.count == 1 ? services[0] : nil }

    // MARK: Import and export

    /// Takes over the pairings of an aiohomekit file.
    func importPairings(from file: String, replace: Bool) async throws {
        var bytes: [UInt8]
        do throws(FileFailure) { bytes = try readFile(file, limit: 1 << 20) } catch { throw BridgeFailure.badPairingFile(error) }
        defer { for index in bytes.indices { bytes[index] = 0 } }
        let found: [String: PairingRecord]
        do throws(AIOHomeKitFile.Fault) { found = try AIOHomeKitFile.decode(bytes) } catch {
            throw BridgeFailure.foreign(file: file, error)
        }
        var records: [String: PairingRecord] = [:]
        for (alias, record) in found.sorted(by: { $0.key < $1.key }) {
            let name = Self.name(from: alias)
            guard records[name] == nil else { throw BridgeFailure.sameName(name, file: file) }
            records[name] = record
        }
        let known = try await pairings()
        if !replace, let name = records.keys.sorted().first(where: { known[$0] != nil }) {
            throw BridgeFailure.alreadyPaired(name: name, path: shelf.path)
        }
        let wanted = records
        try await kept { () async throws(PairingStoreError) in try await shelf.save(wanted) }
        print(
            "imported \(records.count == 1 ? "1 pairing" : "\(records.count) pairings"): \(records.keys.sorted().joined(separator: ", "))")
    }

    /// Writes the pairings, or one of them, as aiohomekit reads them; to a new file that only its owner may read.
    func exportPairings(_ name: String?, to file: String) async throws {
        var records = try await pairings()
        if let name {
            guard let record = records[name] else { throw BridgeFailure.unknownLamp(name, known: records.keys.sorted()) }
            records = [name: record]
        }
        var bytes = AIOHomeKitFile.encode(records)
        defer { for index in bytes.indices { bytes[index] = 0 } }
        // What stands there may be somebody's keys.
        guard access(file, F_OK) != 0 else { throw BridgeFailure.badPairingFile(FileFailure(path: file, cause: .errno(EEXIST))) }
        do throws(FileFailure) { try writeFile(file, bytes, mode: 0o600) } catch { throw BridgeFailure.badPairingFile(error) }
        print("exported \(records.count == 1 ? "1 pairing" : "\(records.count) pairings") to \(file), private keys included")
    }

    /// An alias as a lamp's name: what a name may not hold becomes `-`.
    static func name(from alias: String) -> String {
        let characters = alias.lowercased().unicodeScalars.map { scalar -> Character in
            switch scalar {
            case "a"..."z", "0"..."9", "_", "-": Character(scalar)
            default: "-"
            }
        }
        let name = String(String(characters).split(separator: "-").joined(separator: "-").prefix(64))
        return name.isEmpty ? "lamp" : name
    }
}

extension HAPService {
    fileprivate func matches(_ payload: SetupPayload) -> Bool {
        guard let setupHash, let id else { return false }
        return payload.matches(hash: setupHash, accessoryID: id)
    }
}
