internal import Glibc

extension ProgramSyntax {
    /// Runs a program: parses its arguments, prints help or hands them to `body`, and words what `body` throws.
    ///
    /// A failure is one line on standard error for each of its reports: `program: where: what; what to do`.
    ///
    ///     exit(await syntax.run(Array(CommandLine.arguments.dropFirst())) { arguments in … }.rawValue)
    public func run(_ arguments: [String], _ body: (Arguments) async throws -> Void) async -> ExitCode {
        do {
            switch try parse(arguments) {
            case .print(let text): writeAll(text, to: STDOUT_FILENO)
            case .run(let arguments): try await body(arguments)
            }
            return .fine
        } catch {
            for report in FailureReport.reports(for: error) { writeAll("\(name): \(report)\n", to: STDERR_FILENO) }
            return (error as? any UserFacingFailure)?.exitCode ?? .failed
        }
    }
}
