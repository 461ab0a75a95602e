import TestSupport

/// The path of a clip or still that ships with the project's tests.
func clip(_ name: String) -> String { "\(Paths.root)/Tests/Clips/\(name)" }
