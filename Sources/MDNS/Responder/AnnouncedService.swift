/// A service that is offered on the network.
public struct AnnouncedService: Hashable, Sendable {
    /// What people see, such as `Lamp`; at most 63 bytes of UTF-8 count.
    public var instance: String
    /// Such as `_hap._tcp.local`.
    public var type: DNSName
    /// The name of this machine for this service, such as `handkit-1a2b.local`.
    public var host: DNSName
    public var port: UInt16
    public var text: TXTRecord

    public init(instance: String, type: DNSName, host: DNSName, port: UInt16, text: TXTRecord) {
        (self.instance, self.type, self.host, self.port, self.text) = (instance, type, host, port, text)
    }

    /// The full name: instance and type.
    var name: DNSName { type.prefixed(by: instance) ?? type }

    /// The same under the name that is tried after this one was found taken: `Lamp`, `Lamp (2)`, `Lamp (3)`.
    var renamed: AnnouncedService {
        var copy = self
        if instance.hasSuffix(")"), let open = instance.lastIndex(of: "("), open != instance.startIndex,
            let number = Int(instance[instance.index(after: open)...].dropLast())
        {
            copy.instance = "\(instance[..<open])(\(number + 1))"
        } else {
            copy.instance = "\(instance) (2)"
        }
        return copy
    }
}

/// What is said about a service: answers, announcements and goodbyes, without any time or network.
struct ServiceRecords: Sendable {
    /// Seconds for what hangs on an address, and for all else (RFC 6762, 10).
    static let hostLifetime: UInt32 = 120
    static let otherLifetime: UInt32 = 4500
    /// Seconds for resolvers that are no mDNS (RFC 6762, 6.7).
    static let legacyLifetime: UInt32 = 10

    var service: AnnouncedService

    private static let enumeration = DNSName("_services._dns-sd._udp.local")

    /// - Parameter addresses: Of the interface that the message goes to; 4 or 16 bytes each.
    func announcement(_ addresses: [[UInt8]]) -> DNSMessage {
        DNSMessage(
            isResponse: true,
            answers: [pointer, serviceRecord, textRecord] + hostRecords(addresses) + [enumerationRecord].compactMap(\.self))
    }

    /// Takes the service off the network; the host's addresses go with nobody knowing the service.
    var goodbye: DNSMessage {
        var message = DNSMessage(isResponse: true, answers: [pointer, serviceRecord, textRecord])
        for index in message.answers.indices { message.answers[index].timeToLive = 0 }
        return message
    }

    /// Asks whether somebody else has the name already (RFC 6762, 8.1).
    var probe: DNSMessage {
        DNSMessage(
            isResponse: false, questions: [DNSQuestion(service.name, .any, wantsUnicast: true)], authorities: uniqueRecords)
    }

    /// What becomes of the name where a message asks for it too; nil where it does not.
    func contest(_ message: DNSMessage) -> ProbeContest.Outcome? {
        guard !message.isResponse, message.questions.contains(where: { $0.name == service.name }) else { return nil }
        let theirs = message.authorities.filter { $0.name == service.name }
        return theirs.isEmpty ? nil : ProbeContest.outcome(ours: uniqueRecords, theirs: theirs)
    }

    /// What nobody else may say of the name.
    private var uniqueRecords: [DNSRecord] { [serviceRecord, textRecord] }

    /// Whether a message says that the name belongs to another service.
    func isConflict(_ message: DNSMessage) -> Bool {
        guard message.isResponse else { return false }
        return (message.answers + message.additionals).contains { record in
            guard record.name == service.name, record.timeToLive > 0, case .srv(_, _, let port, let target) = record.value else {
                return false
            }
            return port != service.port || target != service.host
        }
    }

