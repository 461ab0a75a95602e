import Testing

@testable import HomeKit
@testable import Lamp

@Suite struct `The lamp in the terminal` {
    @Test func `keys are known however their bytes arrive`() {
        let bytes = Array(" \u{1B}[C\u{1B}[D\u{1B}OA+-x\u{1B}[3~q\u{3}".utf8)
        let keys: [Key] = [.toggle, .brighter, .darker, .brighter, .brighter, .darker, .quit, .quit]
        var whole = KeyDecoder()
        #expect(whole.decode(bytes) == keys)
        var dripped = KeyDecoder()
        #expect(bytes.flatMap { dripped.decode([$0]) } == keys)
    }

    @Test func `it is drawn as it is`() {
        #expect(ScreenOutput.picture([BulbState(on: false, brightness: 40)]) == "○ off  ░░░░░░░░░░░░░░░░░░░░  40 %")
        #expect(ScreenOutput.picture([BulbState(on: true, brightness: 100)]).contains("████████████████████"))
        #expect(ScreenOutput.picture([BulbState(on: true), BulbState()]) == "1 of 2 lamps on")
    }

    @Test func `a controller cannot write on the terminal by its identifier`() {
        #expect(ScreenOutput.shown("7A1A\u{1B}[2J\n\u{7F}é-1") == "7A1A[2J-1")
    }

    @Test func `its QR code has the three corners of one and a light border`() throws {
        let code = try #require(QRCode("X-HM://00522H1VM7OSX"))
        // 21 modules a side is the smallest kind, and 21 characters of this alphabet do not fit it at this level.
        #expect(code.rows.count == 25)
        let finder = [true, true, true, true, true, true, true, false]
        #expect(Array(code.rows[0].prefix(8)) == finder && Array(code.rows[0].suffix(8)) == finder.reversed())
        #expect(code.rows.map { $0[0] }.suffix(8) == finder.reversed())
        let lines = code.lines
        #expect(lines.count == 15 && lines.allSatisfy { $0.count == 29 })
        #expect(lines[0] == String(repeating: "█", count: 29))
    }

    @Test func `the sheet to pair by has code and payload`() throws {
        let key = try #require(try? SetupCode("031-45-154"))
        let identity = AccessoryIdentity.random(setupCode: key)
        let sheet = SetupSheet(identity)
        #expect(sheet.code == "031-45-154")
        #expect(try SetupPayload(sheet.payload).code == key)
        #expect(try SetupPayload(sheet.payload).setupID == identity.setupID)
        #expect(sheet.text.contains(sheet.payload))
    }
}
