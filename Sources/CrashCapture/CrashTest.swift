internal import CCrash
internal import Glibc
public import ServiceKit

/// Lets a program crash on purpose, to see that crashes are told of.
public struct CrashTest: Service {
    public enum Kind: String, Sendable, CaseIterable {
        /// A failed check of Swift.
        case trap
        /// A read where there is no memory.
        case segv
        /// As a C library ends the process.
        case abort
        /// An exception of C++ that nobody catches.
        case exception
    }

    /// `--crash-test KIND`.
    public static let option = OptionSyntax.value(
        "crash-test", "KIND", "Crash once the program is at work, to see that the crash is told of at the next start.",
        kind: .choice(Kind.allCases.map(\.rawValue)))

    /// How long a state that follows the start is waited for; then it crashes without one.
    private static let patience = Duration.seconds(5)

    private let kind: Kind

    /// - Returns: nil where the command line asks for none.
    public init?(_ arguments: Arguments) {
        guard let kind = arguments["crash-test"].flatMap(Kind.init) else { return nil }
        self.kind = kind
    }

    public func run() async throws {
        // The start itself is the first.
        let begin = ContinuousClock.now
        while ccrash_state_count() < 2, ContinuousClock.now - begin < Self.patience {
            try await Task.sleep(for: .milliseconds(20))
        }
        leaveBreadcrumb("crash test")
        ccrash_take_room()
        switch kind {
        case .trap: crashTestTrap()
        case .segv: crashTestRead()
        case .abort: crashTestAbort()
        case .exception: crashTestException()
        }
    }
}

// Functions of their own, so that a backtrace shows them by name.

@inline(never)
private func crashTestTrap() -> Never { fatalError("the crash test was asked for") }

@inline(never)
private func crashTestRead() {
    let nothing = UnsafePointer<Int>(bitPattern: 16)
    print(nothing?.pointee ?? 0)
}

@inline(never)
private func crashTestAbort() { abort() }

@inline(never)
private func crashTestException() { ccrash_throw("the crash test was asked for") }
