internal import Cryptography
internal import FoundationEssentials
internal import Glibc

/// Why pairings could not be read or kept.
public enum PairingStoreError: Error, Equatable, Sendable {
    /// A system call failed.
    case system(call: String, path: String, errno: Int32)
    /// Others than the owner may read or enter; `mode` is what was found, 0700 or 0600 is what must be.
    case tooOpen(path: String, mode: UInt32)
    /// Something else than a plain file stands where the file belongs.
    case notAFile(path: String)
    /// The file is not what this program writes.
    case corrupted(path: String, reason: String)
    /// A newer program has written the file.
    case unsupportedVersion(path: String, version: Int)
    /// Another process is writing at this moment.
    case locked(path: String)
}

/// Keeps named pairings in one JSON file that only its owner can read.
///
/// A change is written beside the file, forced to disk and renamed over it, so that a crash leaves the old pairings or the new ones. A lock
/// file keeps a second writer out. Every call reads the disk; the calls block for as long as that takes.
public struct PairingStore: Sendable {
    public static let fileName = "pairings.json"
    static let lockName = "pairings.lock"
    private static let temporaryName = "pairings.json.new"

    public let folder: String
    public var path: String { folder + "/" + Self.fileName }

    private struct Contents: Codable {
        var version = 1
        var pairings: [String: PairingRecord] = [:]
    }

    private struct Version: Decodable {
        var version: Int
    }

    /// - Parameter folder: Made with mode 0700 where it is missing, refused where it is wider.
    public init(folder: String) { self.folder = folder }

    /// All pairings by name; empty where there is no file yet.
    public func all() throws(PairingStoreError) -> [String: PairingRecord] {
        guard access(folder, F_OK) == 0 else { return [:] }
        return try load(from: try openFolder()).pairings
    }

    /// Keeps a pairing under a name, in place of the one that may be there.
    public func save(_ record: PairingRecord, as name: String) throws(PairingStoreError) {
        try update { $0[name] = record }
    }

    /// Forgets a pairing and returns it, nil where there was none.
    @discardableResult
    public func remove(_ name: String) throws(PairingStoreError) -> PairingRecord? {
        var removed: PairingRecord?
        try update { removed = $0.removeValue(forKey: name) }
        return removed
    }

    /// Changes the pairings with no other writer in between.
    public func update(_ change: (inout [String: PairingRecord]) -> Void) throws(PairingStoreError) {
        try makeFolder()
        let directory = try openFolder()
        let lock = try open(Self.lockName, in: directory, O_RDWR | O_CREAT)
        guard flock(lock.number, LOCK_EX | LOCK_NB) == 0 else {
            throw errno == EWOULDBLOCK ? .locked(path: folder + "/" + Self.lockName) : failure("flock", Self.lockName)
        }
        // Closing alone would leave the lock with a child process that is just being started.
        defer { flock(lock.number, LOCK_UN) }
        var contents = try load(from: directory)
        change(&contents.pairings)
        try write(contents, to: directory)
    }

    private func load(from directory: borrowing Descriptor) throws(PairingStoreError) -> Contents {
        let number = openat(directory.number, Self.fileName, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if number < 0, errno == ENOENT { return Contents() }
        if number < 0, errno == ELOOP { throw .notAFile(path: path) }
        guard number >= 0 else { throw failure("open", Self.fileName) }
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
            return try decoder.decode(Contents.self, from: data)
        } catch let error as PairingStoreError {
            throw error
        } catch let error as DecodingError {
            throw .corrupted(path: path, reason: error.place)
        } catch {
            throw .corrupted(path: path, reason: "a key is none")
        }
    }

    private func write(_ contents: Contents, to directory: borrowing Descriptor) throws(PairingStoreError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        var data: Data
        do { data = try encoder.encode(contents) } catch { throw .corrupted(path: path, reason: "cannot be encoded") }
        defer { data.resetBytes(in: data.startIndex..<data.endIndex) }
        var bytes = [UInt8](data) + [0x0A]
        defer { wipe(&bytes) }

        do throws(PairingStoreError) {
            let file = try open(Self.temporaryName, in: directory, O_WRONLY | O_CREAT | O_TRUNC)
            guard fchmod(file.number, 0o600) == 0 else { throw failure("fchmod", Self.temporaryName) }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(file.number, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw failure("write", Self.temporaryName) }
                rest.removeFirst(count)
            }
            guard fsync(file.number) == 0 else { throw failure("fsync", Self.temporaryName) }
            guard renameat(directory.number, Self.temporaryName, directory.number, Self.fileName) == 0 else {
                throw failure("rename", Self.temporaryName)
            }
        } catch {
            unlinkat(directory.number, Self.temporaryName, 0)
            throw error
        }
        guard fsync(directory.number) == 0 else { throw .system(call: "fsync", path: folder, errno: errno) }
    }

    private func readAll(_ file: borrowing Descriptor) throws(PairingStoreError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        defer { wipe(&chunk) }
        while true {
            let count = read(file.number, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", Self.fileName) }
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
