internal import Glibc

/// Why a file could not be read.
public struct FileFailure: Error, Equatable, Sendable {
    public enum Cause: Equatable, Sendable {
        case errno(Int32)
        case larger(than: Int)
        /// A named pipe that nobody writes into.
        case noWriter
    }

    public let path: String
    public let cause: Cause

    public init(path: String, cause: Cause) {
        (self.path, self.cause) = (path, cause)
    }

    public var reason: String {
        switch cause {
        case .errno(let code): systemMessage(code)
        case .noWriter: "it is a pipe that nobody writes into"
        case .larger(let limit): "it is larger than \(limit) bytes"
        }
    }
}

/// Reads a small file or pipe to its end. A named pipe that nobody writes into is a failure: a reader would wait for ever.
/// - Parameter limit: In bytes; a larger file is a failure, not a part of it.
public func readFile(_ path: String, limit: Int) throws(FileFailure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw FileFailure(path: path, cause: .errno(errno)) }
    defer { close(descriptor) }
    var information = stat()
    // One with a name; where standard input is a pipe whose writer has ended, that is its end.
    let isPipe = lstat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFIFO
    var (bytes, isAwaited): ([UInt8], Bool) = ([], false)
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        if count < 0 && errno == EAGAIN {
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            poll(&ready, 1, -1)
            isAwaited = true
            continue
        }
        guard count >= 0 else { throw FileFailure(path: path, cause: .errno(errno)) }
        if count == 0 {
            guard !isPipe || isAwaited || !bytes.isEmpty else { throw FileFailure(path: path, cause: .noWriter) }
            return bytes
        }
        bytes += buffer[..<count]
        guard bytes.count <= limit else { throw FileFailure(path: path, cause: .larger(than: limit)) }
    }
}
