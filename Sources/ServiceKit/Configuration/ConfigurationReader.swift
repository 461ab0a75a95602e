/// Reads typed values out of a YAML file and the environment, and collects everything that is wrong instead of stopping at the first.
///
/// A key's environment variable wins over the file; an empty one counts as unset. Every read makes its key known; ``finish()`` then finds
/// keys that nobody asked for. Not thread-safe: for one pass at a program's start.
public final class ConfigurationReader {
    let document: YAMLDocument?
    let file: String?
    let environment: [String: String]
    let prefix: String

    private var problems: [ConfigurationProblem] = []
    /// Keys that were read, in order; a section's own key is among them.
    private var known: [ConfigurationPath] = []
    private var knownSet: Set<ConfigurationPath> = []
    private var containers: Set<ConfigurationPath> = []
    private var keysByEnvironmentName: [String: [ConfigurationPath]] = [:]

    /// - Parameters:
    ///   - document: Nil where there is no file: defaults and environment alone.
    ///   - file: The name that problems show.
    ///   - prefix: What environment names begin with, without the `_`.
    public init(document: YAMLDocument?, file: String?, environment: [String: String], prefix: String) {
        (self.document, self.file, self.environment, self.prefix) = (document, file, environment.filter { !$0.value.isEmpty }, prefix)
        containers.insert(.root)
        for duplicate in document?.duplicateKeys ?? [] {
            report(duplicate.path, line: duplicate.line, .duplicateKey(firstLine: duplicate.firstLine))
        }
        if let root = document?.root, root.shape != .map, root.shape != .nothing {
            report(.root, line: root.line, .wrongShape(found: root.shape.rawValue, expected: "a map of sections"))
        }
    }

    public var root: ConfigurationSection { ConfigurationSection(reader: self, path: .root, node: document?.root) }

    /// The keys of single values read so far, without sections.
    public var knownKeys: [ConfigurationPath] { known.filter { !containers.contains($0) } }

    /// What was wrong, in the order of the file, and what is odd and does no harm.
    /// - Parameter ignored: Environment names with the prefix that are somebody else's.
    public func finish(ignoring ignored: Set<String> = []) -> (problems: [ConfigurationProblem], warnings: [ConfigurationProblem]) {
        if let root = document?.root { findUnknown(in: root, at: .root) }
        for (name, keys) in keysByEnvironmentName where keys.count > 1 && environment[name] != nil {
            let fault = ConfigurationProblem.Fault.ambiguous(keys: keys.map(\.description))
            problems.append(.init(place: .environment(name), key: "", fault: fault))
        }
        let names = Array(keysByEnvironmentName.keys)
        let unknown = environment.keys.filter { $0.hasPrefix(prefix + "_") && keysByEnvironmentName[$0] == nil && !ignored.contains($0) }
        let warnings = unknown.sorted().map { name in
            ConfigurationProblem(
                place: .environment(name), key: "", fault: .unknownEnvironment(nearest: nearest(to: name, among: names.sorted())))
        }
        return (problems.enumerated().sorted { ($0.element.order, $0.offset) < ($1.element.order, $1.offset) }.map(\.element), warnings)
    }

    private func findUnknown(in node: YAMLNode, at path: ConfigurationPath) {
        guard containers.contains(path) else { return }
        switch node.content {
        case .map(let entries):
            let siblings = known.filter { $0.parent == path }.compactMap { path -> String? in
                guard case .key(let key) = path.steps.last else { return nil }
                return key
            }
            for entry in entries {
                let child = path.appending(entry.key)
                if knownSet.contains(child) {
                    findUnknown(in: entry.value, at: child)
                } else {
                    report(child, line: entry.line, .unknownKey(nearest: nearest(to: entry.key, among: siblings), known: siblings))
                }
            }
        case .list(let items):
            for (index, item) in items.enumerated() { findUnknown(in: item, at: path.appending(index)) }
        case .null, .scalar: break
        }
    }

    func learn(_ path: ConfigurationPath) {
        if knownSet.insert(path).inserted { known.append(path) }
    }

    func learn(container path: ConfigurationPath) {
        learn(path)
        containers.insert(path)
    }

    /// The environment's value for a key.
    func override(_ path: ConfigurationPath) -> (name: String, value: String)? {
        let name = path.environmentName(prefix: prefix)
        if keysByEnvironmentName[name]?.contains(path) != true { keysByEnvironmentName[name, default: []].append(path) }
        return environment[name].map { (name, $0) }
    }

    func report(_ path: ConfigurationPath, line: Int?, _ fault: ConfigurationProblem.Fault) {
        let place = file.map { ConfigurationProblem.Place.file($0, line: line) } ?? .nowhere
        problems.append(.init(place: place, key: path.description, fault: fault))
    }

    func report(_ path: ConfigurationPath, environment name: String, _ fault: ConfigurationProblem.Fault) {
        problems.append(.init(place: .environment(name), key: path.description, fault: fault))
    }
}

extension ConfigurationProblem {
    fileprivate var order: Int {
        switch place {
        case .file(_, let line): line ?? Int.max - 1
        case .environment, .nowhere: Int.max
        }
    }
}

extension YAMLNode {
    enum Shape: String {
        case nothing
        case text = "a single value"
        case list = "a list"
        case map = "a map"
    }

    var shape: Shape {
        switch content {
        case .null: .nothing
        case .scalar: .text
        case .list: .list
        case .map: .map
        }
    }
}