    /// The answer to a question; nil where there is nothing to say.
    ///
    /// - Parameter isLegacy: From another port than 5353, so that the answer has to look like a DNS server's.
    func answer(to query: DNSMessage, isLegacy: Bool, _ addresses: [[UInt8]]) -> DNSMessage? {
        guard !query.isResponse else { return nil }
        var answers: [DNSRecord] = []
        var additionals: [DNSRecord] = []
        for question in query.questions {
            switch question.name {
            case service.type where question.asks(.ptr):
                answers.append(pointer)
                additionals += [serviceRecord, textRecord] + hostRecords(addresses)
            case Self.enumeration where question.asks(.ptr):
                if let record = enumerationRecord { answers.append(record) }
            case service.name:
                if question.asks(.srv) {
                    answers.append(serviceRecord)
                    additionals += hostRecords(addresses)
                }
                if question.asks(.txt) { answers.append(textRecord) }
                if !question.asks(.srv), !question.asks(.txt) { answers.append(nsec(service.name, [.srv, .txt])) }
            case service.host:
                let records = hostRecords(addresses).filter { question.asks($0.type) }
                // To say what does not exist spares the asker a time-out.
                answers += records.isEmpty ? [nsec(service.host, Set(hostRecords(addresses).map(\.type)))] : records
            default: break
            }
        }
        answers = unique(answers).filter { !isKnown($0, to: query) }
        guard !answers.isEmpty else { return nil }
        additionals = unique(additionals).filter { record in !answers.contains(record) && !isKnown(record, to: query) }
        guard isLegacy else { return DNSMessage(isResponse: true, answers: answers, additionals: additionals) }
        return DNSMessage(
            id: query.id, isResponse: true, questions: query.questions, answers: answers.map(Self.legacy),
            additionals: additionals.map(Self.legacy))
    }

    private var pointer: DNSRecord { DNSRecord(service.type, .ptr(service.name), timeToLive: Self.otherLifetime) }

    private var enumerationRecord: DNSRecord? {
        Self.enumeration.map { DNSRecord($0, .ptr(service.type), timeToLive: Self.otherLifetime) }
    }

    private var serviceRecord: DNSRecord {
        DNSRecord(
            service.name, .srv(priority: 0, weight: 0, port: service.port, target: service.host), timeToLive: Self.hostLifetime,
            flushesCache: true)
    }

    private var textRecord: DNSRecord {
        DNSRecord(service.name, .txt(service.text.strings), timeToLive: Self.otherLifetime, flushesCache: true)
    }

    private func hostRecords(_ addresses: [[UInt8]]) -> [DNSRecord] {
        addresses.map { address in
            DNSRecord(
                service.host, address.count == 4 ? .a(address) : .aaaa(address), timeToLive: Self.hostLifetime, flushesCache: true)
        }
    }

    private func nsec(_ name: DNSName, _ types: Set<DNSType>) -> DNSRecord {
        DNSRecord(name, .nsec(next: name, types: types), timeToLive: Self.hostLifetime, flushesCache: true)
    }

    /// Whether the asker has said that it knows the record for at least half of its life yet (RFC 6762, 7.1).
    private func isKnown(_ record: DNSRecord, to query: DNSMessage) -> Bool {
        query.answers.contains { $0.name == record.name && $0.value == record.value && $0.timeToLive >= record.timeToLive / 2 }
    }

    private func unique(_ records: [DNSRecord]) -> [DNSRecord] {
        var seen: Set<DNSRecord> = []
        return records.filter { seen.insert($0).inserted }
    }

    private static func legacy(_ record: DNSRecord) -> DNSRecord {
        var record = record
        record.timeToLive = min(record.timeToLive, legacyLifetime)
        record.flushesCache = false
        return record
    }
}

extension DNSMessage {
    /// Whether others may answer the same question too, so that all who do wait for a time of their own (RFC 6762, 6).
    var isShared: Bool { answers.contains { $0.type == .ptr } }
}

extension DNSQuestion {
    fileprivate func asks(_ type: DNSType) -> Bool { self.type == type || self.type == .any }
}
