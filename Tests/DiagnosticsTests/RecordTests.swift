import Testing

@testable import Diagnostics

/// What a crashed process leaves, as `Sources/CCrash` writes it.
private let text = """
    program handkit-bridge
    version 0.1.0
    build 68220ae2c65d65c1b6aaa12fa6765a6ec2f5f434
    started 1000
    time 3500
    signal 11
    code 1
    address 0x0000000000000010
    thread crashes
    state 1001 started
    state 2002 broker connected
    frame 0x0000000000401234
    frame 0x00007f0000002010
    map 00400000-00401000 r--p 00000000 08:01 11                             /opt/handkit/bin/handkit-bridge
    map 00401000-00500000 r-xp 00001000 08:01 11                             /opt/handkit/bin/handkit-bridge
    map 7f0000000000-7f0000100000 r-xp 00000000 08:01 12                     /usr/lib/lib with space.so.6
    map 7ffc28c00000-7ffc28d00000 rw-p 00000000 00:00 0                      [stack]
    end 1

    """

struct RecordTests {
    private let none = Redaction(secrets: [], home: nil)

    private func record(_ changes: [String: String] = [:]) throws -> CrashRecord {
        let changed = changes.reduce(text) { $0.replacing($1.key, with: $1.value) }
        return try #require(CrashRecord(Array(changed.utf8)))
    }

    private func report(_ record: CrashRecord, _ backtrace: CrashTrace? = nil, _ redaction: Redaction? = nil) -> CrashReport {
        CrashReport(
            id: "0", record, backtrace, symbols: nil, redaction: redaction ?? none, architecture: "x86_64", dropped: 0)
    }

    @Test func `a record says what ended the process, where, and the states before`() throws {
        let report = report(try record())
        #expect(report.signal == "SIGSEGV")
        #expect(report.uptime == 2.5)
        #expect(report.states.map(\.name) == ["started", "broker connected"])
        #expect(report.frames.map(\.image) == ["handkit-bridge", "lib with space.so.6"])
        #expect(report.frames.map(\.isOwn) == [true, false])
        #expect(report.images.map(\.base) == ["0x0000000000400000", "0x00007f0000000000"])
        #expect(report.images.map(\.build) == ["68220ae2c65d65c1b6aaa12fa6765a6ec2f5f434", nil])
    }

    @Test func `a record that ends anywhere is read as far as it goes`() throws {
        let bytes = Array(text.utf8)
        let signal = try #require(text.firstRange(of: "signal 11"))
        let end = text.utf8.distance(from: text.startIndex, to: signal.upperBound)
        for count in 0...bytes.count {
            let record = CrashRecord(Array(bytes.prefix(count)))
            #expect((record != nil) == (count >= end - 1), "\(count) bytes")
        }
    }

    @Test func `a message of several lines is one line of the record`() throws {
        let record = try record(["thread crashes": "message Fatal error: a\\\\b\\nand c\\n"])
        #expect(record.message == "Fatal error: a\\b\nand c")
    }

    @Test func `secrets and homes are taken out of what was said`() throws {
        let record = try record(["thread crashes": "message no file /home/anna/x for s3cret-word, /root/home, s3cret"])
        let redaction = Redaction(secrets: ["s3cret", "s3cret-word", "no"], home: "/root")
        #expect(report(record, nil, redaction).message == "no file ~/x for [redacted], ~/home, [redacted]")
    }

    @Test func `what the backtracer found names functions, files and lines, and no folder of the machine`() throws {
        let json = """
            {"threads":[{"frames":[]},{"crashed":true,"frames":[
            {"kind":"programCounter","address":"0x0000000000401234","inlined":true,"description":"closure #1 in work(_:) + 12",
             "image":"handkit-bridge","sourceLocation":{"file":"/home/anna/handkit/Sources/Bridge/Work.swift","line":7,"column":1}},
            {"kind":"returnAddress","address":"0x00007f0000002010","symbol":"poll","image":"libc.so.6"},
            {"kind":"truncated"}]}],
            "architecture":"aarch64","images":[{"name":"libc.so.6","buildId":"00ff","baseAddress":"0x00007f0000000000",
            "endOfText":"0x00007f0000001000","path":"/usr/lib/libc.so.6"}]}
            """
        let report = report(try record(), CrashTrace(Array(json.utf8)))
        #expect(report.frames.map(\.function) == ["closure #1 in work(_:)", "poll"])
        #expect(report.frames.first?.file == "Sources/Bridge/Work.swift")
        #expect(report.frames.map(\.line) == [7, nil])
        #expect(report.function == "closure #1 in work(_:)")
        #expect(report.architecture == "aarch64")
        #expect(report.images == [CrashReport.Image(name: "libc.so.6", build: "00ff", base: "0x00007f0000000000", size: 4096)])
    }

    @Test func `what is named is the innermost function of the project, not of Swift's library in the same program`() throws {
        let json = """
            {"threads":[{"crashed":true,"frames":[
            {"address":"0x0000000000401200","symbol":"$ss17_assertionFailure__4file4line5flagss5NeverOs12StaticStringV_SSAHSus6UInt32VtF",
             "description":"_assertionFailure(_:_:file:line:flags:) + 225","image":"handkit-bridge"},
            {"address":"0x0000000000401210","symbol":"swift_release","description":"swift_release + 3","image":"handkit-bridge"},
            {"address":"0x0000000000401234","symbol":"$s12CrashCapture13crashTestTrap33_3A380BBA26948EE6DA42BEE64798A4B0LLs5NeverOyF",
             "description":"crashTestTrap() + 70","image":"handkit-bridge"}]}]}
            """
        let report = report(try record(), CrashTrace(Array(json.utf8)))
        #expect(report.frames.map(\.isOwn) == [false, false, true])
        #expect(report.function == "crashTestTrap()")
    }

    @Test func `a backtrace that is cut off or no JSON is as none`() {
        for text in ["", "{", "[]", "{\"threads\":3}"] { #expect(CrashTrace(Array(text.utf8)) == nil) }
    }
}

struct SymbolTests {
    @Test func `a program finds its own functions by their places`() throws {
        let symbols = try #require(ProgramSymbols())
        #expect(symbols.symbol(at: 0) == nil)
        #expect(symbols.symbol(at: .max) == nil)
    }

    @Test(arguments: ["/dev/null", "/etc/hostname", "/nowhere"]) func `what is no program has no symbols`(path: String) {
        #expect(ProgramSymbols(path: path) == nil)
    }
}
