internal import Dispatch
internal import Glibc

enum BenchError: Error {
    case peerFailed(String)
    /// What was to be measured did not happen.
    case failed(String)
}

/// Another program that takes part in a measurement; it ends with this object.
final class PeerProcess {
    let id: pid_t
    private let program: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isAwaited = false

    init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws(BenchError) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw .peerFailed(program) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        let texts = ([program] + arguments).map { strdup($0) }
        defer { texts.forEach { free($0) } }
        for (name, value) in environment { setenv(name, value, 1) }
        defer { for name in environment.keys { unsetenv(name) } }
        var child = pid_t()
        let status = posix_spawn(&child, program, &actions, nil, texts + [nil], environ)
        close(ends[1])
        guard status == 0 else {
            close(ends[0])
            throw .peerFailed(program)
        }
        (self.program, id, descriptor) = (program, child, ends[0])
    }

    deinit {
        if !isAwaited {
            kill(id, SIGTERM)
            waitpid(id, nil, 0)
        }
        close(descriptor)
    }

    /// The next line of its output; nil at the end.
    func line() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            guard fill() else { return nil }
        }
    }

    /// Fills `memory` from its output, of which no line has been read; false at the end.
    func copy(into memory: UnsafeMutableRawBufferPointer) -> Bool {
        var filled = 0
        while filled < memory.count {
            let count = read(descriptor, memory.baseAddress.map { $0 + filled }, memory.count - filled)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            filled += count
        }
        return true
    }

    /// All of its output, once it has ended well.
    func output() throws(BenchError) -> String {
        while fill() {}
        var status: Int32 = 0
        waitpid(id, &status, 0)
        isAwaited = true
        guard status == 0 else { throw .peerFailed(program) }
        return String(decoding: buffer, as: UTF8.self)
    }

    /// Lets the rest of its output go nowhere, so that it does not stop at a full pipe.
    func ignoreOutput() {
        let descriptor = dup(descriptor)
        DispatchQueue.global().async {
            var piece = [UInt8](repeating: 0, count: 4096)
            while read(descriptor, &piece, piece.count) > 0 {}
            close(descriptor)
        }
    }

    private func fill() -> Bool {
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &piece, piece.count)
        if count < 0, errno == EINTR { return true }
        guard count > 0 else { return false }
        buffer += piece[..<count]
        return true
    }
}
