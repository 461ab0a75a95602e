/// Finds the camera that is meant among those that are there, and never takes another for it.
///
/// A camera that was opened once is looked for by what it is, wherever it comes back; a link that lasts (`/dev/v4l/…`) or a serial number says
/// by itself which one is meant. Pure: what is there is an argument.
public struct CameraSearch: Hashable, Sendable {
    /// How a camera is named by a person.
    public enum Name: Hashable, Sendable {
        /// The first that is found.
        case any
        /// A node, or a link to one.
        case path(String)
        /// USB's serial number.
        case serial(String)
    }

    public let name: Name
    private var known: Known?

    private struct Known: Hashable {
        var identity: CameraIdentity
        var name: String
        /// Where cameras were that are told from it only by their place: they are not it when it is gone.
        var neighbours: Set<String>
    }

    public init(_ name: Name) { self.name = name }

    /// The entry of the camera that is meant.
    ///
    /// - Parameter entries: All nodes in the order of their numbers, the one at a path of another kind among them.
    public func choose(from entries: [CameraCatalog.Entry]) throws(CameraError) -> CameraCatalog.Entry {
        switch name {
        case .any:
            if known != nil { return try knownCamera(in: entries, path: nil) }
            return try Self.firstCamera(entries)
        case .serial(let serial):
            let places = entries.filter { $0.identity?.serial == serial }
            guard let first = places.first else {
                // The one that may not be looked at may be the one.
                if let obstacle = Self.obstacle(entries) { throw obstacle }
                throw .noSuchDevice(path: "serial:\(serial)")
            }
            if let known, let same = places.first(where: { $0.identity == known.identity }) { return same }
            guard places.allSatisfy({ $0.identity?.port == first.identity?.port }) else {
                throw .ambiguousCamera(name: "serial:\(serial)", paths: places.map(\.path))
            }
            return first
        case .path(let path):
            let entry = entries.first { $0.path == path || $0.stablePaths.contains(path) }
            if known == nil || Self.lasts(path) {
                guard let entry else { throw .noSuchDevice(path: path) }
                return entry
            }
            if let entry {
                if entry.identity == known?.identity { return entry }
                // Opening it says what is wrong with it.
                if Self.obstacle([entry]) != nil { return entry }
            }
            return try knownCamera(in: entries, path: path)
        }
    }

    /// Remembers the camera that was opened.
    public mutating func opened(_ entry: CameraCatalog.Entry, among entries: [CameraCatalog.Entry]) {
        guard case .success(let camera) = entry.camera else { return }
        let alike = entries.compactMap(\.identity).filter { $0.isLike(camera.identity) && $0.port != camera.identity.port }
        known = Known(identity: camera.identity, name: camera.name, neighbours: Set(alike.map(\.port)))
    }

    /// Whether a path names a camera and not just a number.
    static func lasts(_ path: String) -> Bool { path.hasPrefix("/dev/v4l/") }

    private func knownCamera(in entries: [CameraCatalog.Entry], path: String?) throws(CameraError) -> CameraCatalog.Entry {
        guard let known else { throw .noCamera }
        let alike = entries.filter { $0.identity?.isLike(known.identity) == true }
        if let same = alike.first(where: { $0.identity?.port == known.identity.port }) { return same }
        let moved = alike.filter { entry in entry.identity.map { !known.neighbours.contains($0.port) } ?? false }
        if moved.count == 1 { return moved[0] }
        if moved.count > 1 { throw .ambiguousCamera(name: known.name, paths: moved.map(\.path)) }
        let others = entries.filter { $0.identity != nil && (path == nil || $0.path == path || $0.stablePaths.contains(path ?? "")) }
        if let other = others.first, case .success(let camera) = other.camera {
            throw .otherCamera(path: other.path, expected: known.name, found: camera.name)
        }
        throw path.map { .noSuchDevice(path: $0) } ?? Self.obstacle(entries) ?? .noCamera
    }

    /// - Throws: Why a device could not be examined, where none captures and one may: a camera without permission is not "no camera".
    private static func firstCamera(_ entries: [CameraCatalog.Entry]) throws(CameraError) -> CameraCatalog.Entry {
        guard let first = entries.first(where: { $0.identity != nil }) else { throw obstacle(entries) ?? .noCamera }
        return first
    }

    private static func obstacle(_ entries: [CameraCatalog.Entry]) -> CameraError? {
        for entry in entries {
            switch entry.camera {
            case .success, .failure(.notACaptureDevice): continue
            case .failure(let error): return error
            }
        }
        return nil
    }
}

extension CameraCatalog.Entry {
    /// Nil for what is no camera, or cannot be examined.
    var identity: CameraIdentity? { (try? camera.get())?.identity }
}
