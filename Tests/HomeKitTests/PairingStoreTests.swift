import Cryptography
import Glibc
import TestSupport
import Testing

@testable import HomeKit

@Suite struct `A pairing store` {
    private let scratch = Scratch()
    private var folder: String { scratch.folder + "/state/pairings" }
    private var store: PairingStore { PairingStore(folder: folder) }
    private let record: PairingRecord
    private let other: PairingRecord

    init() throws {
        record = try ScriptedAccessory().pairing
        other = try ScriptedAccessory().pairing
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    private func write(_ text: String, mode: mode_t = 0o600) {
        mkdir(scratch.folder + "/state", 0o700)
        mkdir(folder, 0o700)
        let file = open(store.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        fchmod(file, mode)
        close(file)
    }

    @Test func `is empty where nothing was kept, and makes no folder by looking`() throws {
        #expect(try store.all().isEmpty)
        #expect(!Paths.exists(folder))
    }

    @Test func `keeps pairings whole, by name, until they are removed`() throws {
        try store.save(record, as: "desk")
        try store.save(other, as: "hall")
        #expect(try store.all() == ["desk": record, "hall": other])
        try store.save(other, as: "desk")
        #expect(try store.all() == ["desk": other, "hall": other])
        #expect(try store.remove("desk") == other)
        #expect(try store.remove("desk") == nil)
        #expect(try store.all() == ["hall": other])
    }

    @Test func `is for its owner alone, whatever the process would allow`() throws {
        let mask = umask(0)
        defer { umask(mask) }
        try store.save(record, as: "desk")
        #expect(mode(folder) == 0o700)
        #expect(mode(store.path) == 0o600)
        #expect(mode(folder + "/" + PairingStore.lockName) == 0o600)
    }

    @Test(arguments: [0o604, 0o640, 0o660, 0o602] as [mode_t])
    func `refuses a file that others may open`(mode: mode_t) throws {
        try store.save(record, as: "desk")
        chmod(store.path, mode)
        let error = PairingStoreError.tooOpen(path: store.path, mode: mode)
        #expect(throws: error) { try store.all() }
        #expect(throws: error) { try store.save(record, as: "hall") }
    }

    @Test(arguments: [0o750, 0o701, 0o770] as [mode_t])
    func `refuses a folder that others may enter`(mode: mode_t) throws {
        try store.save(record, as: "desk")
        chmod(folder, mode)
        let error = PairingStoreError.tooOpen(path: folder, mode: mode)
        #expect(throws: error) { try store.all() }
        #expect(throws: error) { try store.remove("desk") }
    }

    @Test func `does not follow a link or read anything but a file`() throws {
        try store.save(record, as: "desk")
        rename(store.path, folder + "/elsewhere.json")
        symlink(folder + "/elsewhere.json", store.path)
        #expect(throws: PairingStoreError.notAFile(path: store.path)) { try store.all() }
        unlink(store.path)
        mkfifo(store.path, 0o600)
        #expect(throws: PairingStoreError.notAFile(path: store.path)) { try store.all() }
    }

    @Test func `keeps a second writer out while the first is at it`() throws {
        try store.save(record, as: "desk")
        let locked = PairingStoreError.locked(path: folder + "/" + PairingStore.lockName)
        try store.update { pairings in
            #expect(throws: locked) { try store.save(other, as: "hall") }
            pairings["attic"] = other
        }
        #expect(try store.all() == ["desk": record, "attic": other])
    }

    @Test func `leaves the old pairings when the new ones cannot be written`() throws {
        try store.save(record, as: "desk")
        // A folder in the place of the new file stands for a disk that refuses it.
        let obstacle = store.path + ".new"
        mkdir(obstacle, 0o700)
        #expect(throws: PairingStoreError.system(call: "open", path: obstacle, errno: EISDIR)) { try store.save(other, as: "desk") }
        #expect(try store.all() == ["desk": record])
    }

    @Test func `gets over what a crash left half written`() throws {
        try store.save(record, as: "desk")
        let left = open(store.path + ".new", O_WRONLY | O_CREAT, 0o644)
        _ = Glibc.write(left, "{\"vers", 6)
        close(left)
        try store.save(other, as: "hall")
        #expect(try store.all() == ["desk": record, "hall": other])
        #expect(mode(store.path) == 0o600)
        #expect(!Paths.exists(store.path + ".new"))
    }

    @Test func `a reader sees the old pairings or the new ones, never a half`() async throws {
        try store.save(record, as: "desk")
        let (store, record, other) = (store, record, other)
        let writer = Task.detached { for round in 0..<100 { try store.save(round.isMultiple(of: 2) ? other : record, as: "desk") } }
        for _ in 0..<300 {
            let seen = try store.all()["desk"]
            #expect(seen == record || seen == other)
        }
        try await writer.value
    }

    @Test func `refuses what a newer program wrote`() throws {
        write(#"{"version":2,"pairings":[]}"#)
        #expect(throws: PairingStoreError.unsupportedVersion(path: store.path, version: 2)) { try store.all() }
    }

    @Test(arguments: [
        ("", "not valid"), ("{", "not valid"), ("[]", "wrong type"), ("{}", "no 'version'"), (#"{"version":1}"#, "no 'pairings'"),
        (#"{"version":1,"pairings":{"desk":{"accessoryID":"x"}}}"#, "pairings: desk: no 'controllerLTSK'"),
        (#"{"version":1,"pairings":{"desk":{"accessoryID":"x","controllerLTSK":"s3cret"}}}"#, "pairings: desk: controllerLTSK: not valid"),
    ])
    func `says where a damaged file is wrong, without any of its secrets, and leaves it alone`(text: String, reason: String) throws {
        write(text)
        #expect(throws: PairingStoreError.corrupted(path: store.path, reason: reason)) { try store.all() }
        #expect(throws: PairingStoreError.corrupted(path: store.path, reason: reason)) { try store.save(record, as: "desk") }
        #expect(throws: PairingStoreError.corrupted(path: store.path, reason: reason)) { try store.all() }
    }

    @Test func `a record never prints its key`() throws {
        let seed = record.controller.key.seed.withBytes { Hex.encode($0) }
        var dumped = ""
        dump(record, to: &dumped)
        for text in ["\(record)", String(reflecting: record), dumped] {
            #expect(text.contains(record.accessoryID))
            #expect(!text.contains(seed.prefix(8)) && !text.lowercased().contains("key"))
        }
    }

    @Test func `a controller is named by an upper-case UUID`() {
        #expect(record.controllerID.utf8.count == 36)
        #expect(record.controllerID == record.controllerID.uppercased())
        #expect(record.controllerID != other.controllerID)
    }
}

/// A folder that goes when the test is over.
private final class Scratch: Sendable {
    let folder: String

    init() { folder = (try? Paths.temporaryFolder()) ?? "/nonexistent" }

    deinit { Paths.remove(folder) }
}
