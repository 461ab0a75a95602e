public import ServiceKit

/// Why there are no settings.
public enum SettingsError: Error, Equatable, Sendable {
    case unreadable(FileFailure)
    case malformed(file: String, YAMLError)
    /// Everything that is wrong, in the order of the file.
    case invalid([ConfigurationProblem])
}

extension SettingsError: UserFacingFailure {
    public var reports: [FailureReport] {
        switch self {
        case .unreadable(let failure):
            [
                FailureReport(
                    "cannot read the configuration: \(failure.reason)", at: failure.path, remedy: "name a readable file with --config")
            ]
        case .malformed(let file, let error): [Self.report(file, error)]
        case .invalid(let problems): problems.map(\.report)
        }
    }

    private static func report(_ file: String, _ error: YAMLError) -> FailureReport {
        switch error {
        case .syntax(let problem, let line, let column):
            let hint =
                problem.contains("cannot start any token")
                ? "tabs do not indent and a text that begins with @, ` or % needs quotes"
                : "look at the indentation, colons and quotes there and just above"
            return FailureReport("no YAML: \(problem)", at: "\(file):\(line):\(column)", remedy: hint)
        case .tooLarge(let bytes):
            return FailureReport("\(bytes) bytes are too many for a configuration", at: file, remedy: "is it the right file?")
        case .tooDeep(let line):
            return FailureReport(
                "nested deeper than \(YAMLDocument.maximumDepth) levels", at: "\(file):\(line)", remedy: "is it the right file?")
        case .tooManyNodes(let line):
            return FailureReport(
                "more than \(YAMLDocument.maximumNodes) values, aliases included", at: "\(file):\(line)", remedy: "is it the right file?")
        case .keyIsNoText(let line):
            return FailureReport("a key is empty, a list or a map", at: "\(file):\(line)", remedy: "keys are plain texts")
        case .unsupportedTag(let tag, let line):
            return FailureReport("the tag '\(tag)' is not supported", at: "\(file):\(line)", remedy: "leave it out")
        case .unknownAlias(let name, let line):
            return FailureReport(
                "there is no '&\(name)' before this '*\(name)'", at: "\(file):\(line)", remedy: "quote a text that begins with *")
        case .secondDocument(let line):
            return FailureReport("a second YAML document begins", at: "\(file):\(line)", remedy: "keep one; remove the line '---'")
        }
    }
}
