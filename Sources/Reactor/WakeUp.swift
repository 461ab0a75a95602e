internal import Glibc

/// Wakes a thread that waits in `poll`.
package final class WakeUp: Sendable {
    /// Readable once ``signal()`` was called.
    package let descriptor: Int32
    private let writing: Int32

    package init() {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0, "the system has no pipe left")
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        descriptor = ends[0]
        writing = ends[1]
    }

    deinit {
        close(descriptor)
        close(writing)
    }

    package func signal() {
        // A full pipe wakes just as well.
        var byte: UInt8 = 0
        _ = write(writing, &byte, 1)
    }

    package func clear() {
        var bytes: (UInt64, UInt64) = (0, 0)
        // Less than it could hold is all there was.
        while withUnsafeMutableBytes(of: &bytes, { read(descriptor, $0.baseAddress, $0.count) == $0.count }) {}
    }
}
