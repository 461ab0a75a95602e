/// `camera/<id>/crash` and `bridge/<id>/crash`: how the program ended that crashed last. Retained; published at the start after it.
public struct CrashDiagnostic: Codable, Equatable, Sendable {
    public var program: String
    public var version: String
    /// The program's build id, hexadecimal.
    public var build: String
    /// When it crashed.
    public var ts: Timestamp
    /// Seconds that it had run.
    public var uptime: Double
    /// `SIGSEGV` and so on.
    public var signal: String
    /// What it said of it, for a person to read.
    public var message: String?
    /// The innermost of its own functions.
    public var function: String?
    /// The innermost first; functions, and addresses where no name is known.
    public var frames: [String]
    /// The states before it, the latest last.
    public var states: [String]
    /// How many crashes wait to be told of, this one included.
    public var waiting: Int
    public var v: Int

    public init(
        program: String, version: String, build: String, ts: Timestamp, uptime: Double, signal: String, message: String?, function: String?,
        frames: [String], states: [String], waiting: Int
    ) {
        (self.program, self.version, self.build, self.ts, self.uptime) = (program, version, build, ts, uptime)
        (self.signal, self.message, self.function) = (signal, message, function)
        (self.frames, self.states, self.waiting, v) = (frames, states, waiting, schemaVersion)
    }
}
