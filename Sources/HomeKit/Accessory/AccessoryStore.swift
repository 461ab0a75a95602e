/// Keeps an accessory's identity and pairings in one JSON file that only its owner can read.
package struct AccessoryStore: Sendable {
    package let folder: String
    package var path: String { file.path }

    private struct Contents: Codable {
        var version = 1
        var accessory: AccessoryIdentity
    }

    private var file: PrivateFile { PrivateFile(folder: folder, name: "lamp.json", lockName: "lamp.lock") }

    /// - Parameter folder: Made with mode 0700 where it is missing, refused where it is wider.
    package init(folder: String) { self.folder = folder }

    /// The accessory; nil where there is none yet.
    package func load() throws(PairingStoreError) -> AccessoryIdentity? { try file.read(Contents.self)?.accessory }

    /// Blocks until the accessory is on the disk.
    package func save(_ accessory: AccessoryIdentity) throws(PairingStoreError) {
        try file.update(Contents.self) { _ in Contents(accessory: accessory) }
    }
}
