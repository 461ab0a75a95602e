/// A map of a configuration, with typed reads of its keys.
///
/// Each read returns the default where the key is absent or wrong, and reports the latter.
public struct ConfigurationSection {
    let reader: ConfigurationReader
    public let path: ConfigurationPath
    let node: YAMLNode?
    /// The line of this section's key, where the file has it.
    var line: Int?

    init(reader: ConfigurationReader, path: ConfigurationPath, node: YAMLNode?, line: Int? = nil) {
        (self.reader, self.path, self.node, self.line) = (reader, path, node, line)
        if !path.steps.isEmpty { reader.learn(container: path) }
    }

    /// A map below a key.
    public func section(_ key: String) -> ConfigurationSection {
        let child = path.appending(key)
        let entry = entry(key)
        if let node = entry?.value, node.shape != .map, node.shape != .nothing {
            reader.report(child, line: node.line, .wrongShape(found: node.shape.rawValue, expected: "a map"))
            return ConfigurationSection(reader: reader, path: child, node: nil, line: entry?.line)
        }
        return ConfigurationSection(reader: reader, path: child, node: entry?.value, line: entry?.line)
    }

    /// Whether file or environment give a key a value, right or wrong.
    public func isSet(_ key: String) -> Bool {
        reader.override(path.appending(key)) != nil || entry(key).map { $0.value.shape != .nothing } == true
    }

    /// Reports a fault of a key that only its reader can see, such as two values that do not fit.
    public func report(_ key: String, _ fault: ConfigurationProblem.Fault) {
        let child = path.appending(key)
        if let override = reader.override(child) {
            reader.report(child, environment: override.name, fault)
        } else {
            reader.report(child, line: entry(key)?.line ?? line, fault)
        }
    }

    /// Reports a fault of this section itself.
    public func report(_ fault: ConfigurationProblem.Fault) {
        reader.report(path, line: line ?? node?.line, fault)
    }

    /// - Parameters:
    ///   - expected: Completes "it has to be …".
    ///   - parse: Nil for a text that is no value.
    public func optional<Value>(_ key: String, expected: String, _ parse: (String) -> Value?) -> Value? {
        guard let raw = raw(key, expected: expected) else { return nil }
        if let value = parse(raw) { return value }
        report(key, .wrongValue(raw, expected: expected))
        return nil
    }

    public func value<Value>(_ key: String, default fallback: Value, expected: String, _ parse: (String) -> Value?) -> Value {
        optional(key, expected: expected, parse) ?? fallback
    }

    public func text(_ key: String, default fallback: String) -> String {
        value(key, default: fallback, expected: "a text that is not empty") { $0.isEmpty ? nil : $0 }
    }

    public func text(_ key: String) -> String? {
        optional(key, expected: "a text that is not empty") { $0.isEmpty ? nil : $0 }
    }

    /// - Parameter unit: Named in the complaint, as in "a whole number of milliseconds from 1 to 100".
    public func integer(_ key: String, default fallback: Int, in range: ClosedRange<Int>, unit: String? = nil) -> Int {
        let expected = "a whole number\(unit.map { " of \($0)" } ?? "") from \(range.lowerBound) to \(range.upperBound)"
        return value(key, default: fallback, expected: expected) { Int($0).flatMap { range.contains($0) ? $0 : nil } }
    }

    public func number(_ key: String, default fallback: Double, in range: ClosedRange<Double>) -> Double {
        let expected = "a number from \(range.lowerBound.shortest) to \(range.upperBound.shortest)"
        return value(key, default: fallback, expected: expected) { Double($0).flatMap { range.contains($0) ? $0 : nil } }
    }

    /// A time in whole milliseconds; such keys end in `_ms`.
    public func milliseconds(_ key: String, default fallback: Duration, in range: ClosedRange<Int>) -> Duration {
        .milliseconds(integer(key, default: Int(fallback / .milliseconds(1)), in: range, unit: "milliseconds"))
    }

    public func flag(_ key: String, default fallback: Bool) -> Bool {
        value(key, default: fallback, expected: "true or false") { Bool($0.lowercased()) }
    }

    public func choice<Choice: RawRepresentable & CaseIterable>(_ key: String, default fallback: Choice) -> Choice
    where Choice.RawValue == String {
        let expected = "one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))"
        return value(key, default: fallback, expected: expected, Choice.init(rawValue:))
    }

