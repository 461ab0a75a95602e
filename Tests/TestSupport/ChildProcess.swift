package import Glibc
import Synchronization

/// A program run by a test: its output is collected, it can be signalled and awaited, and it does not outlive this object.
package final class ChildProcess: Sendable {
    package enum Ending: Sendable, Equatable {
        case exited(Int32)
        case signalled(Int32)
    }

    /// The process id; valid until the program was seen to end.
    package let id: pid_t

    private let storage = Storage()

    /// Starts a program.
    /// - Parameters:
    ///   - executable: a path, or a name that is looked for in `PATH` and the folders of daemons.
    ///   - environment: added to the environment of the tests.
    ///   - input: written to its standard input, which then ends.
    package init(_ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], input: [UInt8] = []) throws {
        guard let path = executable.contains("/") ? executable : Paths.installed(executable) else {
            throw SystemCallFailure(executable, code: ENOENT)
        }
        let spawned = try Self.spawn(path, arguments, environment)
        id = spawned.id
        let storage = storage
        startThread {
            input.withUnsafeBytes { writeAll($0, to: spawned.input) }
            close(spawned.input)
        }
        startThread {
            readAll(from: spawned.output) { bytes in storage.state.withLock { $0.output += bytes } }
            storage.state.withLock { $0.outputEnded = true }
        }
        startThread {
            readAll(from: spawned.error) { bytes in storage.state.withLock { $0.error += bytes } }
            storage.state.withLock { $0.errorEnded = true }
        }
        startThread { storage.reap(spawned.id) }
    }

    deinit {
        signal(SIGKILL)
    }

    /// Everything the program wrote to its standard output until now.
    package var output: [UInt8] { storage.state.withLock { $0.output } }

    /// Everything the program wrote to its standard error until now.
    package var errorOutput: [UInt8] { storage.state.withLock { $0.error } }

    /// The complete lines of standard output until now.
    package var lines: [String] { completeLines(of: output) }

    /// The complete lines of standard error until now.
    package var errorLines: [String] { completeLines(of: errorOutput) }

    /// How the program ended; nil while it runs.
    package var ending: Ending? { storage.state.withLock { $0.ending } }

    /// Sends a signal; does nothing once the program has ended.
    package func signal(_ number: Int32) {
        storage.state.withLock { state in
            if state.ending == nil { _ = kill(id, number) }
        }
    }

    /// Waits until the program has ended and its output is complete.
    /// - Throws: ``NeverHappened`` when it still runs after the deadline.
    @discardableResult
    package func wait(within deadline: Duration = .seconds(60)) async throws -> Ending {
        try await eventually("process \(id) ended", within: deadline) {
            storage.state.withLock { $0.outputEnded && $0.errorEnded ? $0.ending : nil }
        }
    }

    /// Waits for a line of standard output or standard error that `matches`, and returns it.
    /// - Throws: ``NeverHappened`` when there is none before the deadline.
    @discardableResult
    package func line(_ what: String, within deadline: Duration = .seconds(60), where matches: (String) -> Bool) async throws -> String {
        try await eventually("process \(id) wrote \(what)", within: deadline) {
            lines.first(where: matches) ?? errorLines.first(where: matches)
        }
    }
}

extension ChildProcess {
    private final class Storage: Sendable {
        struct State {
            var output: [UInt8] = []
            var error: [UInt8] = []
            var outputEnded = false
            var errorEnded = false
            var ending: Ending?
        }

        let state = Mutex(State())

        func reap(_ id: pid_t) {
            // The id stays reserved until the lock is held, so that no signal can reach a stranger.
            var information = siginfo_t()
            while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
            state.withLock { state in
                var status: Int32 = 0
                waitpid(id, &status, 0)
                let signal = status & 0x7f
                state.ending = signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
            }
        }
    }

    private struct Spawned {
        var id: pid_t
        var input: Int32
        var output: Int32
        var error: Int32
    }

    /// Between making a pipe and marking it close-on-exec no other program may start, or it would hold the pipe open.
    private static let spawning = Mutex(())

    private static func spawn(_ path: String, _ arguments: [String], _ environment: [String: String]) throws -> Spawned {
        var variables: [String: String] = [:]
        var entry = environ
        while let variable = entry.pointee {
            let parts = String(cString: variable).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            variables[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
            entry += 1
        }
        // What a program of ours leaves when it crashes must not be told of by the tests' next one, or by a person's own.
        variables["HANDKIT_CRASH_FOLDER"] = Paths.crashes
        variables.merge(environment) { $1 }

        var argv = ([path] + arguments).map { strdup($0) } + [nil]
        var envp = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (argv + envp).forEach { free($0) } }

        return try spawning.withLock { _ in
            let (input, output, error) = (try makePipe(), try makePipe(), try makePipe())
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_adddup2(&actions, input.read, 0)
            posix_spawn_file_actions_adddup2(&actions, output.write, 1)
            posix_spawn_file_actions_adddup2(&actions, error.write, 2)
            // The threads of the cooperative pool block signals, and a program would inherit that.
            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            var (none, all) = (sigset_t(), sigset_t())
            sigemptyset(&none)
            sigfillset(&all)
            posix_spawnattr_setsigmask(&attributes, &none)
            posix_spawnattr_setsigdefault(&attributes, &all)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
            var id: pid_t = 0
            let result = posix_spawn(&id, path, &actions, &attributes, &argv, &envp)
            for descriptor in [input.read, output.write, error.write] { close(descriptor) }
            guard result == 0 else {
                for descriptor in [input.write, output.read, error.read] { close(descriptor) }
                throw SystemCallFailure("posix_spawn \(path)", code: result)
            }
            return Spawned(id: id, input: input.write, output: output.read, error: error.read)
        }
    }
}

private func makePipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw SystemCallFailure("pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
}

private func readAll(from descriptor: Int32, _ received: (ArraySlice<UInt8>) -> Void) {
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return }
        received(buffer[..<count])
    }
}

private func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) {
    // A program that ended without reading must not end the tests too. Only this thread, because programs inherit what is ignored.
    var pipeSignal = sigset_t()
    sigemptyset(&pipeSignal)
    sigaddset(&pipeSignal, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &pipeSignal, nil)
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}

private func completeLines(of bytes: [UInt8]) -> [String] {
    bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast().map { String(decoding: $0, as: UTF8.self) }
}
