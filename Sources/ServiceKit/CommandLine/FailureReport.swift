/// One thing that went wrong in a person's words: what, where and what to do about it.
public struct FailureReport: Hashable, Sendable, CustomStringConvertible {
    public var what: String
    /// A file and line, an address, a device: whatever a person would look at.
    public var location: String?
    public var remedy: String?

    public init(_ what: String, at location: String? = nil, remedy: String? = nil) {
        (self.what, self.location, self.remedy) = (what, location, remedy)
    }

    /// `location: what; remedy`, on one line whatever the parts hold.
    public var description: String {
        let text = (location.map { "\($0): " } ?? "") + what + (remedy.map { "; \($0)" } ?? "")
        return text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// The reports of any error: its own where it is a ``UserFacingFailure``, else its description.
    public static func reports(for error: any Error) -> [FailureReport] {
        if let failure = error as? any UserFacingFailure { return failure.reports }
        return [FailureReport("unexpected failure: \(error)")]
    }

    /// All reports of an error in one line, for a log field.
    public static func line(for error: any Error) -> String {
        reports(for: error).map(\.description).joined(separator: " | ")
    }
}

/// An error that a program can show as it is.
///
/// Modules below throw facts; the program that uses them conforms their errors to this and words them once.
public protocol UserFacingFailure: Error {
    /// One for each problem; never empty.
    var reports: [FailureReport] { get }
    /// `.failed` unless the command line itself was wrong.
    var exitCode: ExitCode { get }
}

extension UserFacingFailure {
    public var exitCode: ExitCode { .failed }
}

/// How a program ends, the same for all of them.
public enum ExitCode: Int32, Sendable {
    case fine = 0
    /// The command was understood and could not be done; a faulty configuration is this too.
    case failed = 1
    /// The command line was not understood.
    case wrongUsage = 2
}