    /// A secret in the key itself or in the file that `<key>_file` names; both is a problem. Line ends after a file's text are dropped.
    public func secret(_ key: String) -> Secret? {
        let expected = "a text that is not empty"
        let own = raw(key, expected: expected)
        guard let path = text("\(key)_file") else {
            guard let own else { return nil }
            if own.isEmpty { report(key, .wrongSecret(expected: expected)) }
            return own.isEmpty ? nil : Secret(own)
        }
        if own != nil {
            report("\(key)_file", .bothSet(origin(key), origin("\(key)_file")))
            return nil
        }
        do {
            let bytes = try readFile(path, limit: 65_536)
            let line = bytes.reversed().drop { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.reversed()
            if let text = String(validating: line, as: UTF8.self), !text.isEmpty { return Secret(text) }
            report("\(key)_file", .wrongSecret(expected: "the name of a file with one line of text"))
        } catch {
            report("\(key)_file", .unreadable(error))
        }
        return nil
    }

    /// A list of single values: a YAML list, or in the environment a text split at commas and spaces. Nil where it is absent or any item
    /// is wrong.
    public func list<Value>(_ key: String, expected: @autoclosure () -> String, _ parse: (String) -> Value?) -> [Value]? {
        let child = path.appending(key)
        reader.learn(child)
        if let override = reader.override(child) {
            let texts = override.value.split { $0 == "," || $0 == " " }.map(String.init)
            let values = texts.compactMap(parse)
            if values.count == texts.count { return values }
            for text in texts where parse(text) == nil {
                reader.report(child, environment: override.name, .wrongValue(text, expected: expected()))
            }
            return nil
        }
        guard let node = entry(key)?.value, node.shape != .nothing else { return nil }
        guard case .list(let items) = node.content else {
            reader.report(child, line: node.line, .wrongShape(found: node.shape.rawValue, expected: "a list, each item \(expected())"))
            return nil
        }
        let values = items.enumerated().compactMap { index, item -> Value? in
            guard case .scalar(let text) = item.content else {
                let fault = ConfigurationProblem.Fault.wrongShape(found: item.shape.rawValue, expected: expected())
                reader.report(child.appending(index), line: item.line, fault)
                return nil
            }
            if let value = parse(text) { return value }
            reader.report(child.appending(index), line: item.line, .wrongValue(text, expected: expected()))
            return nil
        }
        return values.count == items.count ? values : nil
    }

    /// The maps of a list, first the file's, then those that only the environment names (`…_ROUTES_0_CAMERA`); nil where there is none.
    /// An item that is no map is reported and left out.
    public func items(_ key: String) -> [ConfigurationSection]? {
        let child = path.appending(key)
        reader.learn(container: child)
        var nodes: [YAMLNode] = []
        var isPresent = false
        if let node = entry(key)?.value, node.shape != .nothing {
            guard case .list(let items) = node.content else {
                reader.report(child, line: node.line, .wrongShape(found: node.shape.rawValue, expected: "a list of maps"))
                return nil
            }
            (nodes, isPresent) = (items, true)
        }
        var sections: [ConfigurationSection] = []
        for (index, node) in nodes.enumerated() {
            if node.shape == .map {
                sections.append(ConfigurationSection(reader: reader, path: child.appending(index), node: node, line: node.line))
            } else {
                reader.report(child.appending(index), line: node.line, .wrongShape(found: node.shape.rawValue, expected: "a map"))
            }
        }
        var next = nodes.count
        while isNamedByEnvironment(child.appending(next)) {
            sections.append(ConfigurationSection(reader: reader, path: child.appending(next), node: nil))
            next += 1
        }
        return isPresent || !sections.isEmpty ? sections : nil
    }

    /// The maps of a map whose keys are names a person chose, first the file's, then those that only the environment names.
    /// - Parameter keys: The keys of each map: how `…_LAMPS_DESK_MIN_INTERVAL_MS` is known to name the lamp `desk`.
    public func members(_ key: String, keys: [String]) -> [(name: String, section: ConfigurationSection)] {
        let parent = section(key)
        var names: [String] = []
        if case .map(let entries) = parent.node?.content { names = entries.map(\.key) }
        let forms = Set(names.map(ConfigurationPath.environmentForm))
        let prefix = parent.path.environmentName(prefix: reader.prefix) + "_"
        let suffixes = keys.map { "_" + ConfigurationPath.environmentForm(of: $0) }.sorted { $0.count > $1.count }
        var added: Set<String> = []
        for name in reader.environment.keys where name.hasPrefix(prefix) {
            guard let suffix = suffixes.first(where: { name.hasSuffix($0) && name.count > prefix.count + $0.count }) else { continue }
            let form = String(name.dropFirst(prefix.count).dropLast(suffix.count))
            if !forms.contains(form) { added.insert(form.lowercased()) }
        }
        return (names + added.sorted()).map { ($0, parent.section($0)) }
    }

    private func isNamedByEnvironment(_ path: ConfigurationPath) -> Bool {
        let prefix = path.environmentName(prefix: reader.prefix) + "_"
        return reader.environment.keys.contains { $0.hasPrefix(prefix) }
    }

    private func entry(_ key: String) -> YAMLNode.Entry? {
        guard case .map(let entries) = node?.content else { return nil }
        return entries.first { $0.key == key }
    }

    private func raw(_ key: String, expected: String) -> String? {
        let child = path.appending(key)
        reader.learn(child)
        if let override = reader.override(child) { return override.value }
        guard let node = entry(key)?.value else { return nil }
        switch node.content {
        case .null: return nil
        case .scalar(let text): return text
        case .list, .map:
            reader.report(child, line: node.line, .wrongShape(found: node.shape.rawValue, expected: expected))
            return nil
        }
    }

    private func origin(_ key: String) -> String {
        reader.override(path.appending(key))?.name ?? path.appending(key).description
    }
}
