import ServiceKit
import TestSupport
import Testing

@testable import Settings

/// `deploy/handkit.yaml` is the documentation of every key: it must say what the code does.
struct ExampleFileTests {
    private let path = "\(Paths.root)/deploy/handkit.yaml"

    private func text() throws -> String { String(decoding: try readFile(path, limit: 1 << 20), as: UTF8.self) }

    /// The file with its optional keys: prose has a space after its `#`, a key has none, or stands below one that has none.
    private func withOptionalKeys() throws -> String {
        try text().split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            let indent = line.prefix { $0 == " " }
            let rest = line.dropFirst(indent.count)
            guard rest.first == "#" else { return String(line) }
            let body = rest.dropFirst()
            let isProse = body.first == " " && !(indent.isEmpty && body.hasPrefix("  "))
            return isProse || body.isEmpty ? "" : indent + String(body)
        }.joined(separator: "\n")
    }

    @Test func `the example loads as it is and every value in it is the default`() throws {
        let loaded = try Settings.load(file: path, environment: [:])
        #expect(loaded == Settings())
    }

    @Test func `every key there is stands in the example, and nothing else`() throws {
        let document = try YAMLDocument(parsing: Array(try withOptionalKeys().utf8))
        #expect(document.duplicateKeys.isEmpty)
        let written = Set(leaves(of: document.root, at: .root))
        // The values are read without the file, so that a key missing there is not missing here too.
        let minimal = try YAMLDocument(parsing: Array("lamps: {desk: }\ngroups: {room: {lamps: [desk]}}\nroutes: [{lamps: [desk]}]\n".utf8))
        let known = try Settings.read(minimal, file: nil, environment: [:]).knownKeys
        #expect(Set(known.map(\.description)).subtracting(written) == [])
        #expect(written.subtracting(known.map(\.description)) == [])
    }

    @Test func `the optional keys are valid as they stand, but for secrets given twice and a profile that is not there`() throws {
        let document = try YAMLDocument(parsing: Array(try withOptionalKeys().utf8))
        let error = #expect(throws: SettingsError.self) { try Settings.read(document, file: "example", environment: [:]) }
        guard case .invalid(let problems) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(
            problems.map(\.key) == [
                "mqtt.password_file", "mqtt.tls.enabled", "camera.password_file", "gestures.profile", "preview.token_file",
                "bridge.http.token_file", "diagnostics.sentry_dsn_file",
            ])
    }

    private func leaves(of node: YAMLNode, at path: ConfigurationPath) -> [String] {
        switch node.content {
        case .map(let entries): entries.flatMap { leaves(of: $0.value, at: path.appending($0.key)) }
        case .list(let items) where items.allSatisfy { if case .map = $0.content { true } else { false } }:
            items.enumerated().flatMap { leaves(of: $0.element, at: path.appending($0.offset)) }
        default: [path.description]
        }
    }
}
