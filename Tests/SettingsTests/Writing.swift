import Glibc
import TestSupport

/// Makes a file with this text.
func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "w") else { throw SystemCallFailure("fopen \(path)") }
    defer { fclose(file) }
    guard fputs(text, file) >= 0 else { throw SystemCallFailure("fputs \(path)") }
}
