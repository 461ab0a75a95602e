import Glibc

enum StandardOutput {
    /// Writes at once; whoever reads it may have gone, which is no failure of the lamp.
    static func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    static func write(_ text: String) { write(Array(text.utf8)) }
}
