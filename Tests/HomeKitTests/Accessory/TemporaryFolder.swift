import TestSupport

/// A folder of a test's own; gone with this object.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws { path = try Paths.temporaryFolder() }

    deinit { Paths.remove(path) }
}
