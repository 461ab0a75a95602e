internal import Cryptography
internal import FoundationEssentials
internal import Glibc

/// One JSON file, of version 1, that holds secrets: only its owner can read it, and a crash leaves the old one or the new one.
///
/// The folder is made with mode 0700 where it is missing, and refused where it is wider, as the file is. The calls block for as long as
/// the disk takes.
struct PrivateFile {
    let folder: String
    let name: String
    /// A file beside it that keeps a second writer out.
    let lockName: String

    var path: String { folder + "/" + name }
    private var temporaryName: String { name + ".new" }

    private struct Version: Decodable {
        var version: Int
    }

    /// What the file holds; nil where there is none.
    func read<Contents: Decodable>(_ type: Contents.Type) throws(PairingStoreError) -> Contents? {
        guard access(folder, F_OK) == 0 else { return nil }
        return try load(type, from: try openFolder())
    }

    /// Changes what the file holds, with no other writer in between.
    func update<Contents: Codable>(_ type: Contents.Type, _ change: (Contents?) -> Contents) throws(PairingStoreError) {
        try makeFolder()
        let directory = try openFolder()
        let lock = try open(lockName, in: directory, O_RDWR | O_CREAT)
        guard flock(lock.number, LOCK_EX | LOCK_NB) == 0 else {
            throw errno == EWOULDBLOCK ? .locked(path: folder + "/" + lockName) : failure("flock", lockName)
        }
        // Closing alone would leave the lock with a child process that is just being started.
        defer { flock(lock.number, LOCK_UN) }
        try write(change(try load(type, from: directory)), to: directory)
    }

    private func load<Contents: Decodable>(
        _ type: Contents.Type, from directory: borrowing Descriptor
    ) throws(PairingStoreError) -> Contents? {
        let number = openat(directory.number, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if number < 0, errno == ENOENT { return nil }
        if number < 0, errno == ELOOP { throw .notAFile(path: path) }
        guard number >= 0 else { throw failure("open", name) }
        let file = Descriptor(number: number)
        try check(file, path: path, type: S_IFREG)

        var bytes = try readAll(file)
        defer { wipe(&bytes) }
        var data = Data(bytes)
        defer { data.resetBytes(in: data.startIndex..<data.endIndex) }
        let decoder = JSONDecoder()
        do {
            let version = try decoder.decode(Version.self, from: data).version
            guard version == 1 else { throw PairingStoreError.unsupportedVersion(path: path, version: version) }
            return try decoder.decode(type, from: data)
        } catch let error as PairingStoreError {
            throw error
        } catch let error as DecodingError {
            throw .corrupted(path: path, reason: error.place)
        } catch {
            throw .corrupted(path: path, reason: "a key is none")
        }
    }

    private func write(_ contents: some Encodable, to directory: borrowing Descriptor) throws(PairingStoreError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        var data: Data
        do { data = try encoder.encode(contents) } catch { throw .corrupted(path: path, reason: "cannot be encoded") }
        defer { data.resetBytes(in: data.startIndex..<data.endIndex) }
        var bytes = [UInt8](data) + [0x0A]
        defer { wipe(&bytes) }

        do throws(PairingStoreError) {
            let file = try open(temporaryName, in: directory, O_WRONLY | O_CREAT | O_TRUNC)
            guard fchmod(file.number, 0o600) == 0 else { throw failure("fchmod", temporaryName) }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(file.number, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw failure("write", temporaryName) }
                rest.removeFirst(count)
            }
            guard fsync(file.number) == 0 else { throw failure("fsync", temporaryName) }
            guard renameat(directory.number, temporaryName, directory.number, name) == 0 else {
                throw failure("rename", temporaryName)
            }
        } catch {
            unlinkat(directory.number, temporaryName, 0)
            throw error
        }
        guard fsync(directory.number) == 0 else { throw .system(call: "fsync", path: folder, errno: errno) }
    }

    private func readAll(_ file: borrowing Descriptor) throws(PairingStoreError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        defer { wipe(&chunk) }
        while true {
            let count = Glibc.read(file.number, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", name) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
    }

    /// Makes the folder and those above it that are missing.
    private func makeFolder() throws(PairingStoreError) {
        var prefix = folder.hasPrefix("/") ? "/" : ""
        for part in folder.split(separator: "/") {
            prefix += (prefix.isEmpty || prefix.hasSuffix("/") ? "" : "/") + part
            guard mkdir(prefix, 0o700) == 0 || errno == EEXIST else { throw .system(call: "mkdir", path: prefix, errno: errno) }
        }
    }

    private func openFolder() throws(PairingStoreError) -> Descriptor {
        let number = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw .system(call: "open", path: folder, errno: errno) }
        let directory = Descriptor(number: number)
        try check(directory, path: folder, type: S_IFDIR)
        return directory
    }

    private func open(_ name: String, in directory: borrowing Descriptor, _ flags: Int32) throws(PairingStoreError) -> Descriptor {
        let number = openat(directory.number, name, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw failure("open", name) }
        return Descriptor(number: number)
    }

    private func check(_ file: borrowing Descriptor, path: String, type: mode_t) throws(PairingStoreError) {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw .system(call: "fstat", path: path, errno: errno) }
        guard status.st_mode & S_IFMT == type else { throw .notAFile(path: path) }
        guard status.st_mode & 0o077 == 0 else { throw .tooOpen(path: path, mode: UInt32(status.st_mode & 0o7777)) }
    }

    private func failure(_ call: String, _ name: String) -> PairingStoreError {
        .system(call: call, path: folder + "/" + name, errno: errno)
    }
}

/// Owns one file descriptor.
private struct Descriptor: ~Copyable {
    let number: Int32

    deinit { close(number) }
}

extension DecodingError {
    /// Where decoding stopped and why, without any of the file's values.
    fileprivate var place: String {
        let (context, what): (Context, String) =
            switch self {
            case .keyNotFound(let key, let context): (context, "no '\(key.stringValue)'")
            case .typeMismatch(_, let context): (context, "wrong type")
            case .valueNotFound(_, let context): (context, "no value")
            case .dataCorrupted(let context): (context, "not valid")
            @unknown default: (Context(codingPath: [], debugDescription: ""), "not readable")
            }
        return (context.codingPath.map(\.stringValue) + [what]).joined(separator: ": ")
    }
}
