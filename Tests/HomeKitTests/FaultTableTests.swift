import Foundation
import TestSupport
import Testing

@Suite struct FaultTableTests {
    @Test func `every test that the table of faults names is there`() throws {
        let page = try String(contentsOfFile: "\(Paths.root)/Sources/HomeKit/HomeKit.docc/Faults.md", encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| F") }
        #expect(rows.count == 35)
        let sources = try FileManager.default.subpathsOfDirectory(atPath: "\(Paths.root)/Tests").filter { $0.hasSuffix(".swift") }
            .map { try String(contentsOfFile: "\(Paths.root)/Tests/\($0)", encoding: .utf8) }.joined()
        for row in rows {
            // What stands between backquotes, in the last column: tests, which are sentences, and quirks, which are words.
            let pieces = row.split(separator: "|").last?.split(separator: "`", omittingEmptySubsequences: false) ?? []
            let quoted = pieces.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
            #expect(!quoted.isEmpty, "\(row)")
            for name in quoted where name.contains(" ") { #expect(sources.contains("func `\(name)`"), "\(name)") }
        }
    }
}
