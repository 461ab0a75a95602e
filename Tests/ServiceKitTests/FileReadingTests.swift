import Glibc
import TestSupport
import Testing

@testable import ServiceKit

struct FileReadingTests {
    private func pipe() throws -> String {
        let path = try Paths.temporaryFolder() + "/pipe"
        #expect(mkfifo(path, 0o600) == 0)
        return path
    }

    @Test func `a pipe that nobody writes into is a failure and no wait`() throws {
        let path = try pipe()
        #expect(throws: FileFailure(path: path, cause: .noWriter)) { try readFile(path, limit: 100) }
    }

    @Test func `what somebody writes into a pipe is read`() async throws {
        let path = try pipe()
        let writer = try ChildProcess("sh", ["-c", "exec 3<>'\(path)'; echo text >&3; echo written; exec sleep 600"])
        try await writer.line("that it has written") { $0 == "written" }
        // The pipe does not end while its writer is there, but what it holds is more than wanted.
        #expect(throws: FileFailure(path: path, cause: .larger(than: 4))) { try readFile(path, limit: 4) }
    }

    @Test func `a device without an end is no file`() {
        #expect(throws: FileFailure(path: "/dev/zero", cause: .larger(than: 100))) { try readFile("/dev/zero", limit: 100) }
    }
}
