import Contract
import Foundation
import Testing

struct IdentifierTests {
    @Test(arguments: [
        "a", "0", "_", "-", "camera", "living-room_2", "0123456789abcdefghijklmnopqrstuvwxyz_-", String(repeating: "x", count: 64),
    ])
    func `slugs of up to 64 characters are identifiers`(text: String) throws {
        let identifier = try Identifier(text)
        #expect(identifier.rawValue == text)
        #expect("\(identifier)" == text)
    }

    @Test func `an empty text is refused as empty`() {
        #expect(throws: Identifier.Fault.empty) { try Identifier("") }
    }

    @Test func `the 65th character is one too many`() {
        #expect(throws: Identifier.Fault.tooLong(length: 65)) { try Identifier(String(repeating: "x", count: 65)) }
    }

    @Test(arguments: ["A", " ", "/", "+", "#", "$", ".", ":", "\0", "\n", "\u{7f}", "{", "`", "[", "^"] as [Character])
    func `what has a meaning in topics or is no lower-case slug is refused and named`(character: Character) {
        #expect(throws: Identifier.Fault.illegal(character: character)) { try Identifier("lamp\(character)1") }
    }

    @Test(
        arguments: [
            "é", "e\u{301}", "ａ", "а", "ſ", "ı", "Ⅰ", "٣", "３", "²", "‐", "–", "＿", "a\u{301}", "1\u{20e3}", "a\u{200d}", "😀", "\r\n",
        ] as [Character])
    func `look-alikes and combinations of letters are refused as one character`(character: Character) {
        #expect(throws: Identifier.Fault.illegal(character: character)) { try Identifier("x\(character)") }
    }

    @Test func `a character that is not allowed is told before the length`() {
        #expect(throws: Identifier.Fault.illegal(character: "é")) { try Identifier(String(repeating: "é", count: 65)) }
    }

    @Test func `JSON holds the plain text and is checked when it is read`() throws {
        let identifier = try Identifier("lamp-1")
        #expect(try String(decoding: JSONEncoder().encode([identifier]), as: UTF8.self) == #"["lamp-1"]"#)
        #expect(try JSONDecoder().decode([Identifier].self, from: Data(#"["lamp-1"]"#.utf8)) == [identifier])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([Identifier].self, from: Data(#"["Lamp 1"]"#.utf8)) }
    }
}
