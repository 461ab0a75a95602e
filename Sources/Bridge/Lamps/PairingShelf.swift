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

    /// What was read last, and of which state of the file: a house of many lamps asks for each of them.
    private var read: (stamp: Stamp, pairings: [String: PairingRecord])?

    func all() throws(PairingStoreError) -> [String: PairingRecord] {
        let stamp = stamp()
        if let stamp, let read, read.stamp == stamp { return read.pairings }
        let pairings = try store.all()
        read = stamp.map { ($0, pairings) }
        return pairings
    }

    func record(of name: String) throws(PairingStoreError) -> PairingRecord? { try all()[name] }

    /// What tells one state of the file from another without reading it; nil where there is none.
    struct Stamp: Equatable, Sendable {
        var file: UInt
        var seconds: Int
        var nanoseconds: Int
    }

    func stamp() -> Stamp? {
        var status = stat()
        guard stat(store.path, &status) == 0 else { return nil }
        return Stamp(file: UInt(status.st_ino), seconds: status.st_ctim.tv_sec, nanoseconds: status.st_ctim.tv_nsec)
    }

    /// How often the file is looked at while somebody waits for a change.
    private static let glance = Duration.seconds(2)

    private struct Waiter {
        var stamp: Stamp?
        var continuation: CheckedContinuation<Void, Never>
    }

    private var waiters: [UInt64: Waiter] = [:]
    private var lastWaiter: UInt64 = 0
    private var patrol: Task<Void, Never>?

    /// Waits until the file is another than it was, or the task is cancelled. One look serves all who wait.
    func change(from stamp: Stamp?) async {
        lastWaiter += 1
        let number = lastWaiter
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiters[number] = Waiter(stamp: stamp, continuation: continuation)
                if Task.isCancelled { return dismiss(number) }
                if patrol == nil { patrol = Task { await look() } }
            }
        } onCancel: {
            Task { await self.dismiss(number) }
        }
    }

    private func dismiss(_ number: UInt64) { waiters.removeValue(forKey: number)?.continuation.resume() }

    private func look() async {
        while !waiters.isEmpty {
            try? await Task.sleep(for: Self.glance)
            let now = stamp()
            for number in waiters.keys where waiters[number]?.stamp != now { dismiss(number) }
        }
        patrol = nil
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
