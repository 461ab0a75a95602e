/// A moment in UTC as payloads carry it: RFC 3339 with milliseconds, `2026-11-30T15:39:47.123Z`.
public struct Timestamp: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Since 1970-01-01T00:00:00Z.
    public let millisecondsSinceEpoch: Int64

    public init(millisecondsSinceEpoch: Int64) { self.millisecondsSinceEpoch = millisecondsSinceEpoch }

    public static func < (left: Self, right: Self) -> Bool { left.millisecondsSinceEpoch < right.millisecondsSinceEpoch }

    public var description: String {
        let (days, rest) = Self.floorDivide(millisecondsSinceEpoch, 86_400_000)
        let (year, month, day) = Self.civil(fromDays: days)
        let seconds = rest / 1000
        return
            "\(Self.pad(year, 4))-\(Self.pad(month, 2))-\(Self.pad(day, 2))T\(Self.pad(seconds / 3600, 2)):\(Self.pad(seconds / 60 % 60, 2)):\(Self.pad(seconds % 60, 2)).\(Self.pad(rest % 1000, 3))Z"
    }

    /// Reads `YYYY-MM-DDTHH:MM:SS[.fff…](Z|±HH:MM)`; nil for anything else.
    public init?(_ text: String) {
        var cursor = Cursor(Array(text.utf8))
        guard let year = cursor.number(4), cursor.skip("-"), let month = cursor.number(2), cursor.skip("-"), let day = cursor.number(2),
            cursor.skip("T") || cursor.skip("t"), let hour = cursor.number(2), cursor.skip(":"), let minute = cursor.number(2),
            cursor.skip(":"), let second = cursor.number(2),
            (1...12).contains(month), (1...Self.daysInMonth(year, month)).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        guard let milliseconds = cursor.fraction(), let offset = cursor.zone(), cursor.isAtEnd else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        let minutes = days * 1440 + hour * 60 + minute - offset
        self.init(millisecondsSinceEpoch: (minutes * 60 + second) * 1000 + milliseconds)
    }

    private struct Cursor {
        let bytes: [UInt8]
        var index = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var isAtEnd: Bool { index == bytes.count }

        private var digit: Int64? {
            guard index < bytes.count, (0x30...0x39).contains(bytes[index]) else { return nil }
            return Int64(bytes[index] - 0x30)
        }

        mutating func number(_ count: Int) -> Int64? {
            var value: Int64 = 0
            for _ in 0..<count {
                guard let next = digit else { return nil }
                value = value * 10 + next
                index += 1
            }
            return value
        }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
            index += 1
            return true
        }

        /// Milliseconds; further digits are read and dropped.
        mutating func fraction() -> Int64? {
            guard skip(".") else { return 0 }
            var (value, weight, count): (Int64, Int64, Int) = (0, 100, 0)
            while let next = digit {
                value += next * weight
                weight /= 10
                index += 1
                count += 1
            }
            return count > 0 ? value : nil
        }

        /// Minutes east of UTC.
        mutating func zone() -> Int64? {
            if skip("Z") || skip("z") { return 0 }
            let sign: Int64
            if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
            guard let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60 else { return nil }
            return sign * (hours * 60 + minutes)
        }
    }

    // Proleptic Gregorian calendar in eras of 400 years (146,097 days), the year taken to begin in March so that leap days come last.

    private static func civil(fromDays days: Int64) -> (Int64, Int64, Int64) {
        let (era, dayOfEra) = floorDivide(days + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let (era, yearOfEra) = floorDivide(month <= 2 ? year - 1 : year, 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func daysInMonth(_ year: Int64, _ month: Int64) -> Int64 {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func pad(_ value: Int64, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}

extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let value = Self(text) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "'\(text)' is no RFC 3339 time"))
        }
        self = value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
