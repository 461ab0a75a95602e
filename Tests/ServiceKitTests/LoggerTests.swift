import FoundationEssentials
import Glibc
import ServiceKit
import Testing

/// A moment with every part different: 2026-11-30T15:39:47.123Z.
private let moment = WallTime(millisecondsSinceEpoch: 1_796_053_187_123)

private struct Line: Decodable, Equatable {
    enum Value: Decodable, Equatable {
        case text(String)
        case number(Double)
        case flag(Bool)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }

    var time: String
    var level: String
    var program: String
    var message: String
    var fields: [String: Value]
}

struct LoggerTests {
    @Test func `a JSON line has five stable names and keeps the kinds of its values`() throws {
        let log = LogCapture()
        let logger = Logger(program: "handkit-bridge", destination: log, clock: { moment })
        logger.warning("broker lost", ["host": "broker \"one\"\n", "port": 1883, "share": 0.5, "again": true, "nothing": Double.nan])
        let json = try #require(log.records.first?.json)
        #expect(!json.contains("\n"))
        let line = try JSONDecoder().decode(Line.self, from: Data(json.utf8))
        #expect(
            line
                == Line(
                    time: "2026-11-30T15:39:47.123Z", level: "warning", program: "handkit-bridge", message: "broker lost",
                    fields: [
                        "host": .text("broker \"one\"\n"), "port": .number(1883), "share": .number(0.5), "again": .flag(true),
                        "nothing": .text("nan"),
                    ]))
        #expect(json.hasPrefix("{\"time\":\"2026-11-30T15:39:47.123Z\",\"level\":\"warning\",\"program\":\"handkit-bridge\",\"message\":"))
    }

    @Test func `any text survives a JSON line`() throws {
        let hostile = String(String.UnicodeScalarView((0..<0x2100).compactMap(Unicode.Scalar.init))) + "🖐"
        let log = LogCapture()
        Logger(program: "p", destination: log).error("m", ["text": hostile])
        let json = try #require(log.records.first?.json)
        let line = try JSONDecoder().decode(Line.self, from: Data(json.utf8))
        #expect(line.fields["text"] == .text(hostile))
    }

    @Test func `a text line reads well and cannot be forged by a value`() throws {
        let log = LogCapture()
        let logger = Logger(program: "handkit-bridge", destination: log, clock: { moment })
        logger.info("connected", ["host": "localhost", "note": "two words", "forged": "x\n2026 error\u{1b}[31m", "empty": ""])
        #expect(
            log.records.first?.text
                == #"2026-11-30T15:39:47.123Z info    handkit-bridge: connected host=localhost note="two words" "#
                + #"forged="x\n2026 error\u001b[31m" empty="""#)
    }

    @Test func `lines below the level are not written`() {
        let log = LogCapture()
        let logger = Logger(program: "p", level: .notice, destination: log)
        logger.debug("a")
        logger.info("b")
        logger.notice("c")
        logger.warning("d")
        logger.error("e")
        #expect(log.records.map(\.message) == ["c", "d", "e"])
    }

    @Test func `fields of a derived logger stand on each of its lines, and later ones win`() {
        let log = LogCapture()
        let logger = Logger(program: "p", destination: log).with(["lamp": "desk", "try": 1])
        logger.info("written", ["try": 2, "took": "3 ms"])
        #expect(log.records.first?.fields.map(\.name) == ["lamp", "try", "took"])
        #expect(log.records.first?["try"] == "2")
    }

    @Test func `a stream gets one line for each record, as JSON where it is no terminal`() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let logger = Logger(program: "p", destination: LogStream(descriptor: ends[1]), clock: { moment })
        logger.info("one")
        logger.info("two", ["n": 2])
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(ends[0], &buffer, buffer.count)
        #expect(
            String(decoding: buffer.prefix(count), as: UTF8.self) == """
                {"time":"2026-11-30T15:39:47.123Z","level":"info","program":"p","message":"one","fields":{}}
                {"time":"2026-11-30T15:39:47.123Z","level":"info","program":"p","message":"two","fields":{"n":2}}

                """)
    }

    @Test func `a secret in a field is redacted`() {
        let log = LogCapture()
        Logger(program: "p", destination: log).info("m", ["password": Secret("hunter2")])
        #expect(log.records.first?["password"] == "<redacted>")
        #expect(!"\(Secret("hunter2"))".contains("hunter2"))
        #expect(!String(reflecting: Secret("hunter2")).contains("hunter2"))
        var dumped = ""
        dump(Secret("hunter2"), to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }
}
