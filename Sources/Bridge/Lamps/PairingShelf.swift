import Glibc
import HomeKit
import ServiceKit

/// The pairing file, read and written on a thread of its own because that blocks.
actor PairingShelf {
    private let executor = ThreadExecutor(name: "pairings")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let store: PairingStore

    init(folder: String) { store = PairingStore(folder: folder) }

    nonisolated var path: String { store.path }

    func all() throws(PairingStoreError) -> [String: PairingRecord] { try store.all() }

    func record(of name: String) throws(PairingStoreError) -> PairingRecord? { try store.all()[name] }

    /// What tells one state of the file from another without reading it; nil where there is none.
    struct Stamp: Equatable, Sendable {
        var file: UInt
        var seconds: Int
        var nanoseconds: Int
    }

    func stamp() -> Stamp? {
        var status = stat()
        guard stat(store.path, &status) == 0 else { return nil }
        return Stamp(file: UInt(status.st_ino), seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }

    /// Writes the file as it is, to find out whether that can be done.
    func rehearse() throws(PairingStoreError) { try store.update { _ in } }

    func save(_ record: PairingRecord, as name: String) throws(PairingStoreError) { try store.save(record, as: name) }

    /// Forgets a pairing, unless it is another one by now.
    func remove(_ name: String, ifStill record: PairingRecord) throws(PairingStoreError) {
        try store.update { if $0[name]?.isSamePairing(as: record) == true { $0[name] = nil } }
    }

    /// Keeps where an accessory has moved to, unless it is another pairing by now.
    func relocate(_ name: String, ifStill record: PairingRecord, to address: HAPAddress) throws(PairingStoreError) {
        try store.update { if $0[name]?.isSamePairing(as: record) == true { $0[name]?.address = address } }
    }

    /// Keeps several pairings at once.
    func save(_ records: [String: PairingRecord]) throws(PairingStoreError) {
        try store.update { $0.merge(records) { $1 } }
    }
}
