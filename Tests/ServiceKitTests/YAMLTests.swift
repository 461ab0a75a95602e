import TestSupport
import Testing

@testable import ServiceKit

private func document(_ text: String) throws(YAMLError) -> YAMLDocument { try YAMLDocument(parsing: Array(text.utf8)) }

private func failure(_ text: String) -> YAMLError? {
    #expect(throws: YAMLError.self) { try document(text) }
}

struct YAMLTests {
    @Test func `maps, lists and scalars become a tree with the places they stand at`() throws {
        let root = try document("a: 1\nb:\n  - x\n  - {c: 'null', d: ~}\n# end\n").root
        #expect(root["a"] == YAMLNode(content: .scalar("1"), line: 1, column: 4))
        let list = try #require(root["b"])
        guard case .list(let items) = list.content else {
            Issue.record("no list")
            return
        }
        #expect(items[0] == YAMLNode(content: .scalar("x"), line: 3, column: 5))
        #expect(items[1]["c"]?.content == .scalar("null"))
        #expect(items[1]["d"] == YAMLNode(content: .null, line: 4, column: 20))
    }

    @Test(arguments: ["", "# only a comment\n", "---\n"]) func `a text without values is nothing or an empty map`(text: String) throws {
        let content = try document(text).root.content
        #expect(content == .map([]) || content == .null)
    }

    @Test(arguments: [[0xff, 0xfe], [0xfe, 0xff], [0xff, 0xfe, 0x61, 0x00], [0xfe, 0xff, 0x00, 0x61]] as [[UInt8]])
    func `a text that is not UTF-8 is refused, and not taken for an empty one`(bytes: [UInt8]) {
        #expect(throws: YAMLError.self) { try YAMLDocument(parsing: bytes) }
    }

    @Test func `a key that stands twice is found with both lines, and the first is kept`() throws {
        let parsed = try document("m:\n  a: 1\n  b: 2\n  a: 3\nl:\n  - x: 1\n    x: 2\n")
        #expect(parsed.root["m"]?["a"]?.content == .scalar("1"))
        #expect(parsed.duplicateKeys.map(\.path.description) == ["m.a", "l[0].x"])
        #expect(parsed.duplicateKeys.map(\.line) == [4, 7])
        #expect(parsed.duplicateKeys.map(\.firstLine) == [2, 6])
    }

    @Test func `an alias is what its anchor names`() throws {
        let root = try document("a: &x {k: v}\nb: *x\n").root
        #expect(root["b"]?["k"]?.content == .scalar("v"))
    }

    @Test func `aliases that multiply are refused before they cost anything`() throws {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...12 {
            let aliases = repeatElement("*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(aliases)]\n"
        }
        // 11, 111, 1,111 and 11,111 nodes fit into 20,000; ten times the last do not.
        #expect(failure(text) == .tooManyNodes(line: 5))
    }

    @Test func `aliases that nest deeper than the limit are refused`() {
        var text = "a0: &a0 [x]\n"
        for level in 1...40 { text += "a\(level): &a\(level) [*a\(level - 1)]\n" }
        #expect(failure(text) == .tooDeep(line: 32))
    }

    @Test func `an anchor cannot hold itself`() {
        #expect(failure("a: &x\n  b: *x\n") == .unknownAlias("x", line: 2))
    }

    @Test(arguments: [
        ("a: 1\nb: c: d\n", 2, 5),
        ("a:\n\t- x\n", 2, 1),
        ("a: [1, 2\nb: 3\n", 2, 2),
        ("a: 'open\n\n", 3, 1),
        ("a: 1\n  b: 2\n", 2, 4),
    ])
    func `a syntax error has its line and column`(text: String, line: Int, column: Int) {
        guard case .syntax(let problem, line, column) = failure(text) else {
            Issue.record("\(String(describing: failure(text)))")
            return
        }
        #expect(!problem.isEmpty)
    }

    @Test func `bytes that are no UTF-8 are refused with their line`() {
        let error = #expect(throws: YAMLError.self) { try YAMLDocument(parsing: Array("a: 1\nb: ".utf8) + [0xff, 0xfe, 0x0a]) }
        guard case .syntax(_, 2, 4) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `what a configuration does not need is refused`() {
        #expect(failure("? [a]\n: 1\n") == .keyIsNoText(line: 1))
        #expect(failure("a: 1\n~: 2\n") == .keyIsNoText(line: 2))
        #expect(failure("a: !!python/object:os.system x\n") == .unsupportedTag("tag:yaml.org,2002:python/object:os.system", line: 1))
        #expect(failure("a: 1\n---\nb: 2\n") == .secondDocument(line: 2))
        #expect(failure(String(repeating: "[", count: 100_000)) == .tooDeep(line: 1))
        // The root, its key, the list and 19,997 items are 20,000 nodes.
        #expect(failure("a: [" + String(repeating: "x,\n", count: 30_000) + "]") == .tooManyNodes(line: 19_998))
        #expect(failure(String(repeating: "#", count: YAMLDocument.maximumBytes + 1)) == .tooLarge(bytes: YAMLDocument.maximumBytes + 1))
    }

    @Test func `no bytes do harm, and every complaint is about a line of the text`() throws {
        let seeds = ["a: &x {k: [1, 'two', \"three\"]}\nb: *x\nc: |\n  text\n  more\n", try example()]
        let hostile = Array("&*[]{}:-?|>'\"%@`!#, \n\t~x\u{0}".utf8) + [0xff, 0xc3, 0xe2, 0xfe]
        var random = SeededGenerator(seed: 2026)
        var (parsed, refused) = (0, 0)
        for round in 0..<4000 {
            var bytes = Array(seeds[round % 2].utf8)
            if round % 7 == 0 {
                bytes = (0..<Int.random(in: 0..<200, using: &random)).map { _ in hostile.randomElement(using: &random) ?? 0 }
            }
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes.insert(hostile.randomElement(using: &random) ?? 0, at: place)
                case 1 where place < bytes.count: bytes[place] = hostile.randomElement(using: &random) ?? 0
                case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...40, using: &random)))
                default: break
                }
            }
            do {
                _ = try YAMLDocument(parsing: bytes)
                parsed += 1
            } catch {
                refused += 1
                if let line = error.line { #expect((1...(bytes.count { $0 == 0x0a || $0 == 0x0d } + 2)).contains(line)) }
            }
        }
        #expect(parsed > 100 && refused > 100)
    }

    @Test func `every beginning of a text is parsed or refused`() throws {
        let bytes = Array(try example().utf8)
        for count in 0...bytes.count { _ = try? YAMLDocument(parsing: Array(bytes.prefix(count))) }
        #expect(try YAMLDocument(parsing: bytes).duplicateKeys.isEmpty)
    }

    private func example() throws -> String {
        String(decoding: try readFile("\(Paths.root)/deploy/handkit.yaml", limit: 1 << 20), as: UTF8.self)
    }
}

extension YAMLError {
    fileprivate var line: Int? {
        switch self {
        case .tooLarge: nil
        case .syntax(_, let line, _), .tooDeep(let line), .tooManyNodes(let line), .keyIsNoText(let line), .unsupportedTag(_, let line),
            .unknownAlias(_, let line), .secondDocument(let line):
            line
        }
    }
}
