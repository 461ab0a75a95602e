internal import Glibc

/// Why a file could not be read.
public struct FileFailure: Error, Equatable, Sendable {
    public enum Cause: Equatable, Sendable {
        case errno(Int32)
        case larger(than: Int)
    }

    public let path: String
    public let cause: Cause

    public init(path: String, cause: Cause) {
        (self.path, self.cause) = (path, cause)
    }

    public var reason: String {
        switch cause {
        case .errno(let code): systemMessage(code)
        case .larger(let limit): "it is larger than \(limit) bytes"
        }
    }
}

/// Reads a small file or pipe to its end.
/// - Parameter limit: In bytes; a larger file is a failure, not a part of it.
public func readFile(_ path: String, limit: Int) throws(FileFailure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileFailure(path: path, cause: .errno(errno)) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        guard count >= 0 else { throw FileFailure(path: path, cause: .errno(errno)) }
        if count == 0 { return bytes }
        bytes += buffer[..<count]
        guard bytes.count <= limit else { throw FileFailure(path: path, cause: .larger(than: limit)) }
    }
}
