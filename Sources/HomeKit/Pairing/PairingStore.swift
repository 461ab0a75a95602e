internal import FoundationEssentials

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

    public let folder: String
    public var path: String { file.path }

    private struct Contents: Codable {
        var version = 1
        var pairings: [String: PairingRecord] = [:]
    }

    private var file: PrivateFile { PrivateFile(folder: folder, name: Self.fileName, lockName: Self.lockName) }

    /// - Parameter folder: Made with mode 0700 where it is missing, refused where it is wider.
    public init(folder: String) { self.folder = folder }

    /// All pairings by name; empty where there is no file yet.
    public func all() throws(PairingStoreError) -> [String: PairingRecord] {
        try file.read(Contents.self)?.pairings ?? [:]
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
        try file.update(Contents.self) { contents in
            var contents = contents ?? Contents()
            change(&contents.pairings)
            return contents
        }
    }
}
