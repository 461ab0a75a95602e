/// What has been heard of the services of one type; pure: messages and time in, sightings out.
///
/// Everything is bounded, so that nobody on the network can fill the memory: what comes on top of the bounds is left alone.
package struct ServiceTable: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package static let maximumInstances = 512
    package static let maximumHosts = 512
    package static let maximumAddresses = 16
    /// Answers to questions from another port than 5353 live ten seconds by rule (RFC 6762, 6.7), less than passes between two questions:
    /// so long a service is believed to be there at least, two questions that both get lost included.
    static let minimumLifetime = Duration.seconds(150)
    package static let maximumLifetime = Duration.seconds(4500)
    /// A goodbye counts a second later, so that a service that comes back at once was never gone (RFC 6762, 10.1).
    static let farewell = Duration.seconds(1)

    private struct Instance: Sendable {
        var name: DNSName
        var expires: Instant
        var location: (host: DNSName, port: UInt16)?
        var text: TXTRecord?
        /// As it was last told of.
        var told: BrowsedService?
    }

    private struct Host: Sendable {
        var addresses: [BrowsedService.Address: Instant] = [:]
    }

    let type: DNSName
    private var instances: [DNSName: Instance] = [:]
    private var hosts: [DNSName: Host] = [:]
    /// When the next thing goes by itself, or earlier.
    package private(set) var deadline: Instant?

    package init(type: DNSName) { self.type = type }

    /// All services of which everything is known.
    package var services: [BrowsedService] { instances.values.compactMap(\.told) }

    /// Takes a message.
    /// - Parameter isToAll: Whether it was sent to the group, not to this machine alone.
    package mutating func received(_ message: DNSMessage, interface: UInt32, isToAll: Bool, at now: Instant) -> [ServiceSighting] {
        guard message.isResponse else { return [] }
        let records = message.answers + message.additionals
        var spoken: Set<DNSName> = []
        for record in records where record.name == type {
            guard case .ptr(let name) = record.value else { continue }
            pointer(to: name, record, now)
            if record.timeToLive > 0 { spoken.insert(name) }
        }
        var touched = spoken
        for record in records where record.name != type && record.name.hasSuffix(type) {
            describe(record, &spoken, now)
            touched.insert(record.name)
        }
        let changedHosts = learnAddresses(records, interface, now)
        if !changedHosts.isEmpty {
            for (name, instance) in instances {
                if let host = instance.location?.host, changedHosts.contains(host) { touched.insert(name) }
            }
        }
        return expire(at: now) + tell(of: touched, spoken: isToAll ? spoken : [])
    }

    /// Lets go of what has had its time.
    mutating func expire(at now: Instant) -> [ServiceSighting] {
        guard let deadline, deadline <= now else { return [] }
        var sightings: [ServiceSighting] = []
        for (name, instance) in instances where instance.expires <= now {
            instances[name] = nil
            if let told = instance.told { sightings.append(.gone(instance: told.instance)) }
        }
        let wanted = Set(instances.values.compactMap(\.location?.host))
        hosts = hosts.filter { wanted.contains($0.key) }.mapValues { host in Host(addresses: host.addresses.filter { $0.value > now }) }
        self.deadline = (instances.values.map(\.expires) + hosts.values.flatMap(\.addresses.values)).min()
        return sightings + tell(of: Set(instances.keys), spoken: [])
    }

    /// What must still be asked to know everything about the services that were named.
    var openQuestions: [DNSQuestion] {
        var questions: [DNSQuestion] = []
        for instance in instances.values {
            if instance.location == nil { questions.append(DNSQuestion(instance.name, .srv)) }
            if instance.text == nil { questions.append(DNSQuestion(instance.name, .txt)) }
            if let host = instance.location?.host, hosts[host]?.addresses.isEmpty != false {
                questions += [DNSQuestion(host, .a), DNSQuestion(host, .aaaa)]
            }
        }
        return questions
    }

    private mutating func pointer(to name: DNSName, _ record: DNSRecord, _ now: Instant) {
        guard name.hasSuffix(type), name.labels.count == type.labels.count + 1 else { return }
        if record.timeToLive == 0 {
            guard let expires = instances[name]?.expires else { return }
            instances[name]?.expires = min(expires, now + Self.farewell)
            wake(at: now + Self.farewell)
        } else {
            keep(name, record, now)
        }
    }

    private mutating func keep(_ name: DNSName, _ record: DNSRecord, _ now: Instant) {
        let expires = now + Self.lifetime(record)
        wake(at: expires)
        if instances[name] != nil {
            instances[name]?.expires = expires
        } else if instances.count < Self.maximumInstances {
            instances[name] = Instance(name: name, expires: expires)
        }
    }

    private mutating func describe(_ record: DNSRecord, _ spoken: inout Set<DNSName>, _ now: Instant) {
        guard record.name.labels.count == type.labels.count + 1 else { return }
        switch record.value {
        case .srv(_, _, let port, let target):
            if record.timeToLive == 0 { return pointer(to: record.name, record, now) }
            keep(record.name, record, now)
            instances[record.name]?.location = (target, port)
            spoken.insert(record.name)
        case .txt(let strings) where record.timeToLive > 0:
            instances[record.name]?.text = TXTRecord(strings: strings)
        default: break
        }
    }

    /// All addresses of a kind that a host has come in one message (RFC 6762, 10.2), so they replace those heard on this interface before.
    /// - Returns: The hosts of which there was one.
    private mutating func learnAddresses(_ records: [DNSRecord], _ interface: UInt32, _ now: Instant) -> Set<DNSName> {
        guard records.contains(where: { $0.type == .a || $0.type == .aaaa }) else { return [] }
        let wanted = Set(instances.values.compactMap(\.location?.host))
        if hosts.count >= Self.maximumHosts { hosts = hosts.filter { wanted.contains($0.key) } }
        var fresh: [DNSName: [BrowsedService.Address: Instant]] = [:]
        for record in records where wanted.contains(record.name) {
            let bytes: [UInt8]
            switch record.value {
            case .a(let address), .aaaa(let address): bytes = address
            default: continue
            }
            guard record.timeToLive > 0 || hosts[record.name] != nil else { continue }
            let expires = now + (record.timeToLive == 0 ? Self.farewell : Self.lifetime(record))
            wake(at: expires)
            fresh[record.name, default: [:]][BrowsedService.Address(bytes: bytes, interface: interface)] = expires
        }
        for (name, addresses) in fresh {
            guard hosts[name] != nil || hosts.count < Self.maximumHosts else { continue }
            let sizes = Set(addresses.keys.map(\.bytes.count))
            let others = (hosts[name] ?? Host()).addresses.filter { $0.key.interface != interface || !sizes.contains($0.key.bytes.count) }
            let kept = addresses.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }
                .prefix(max(0, Self.maximumAddresses - others.count))
            hosts[name] = Host(addresses: others.merging(kept.map { ($0.key, $0.value) }) { $1 })
        }
        return Set(fresh.keys)
    }

    private mutating func wake(at instant: Instant) { deadline = min(deadline ?? instant, instant) }

    private mutating func tell(of names: Set<DNSName>, spoken: Set<DNSName>) -> [ServiceSighting] {
        var sightings: [ServiceSighting] = []
        for name in names {
            guard let instance = instances[name], let service = service(instance) else { continue }
            if service != instance.told {
                instances[name]?.told = service
                sightings.append(.changed(service))
            } else if spoken.contains(name) {
                sightings.append(.alive(service))
            }
        }
        return sightings
    }

    private func service(_ instance: Instance) -> BrowsedService? {
        guard let (host, port) = instance.location, let text = instance.text else { return nil }
        // What is known stays as it is while its addresses are asked for anew.
        guard let addresses = hosts[host]?.addresses, !addresses.isEmpty else { return nil }
        return BrowsedService(
            instance: instance.name.first, host: host, port: port, text: text, addresses: Set(addresses.keys))
    }

    private static func lifetime(_ record: DNSRecord) -> Duration {
        min(max(.seconds(Int64(record.timeToLive)), minimumLifetime), maximumLifetime)
    }
}
