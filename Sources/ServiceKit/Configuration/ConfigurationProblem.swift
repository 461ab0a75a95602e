/// One thing wrong with a configuration: where it stands, which key, what and what would be right.
public struct ConfigurationProblem: Equatable, Sendable {
    public enum Place: Equatable, Sendable {
        /// The line is nil for what should be there and is not.
        case file(String, line: Int?)
        /// The name of the variable.
        case environment(String)
        /// Neither file nor environment say anything.
        case nowhere
    }

    public enum Fault: Equatable, Sendable {
        case unknownKey(nearest: String?, known: [String])
        case duplicateKey(firstLine: Int)
        /// A list where a text is wanted and the like.
        case wrongShape(found: String, expected: String)
        case wrongValue(String, expected: String)
        /// Like `wrongValue`, of a secret, which is not shown.
        case wrongSecret(expected: String)
        case missing(expected: String)
        /// Two ways to say one thing, both used.
        case bothSet(String, String)
        case unreadable(FileFailure)
        /// One environment name that stands for several keys.
        case ambiguous(keys: [String])
        case unknownEnvironment(nearest: String?)
    }

    public let place: Place
    /// `mqtt.port`; empty for an environment name that is no key's.
    public let key: String
    public let fault: Fault

    public init(place: Place, key: String, fault: Fault) {
        (self.place, self.key, self.fault) = (place, key, fault)
    }

    public var report: FailureReport {
        let location: String? =
            switch place {
            case .file(let file, let line): line.map { "\(file):\($0)" } ?? file
            case .environment(let name): name
            case .nowhere: nil
            }
        let lead = key.isEmpty ? "" : "\(key): "
        func made(_ what: String, _ remedy: String?) -> FailureReport { FailureReport(lead + what, at: location, remedy: remedy) }
        func hint(_ nearest: String?) -> String? { nearest.map { "did you mean '\($0)'?" } }
        return switch fault {
        case .unknownKey(let nearest, let known):
            made("unknown key", hint(nearest) ?? (known.isEmpty ? nil : "known here: \(known.joined(separator: ", "))"))
        case .duplicateKey(let firstLine): made("stands twice, first in line \(firstLine)", "keep one of them")
        case .wrongShape(let found, let expected): made("is \(found)", "it has to be \(expected)")
        case .wrongValue(let value, let expected): made("'\(value)' is not valid", "it has to be \(expected)")
        case .wrongSecret(let expected): made("is not valid", "it has to be \(expected)")
        case .missing(let expected): made("is missing", "it has to be \(expected)")
        case .bothSet(let first, let second): made("\(first) and \(second) are both set", "keep one of them")
        case .unreadable(let failure): made("cannot read \(failure.path): \(failure.reason)", "name a file that this program may read")
        case .ambiguous(let keys): made("stands for \(keys.joined(separator: " and "))", "set them in the file")
        case .unknownEnvironment(let nearest): made("no key has this name", hint(nearest))
        }
    }
}
