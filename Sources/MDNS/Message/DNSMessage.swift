/// Why bytes are no DNS message.
public enum DNSFault: Error, Equatable, Sendable {
    /// The bytes end within a field.
    case truncated
    /// A label or a name is longer than DNS allows.
    case nameTooLong
    /// A compression pointer does not point back to an earlier place, or a label has an unknown kind.
    case badPointer
    /// A record's data has not the form of its type.
    case badData(DNSType)
}

/// A DNS message as mDNS uses it (RFC 1035, RFC 6762).
///
/// Decoding takes time linear in the message: names may only point back, each is at most 255 bytes, and every question and record takes
/// bytes of its own. What belongs to no Internet class is left out.
public struct DNSMessage: Hashable, Sendable {
    /// Zero in mDNS, except in questions from another port than 5353 and their answers.
    public var id: UInt16
    public var isResponse: Bool
    /// Whether more known answers follow in another message (questions), or not everything fitted (answers).
    public var isTruncated: Bool
    public var questions: [DNSQuestion]
    public var answers: [DNSRecord]
    public var authorities: [DNSRecord]
    public var additionals: [DNSRecord]

    public init(
        id: UInt16 = 0, isResponse: Bool, isTruncated: Bool = false, questions: [DNSQuestion] = [], answers: [DNSRecord] = [],
        authorities: [DNSRecord] = [], additionals: [DNSRecord] = []
    ) {
        (self.id, self.isResponse, self.isTruncated) = (id, isResponse, isTruncated)
        (self.questions, self.answers, self.authorities, self.additionals) = (questions, answers, authorities, additionals)
    }

    /// A question as a resolver sends it.
    public static func query(_ questions: [DNSQuestion], id: UInt16 = 0, knownAnswers: [DNSRecord] = []) -> DNSMessage {
        DNSMessage(id: id, isResponse: false, questions: questions, answers: knownAnswers)
    }

    /// Reads one datagram.
    public init(decoding bytes: [UInt8]) throws(DNSFault) {
        var reader = DNSReader(bytes)
        id = try reader.uint16()
        let flags = try reader.uint16()
        isResponse = flags & 0x8000 != 0
        isTruncated = flags & 0x0200 != 0
        let counts = (try reader.uint16(), try reader.uint16(), try reader.uint16(), try reader.uint16())
        questions = []
        for _ in 0..<counts.0 {
            if let question = try reader.question() { questions.append(question) }
        }
        answers = try reader.records(counts.1)
        authorities = try reader.records(counts.2)
        additionals = try reader.records(counts.3)
    }

    /// The datagram, names compressed where they may be.
    public var encoded: [UInt8] {
        var writer = DNSWriter()
        writer.uint16(id)
        // Answers of mDNS are authoritative (RFC 6762, 18.4).
        writer.uint16((isResponse ? 0x8400 : 0) | (isTruncated ? 0x0200 : 0))
        for count in [questions.count, answers.count, authorities.count, additionals.count] {
            writer.uint16(UInt16(clamping: count))
        }
        for question in questions.prefix(Int(UInt16.max)) { writer.question(question) }
        for section in [answers, authorities, additionals] {
            for record in section.prefix(Int(UInt16.max)) { writer.record(record) }
        }
        return writer.bytes
    }
}

/// The Internet class; its top bit has a meaning of its own in mDNS.
private let internet: UInt16 = 1

