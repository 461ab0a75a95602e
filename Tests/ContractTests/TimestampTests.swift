import Contract
import Foundation
import Glibc
import TestSupport
import Testing

struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (1_000_000_000_000, "2001-09-09T01:46:40.000Z"),
            (1_234_567_890_123, "2009-02-13T23:31:30.123Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"), (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (4_107_456_000_000, "2100-02-28T00:00:00.000Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (-2_203_891_200_000, "1900-03-01T00:00:00.000Z"), (2_147_483_647_000, "2038-01-19T03:14:07.000Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func `known moments are written and read as the calendar has them`(milliseconds: Int64, text: String) {
        #expect(Timestamp(millisecondsSinceEpoch: milliseconds).description == text)
        #expect(Timestamp(text)?.millisecondsSinceEpoch == milliseconds)
    }

    @Test func `every day of 800 years agrees with the C library and is read back`() {
        var day: Int64 = -146_097
        while day <= 146_097 {
            var (seconds, parts) = (Int(day * 86_400), tm())
            gmtime_r(&seconds, &parts)
            let stamp = Timestamp(millisecondsSinceEpoch: day * 86_400_000 + 43_200_500)
            let text = stamp.description
            func number(_ from: Int, _ count: Int) -> Int32? { Int32(text.dropFirst(from).prefix(count)) }
            #expect(number(0, 4) == parts.tm_year + 1900 && number(5, 2) == parts.tm_mon + 1 && number(8, 2) == parts.tm_mday, "day \(day)")
            #expect(Timestamp(text) == stamp, "day \(day)")
            day += 1
        }
    }

    @Test func `random moments of ten thousand years are read back`() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<20_000 {
            let stamp = Timestamp(millisecondsSinceEpoch: .random(in: -62_135_596_800_000...253_402_300_799_999, using: &random))
            #expect(Timestamp(stamp.description) == stamp)
        }
    }

    @Test(
        arguments: [
            "2026-11-30T15:39:47Z", "2026-11-30t15:39:47z", "2026-11-30T15:39:47.0Z", "2026-11-30T15:39:47.0009999999999Z",
            "2026-11-30T15:39:47+00:00", "2026-11-30T15:39:47-00:00", "2026-11-30T17:09:47+01:30", "2026-11-30T10:09:47-05:30",
            "2026-12-01T15:38:47.000+23:59",
        ])
    func `the same moment may be written in every way of RFC 3339`(text: String) {
        #expect(Timestamp(text)?.description == "2026-11-30T15:39:47.000Z")
    }

    @Test func `digits beyond milliseconds are dropped, missing ones are zeros`() {
        #expect(Timestamp("2026-11-30T15:39:47.1Z")?.description == "2026-11-30T15:39:47.100Z")
        #expect(Timestamp("2026-11-30T15:39:47.12Z")?.description == "2026-11-30T15:39:47.120Z")
        #expect(Timestamp("2026-11-30T15:39:47.1239Z")?.description == "2026-11-30T15:39:47.123Z")
        #expect(Timestamp("2026-11-30T15:39:47.\(String(repeating: "9", count: 3000))Z")?.description == "2026-11-30T15:39:47.999Z")
    }

    @Test func `a leap second is the first of the next minute`() {
        #expect(Timestamp("2016-12-31T23:59:60Z")?.description == "2017-01-01T00:00:00.000Z")
    }

    @Test(
        arguments: [
            "", "Z", "2026", "2026-11-30", "2026-11-30T15:39:47", "2026-11-30T15:39Z", "2026-11-30 15:39:47Z", "2026-11-30T15:39:47.Z",
            "2026-11-30T15:39:47,5Z", "2026-11-30T15:39:47ZZ", "2026-11-30T15:39:47Z ", " 2026-11-30T15:39:47Z", "2026-11-30T15:39:47Z\n",
            "2026-11-30T15:39:47+0000", "2026-11-30T15:39:47+00", "2026-11-30T15:39:47+24:00", "2026-11-30T15:39:47+00:60",
            "2026-00-30T15:39:47Z", "2026-13-30T15:39:47Z", "2026-11-31T15:39:47Z", "2026-11-00T15:39:47Z", "2026-02-29T15:39:47Z",
            "2100-02-29T15:39:47Z", "1900-02-29T15:39:47Z", "2026-11-30T24:00:00Z", "2026-11-30T15:60:47Z", "2026-11-30T15:39:61Z",
            "26-11-30T15:39:47Z", "12026-11-30T15:39:47Z", "-026-11-30T15:39:47Z", "2026-1-30T15:39:47Z", "２０２６-11-30T15:39:47Z",
            "1764517187123", "now",
        ])
    func `anything else is no moment`(text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test func `random bytes and random changes to a good text are refused or mean what they say`() {
        var random = SeededGenerator(seed: 13)
        let good = Array("2026-11-30T15:39:47.123Z".utf8)
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0x20...0x7e, using: &random)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let stamp = Timestamp(text) else { continue }
            #expect(Timestamp(stamp.description) == stamp, "\(text)")
        }
        for _ in 0..<2_000 {
            #expect(Timestamp(String(decoding: random.bytes(.random(in: 0...40, using: &random)), as: UTF8.self)) == nil)
        }
    }

    @Test func `moments are ordered by time`() {
        let stamps = [-1, 0, 1, 1000].map { Timestamp(millisecondsSinceEpoch: $0) }
        #expect(stamps.shuffled().sorted() == stamps)
    }
}
