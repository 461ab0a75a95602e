internal import Glibc

/// Writes a file whole or not at all: a reader sees the old or the new one, and so does a machine that loses its power meanwhile.
///
/// The folder is made where it is missing.
/// - Parameter mode: Permissions, such as 0o600.
public func writeFile(_ path: String, _ bytes: [UInt8], mode: UInt32) throws(FileFailure) {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    try makeFolder(folder)
    var template = Array("\(path).XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw FileFailure(path: path, cause: .errno(errno)) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let isWritten = bytes.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0
    }
    let isInPlace = isWritten && rename(template, path) == 0
    let code = errno
    close(descriptor)
    guard isInPlace else {
        unlink(template)
        throw FileFailure(path: path, cause: .errno(code))
    }
    // The new name is on the disk only when the folder is.
    let parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if parent >= 0 {
        fsync(parent)
        close(parent)
    }
}

/// Makes a folder and those above it, where they are missing.
/// - Parameter mode: Permissions of the new ones.
public func makeFolder(_ path: String, mode: UInt32 = 0o755) throws(FileFailure) {
    guard !path.isEmpty, access(path, F_OK) != 0 else { return }
    if let slash = path.lastIndex(of: "/") { try makeFolder(String(path[..<slash]), mode: mode) }
    guard mkdir(path, mode) == 0 || errno == EEXIST else { throw FileFailure(path: path, cause: .errno(errno)) }
}