private struct DNSReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func uint16() throws(DNSFault) -> UInt16 {
        let field = try take(2, before: bytes.count)
        return UInt16(field[0]) << 8 | UInt16(field[1])
    }

    mutating func question() throws(DNSFault) -> DNSQuestion? {
        let name = try name(before: bytes.count)
        let type = DNSType(rawValue: try uint16())
        let kind = try uint16()
        // Class 255 asks for all of them.
        guard kind & 0x7FFF == internet || kind & 0x7FFF == 255 else { return nil }
        return DNSQuestion(name, type, wantsUnicast: kind & 0x8000 != 0)
    }

    mutating func records(_ count: UInt16) throws(DNSFault) -> [DNSRecord] {
        var records: [DNSRecord] = []
        for _ in 0..<count {
            let name = try name(before: bytes.count)
            let type = DNSType(rawValue: try uint16())
            let kind = try uint16()
            let timeToLive = UInt32(try uint16()) << 16 | UInt32(try uint16())
            let length = Int(try uint16())
            guard bytes.count - position >= length else { throw .truncated }
            let end = position + length
            let value = try value(of: type, before: end)
            position = end
            guard kind & 0x7FFF == internet else { continue }
            records.append(DNSRecord(name, value, timeToLive: timeToLive, flushesCache: kind & 0x8000 != 0))
        }
        return records
    }

    private mutating func value(of type: DNSType, before end: Int) throws(DNSFault) -> DNSRecord.Value {
        let start = position
        do throws(DNSFault) {
            let value: DNSRecord.Value
            switch type {
            case .a: value = .a(try take(4, before: end))
            case .aaaa: value = .aaaa(try take(16, before: end))
            case .ptr: value = .ptr(try name(before: end))
            case .srv:
                let fields = try take(6, before: end)
                value = .srv(
                    priority: UInt16(fields[0]) << 8 | UInt16(fields[1]), weight: UInt16(fields[2]) << 8 | UInt16(fields[3]),
                    port: UInt16(fields[4]) << 8 | UInt16(fields[5]), target: try name(before: end))
            case .txt:
                var strings: [[UInt8]] = []
                while position < end { strings.append(try take(Int(try take(1, before: end)[0]), before: end)) }
                value = .txt(strings)
            case .nsec: value = try nsec(before: end)
            default: value = .other(type, try take(end - start, before: end))
            }
            guard position == end else { throw .badData(type) }
            return value
        } catch .truncated {
            throw .badData(type)
        }
    }

    private mutating func nsec(before end: Int) throws(DNSFault) -> DNSRecord.Value {
        let next = try name(before: end)
        var types: Set<DNSType> = []
        while position < end {
            let head = try take(2, before: end)
            for (index, byte) in try take(Int(head[1]), before: end).enumerated() where head[0] == 0 {
                for bit in 0..<8 where byte & (0x80 >> bit) != 0 {
                    guard let type = UInt16(exactly: index * 8 + bit) else { throw .badData(.nsec) }
                    types.insert(DNSType(rawValue: type))
                }
            }
        }
        return .nsec(next: next, types: types)
    }

    /// A name that begins here; what it points to may lie anywhere before it.
    private mutating func name(before end: Int) throws(DNSFault) -> DNSName {
        var labels: [[UInt8]] = []
        var length = 1
        var place = position
        /// Where the bytes that have not been followed yet begin; every pointer must go before it, so that no name is endless.
        var lowest = position
        var limit = end
        var afterPointer: Int?
        while true {
            guard place < limit else { throw .truncated }
            let head = bytes[place]
            switch head >> 6 {
            case 0:
                place += 1
                if head == 0 {
                    position = afterPointer ?? place
                    guard let name = DNSName(labels: labels) else { throw .nameTooLong }
                    return name
                }
                guard limit - place >= Int(head) else { throw .truncated }
                length += Int(head) + 1
                guard length <= DNSName.maximumLength else { throw .nameTooLong }
                labels.append(Array(bytes[place..<place + Int(head)]))
                place += Int(head)
            case 3:
                guard limit - place >= 2 else { throw .truncated }
                let target = Int(head & 0x3F) << 8 | Int(bytes[place + 1])
                guard target < lowest else { throw .badPointer }
                afterPointer = afterPointer ?? place + 2
                (place, lowest, limit) = (target, target, bytes.count)
            default: throw .badPointer
            }
        }
    }

    private mutating func take(_ count: Int, before end: Int) throws(DNSFault) -> [UInt8] {
        guard end - position >= count else { throw .truncated }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }
}

private struct DNSWriter {
    /// The last place a pointer can name.
    private static let lastPointer = 0x3FFF

    private(set) var bytes: [UInt8] = []
    private var places: [[[UInt8]]: Int] = [:]

    mutating func uint16(_ value: UInt16) { bytes += [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)] }

    mutating func question(_ question: DNSQuestion) {
        name(question.name)
        uint16(question.type.rawValue)
        uint16(internet | (question.wantsUnicast ? 0x8000 : 0))
    }

    mutating func record(_ record: DNSRecord) {
        name(record.name)
        uint16(record.type.rawValue)
        uint16(internet | (record.flushesCache ? 0x8000 : 0))
        uint16(UInt16(record.timeToLive >> 16))
        uint16(UInt16(truncatingIfNeeded: record.timeToLive))
        let lengthPlace = bytes.count
        uint16(0)
        switch record.value {
        case .a(let address), .aaaa(let address): bytes += address
        case .ptr(let target): name(target)
        case .srv(let priority, let weight, let port, let target):
            for number in [priority, weight, port] { uint16(number) }
            // Old resolvers do not expect a pointer here, but mDNS allows it (RFC 6762, 18.14).
            name(target)
        case .txt(let strings):
            for string in strings {
                bytes.append(UInt8(min(string.count, 255)))
                bytes += string.prefix(255)
            }
        case .nsec(let next, let types):
            name(next)
            let low = types.map(\.rawValue).filter { $0 < 256 }
            let last = low.max().map { Int($0) / 8 } ?? 0
            var bitmap = [UInt8](repeating: 0, count: last + 1)
            for type in low { bitmap[Int(type) / 8] |= 0x80 >> (type % 8) }
            bytes += [0, UInt8(bitmap.count)] + bitmap
        case .other(_, let data): bytes += data
        }
        let length = UInt16(clamping: bytes.count - lengthPlace - 2)
        bytes[lengthPlace] = UInt8(length >> 8)
        bytes[lengthPlace + 1] = UInt8(truncatingIfNeeded: length)
    }

    private mutating func name(_ name: DNSName) {
        var rest = name.folded[...]
        for label in name.labels {
            let key = Array(rest)
            if let place = places[key] {
                uint16(0xC000 | UInt16(place))
                return
            }
            if bytes.count <= Self.lastPointer { places[key] = bytes.count }
            bytes.append(UInt8(label.count))
            bytes += label
            rest.removeFirst()
        }
        bytes.append(0)
    }
}
