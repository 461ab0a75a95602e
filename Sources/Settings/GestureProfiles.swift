public import Contract
internal import FoundationEssentials
public import Gestures
public import ServiceKit

/// Gesture settings kept under a name, one YAML file each with the keys of the configuration's `gestures`.
///
/// A profile wins over the configuration file, because it was made for somebody; the environment wins over both. Keys that it lacks keep
/// their value.
public struct GestureProfiles: Equatable, Sendable {
    public let folder: String

    public init(folder: String) { self.folder = folder }

    public func path(of name: Identifier) -> String { "\(folder)/\(name).yaml" }

    /// The names of those that are there, in the folder or built in, sorted.
    public func names() -> [Identifier] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let saved = files.filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }
        return Set(saved + Self.builtIn.map(\.name)).compactMap { try? Identifier($0) }.sorted { $0.rawValue < $1.rawValue }
    }

    /// A profile's settings over others.
    public func load(
        _ name: Identifier, over settings: GestureSettings = GestureSettings(), environment: [String: String] = [:]
    ) throws(SettingsError) -> GestureSettings {
        let path = path(of: name)
        let document = try document(of: name, at: path)
        let reader = ConfigurationReader(
            document: document, file: path, environment: environment, prefix: "\(Settings.environmentPrefix)_GESTURES")
        var settings = settings
        settings.read(reader.root)
        let problems = reader.finish().problems
        guard problems.isEmpty else { throw .invalid(problems) }
        return settings
    }

    private func document(of name: Identifier, at path: String) throws(SettingsError) -> YAMLDocument {
        if !FileManager.default.fileExists(atPath: path), let builtIn = Self.builtIn.first(where: { $0.name == name.rawValue }) {
            return try YAMLDocument(Array(builtIn.text.utf8), of: path)
        }
        return try YAMLDocument(file: path)
    }

    /// Writes a profile, whole or not at all, in place of one of the same name.
    ///
    /// - Parameter notes: Lines that say where the numbers come from, kept as comments.
    public func save(_ settings: GestureSettings, as name: Identifier, notes: [String] = []) throws(FileFailure) {
        let comments = notes.map { "# \($0)\n" }.joined()
        try writeFile(path(of: name), Array((comments + Self.text(settings)).utf8), mode: 0o644)
    }

    /// Every key, so that the profile means the same whatever it is laid over.
    static func text(_ settings: GestureSettings) -> String {
        var text =
            "# Gesture settings of one person or place; use them with 'gestures: {profile: NAME}'. The keys are those of 'gestures'.\n"
        var open: [Substring] = []
        for field in GestureField.all {
            let steps = field.key.split(separator: ".")
            let sections = Array(steps.dropLast())
            for (depth, name) in sections.enumerated() where depth >= open.count || open[...depth] != sections[...depth] {
                text += String(repeating: "  ", count: depth) + "\(name):\n"
            }
            open = sections
            text += String(repeating: "  ", count: sections.count) + "\(steps[steps.count - 1]): \(field.value(in: settings))\n"
        }
        return text
    }
}

extension GestureField.Value: CustomStringConvertible {
    /// As it stands in a file.
    public var description: String {
        switch self {
        case .number(let number): number.shortest
        // YAML takes a bare off for false.
        case .choice(let name): name
        }
    }
}
