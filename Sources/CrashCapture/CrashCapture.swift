internal import CCrash
internal import Glibc
public import ServiceKit
internal import Synchronization

/// Keeps what a crash of this program leaves: what ended it, where, and the states before.
///
/// The crashed process writes down what cannot be known later, by calls that are allowed in a signal handler alone, and Swift's own
/// backtracer, a process beside it, adds names and lines. Nothing is sent from there: the next start does that.
///
/// The backtracer takes its orders from the environment that the process was started with, so the program starts itself once more with them,
/// as the same process. Where no backtracer is found, the record with its bare addresses stands alone.
public enum CrashCapture {
    /// Why crashes of this process are not kept; nil where they are.
    public static var trouble: FileFailure? { state.withLock { $0.trouble } }

    /// The build id of the running program, hexadecimal; empty where the linker gave it none.
    public static var build: String {
        var build = [CChar](repeating: 0, count: 128)
        ccrash_build_id(&build, Int32(build.count))
        return String(decoding: build.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private struct State {
        var trouble: FileFailure?
        var files: [String] = []
    }

    private static let state = Mutex(State())

    /// To be called first of all in `main`, on the main thread. Failing keeps no program from running; see ``trouble``.
    public static func begin(program: String, version: String) {
        let environment = currentEnvironment()
        let folder = CrashFolder(environment: environment, program: program)
        do throws(FileFailure) {
            try makeOwnFolder(folder.path)
            folder.tidy()
            let id = try startOver(folder, environment) ?? CrashFolder.makeID()
            let descriptor = try makeRecord(folder.file(id, .record))
            // The backtracer would make it with the permissions of any file.
            close(open(folder.file(id, .backtrace), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600))
            state.withLock { $0.files = [folder.file(id, .record), folder.file(id, .backtrace)] }
            atexit { CrashCapture.endWell() }
            ccrash_install(descriptor, header(program, version))
        } catch {
            state.withLock { $0.trouble = error }
        }
        leaveBreadcrumb("started")
    }

    private static func endWell() {
        for file in state.withLock({ $0.files }) { unlink(file) }
    }

    private static func header(_ program: String, _ version: String) -> String {
        """
        program \(program)
        version \(version)
        build \(build)
        started \(WallTime.now().millisecondsSinceEpoch)

        """
    }

    // MARK: The backtracer

    private static let variable = "SWIFT_BACKTRACE"

    /// Gives the backtracer its orders, by starting the program once more.
    /// - Returns: The id that the orders carry; nil where somebody else gave them, or the program could not be started.
    private static func startOver(_ folder: CrashFolder, _ environment: [String: String]) throws(FileFailure) -> String? {
        if let orders = environment[variable] { return id(of: orders, in: folder) }
        let id = CrashFolder.makeID()
        let path = folder.file(id, .backtrace)
        // A comma would end the path in the orders.
        guard !path.contains(","), let executable = programPath() else { return nil }
        setenv(variable, orders(output: path, tool: tool(beside: executable)), 1)
        execv(executable, CommandLine.unsafeArgv)
        return nil
    }

    static func orders(output: String, tool: String?) -> String {
        let orders = [
            "enable=yes", "format=json", "output-to=\(output)", "threads=crashed", "registers=none", "images=mentioned", "limit=64",
            "interactive=no", "color=no", "warnings=suppressed",
        ]
        return (orders + [tool.map { "swift-backtrace=\($0)" }].compactMap(\.self)).joined(separator: ",")
    }

    static func id(of orders: String, in folder: CrashFolder) -> String? {
        let output = orders.split(separator: ",").first { $0.hasPrefix("output-to=") }?.dropFirst("output-to=".count)
        guard let output, let dash = output.lastIndex(of: "-"), let dot = output.lastIndex(of: "."), dash < dot else { return nil }
        let id = String(output[output.index(after: dash)..<dot])
        return CrashFolder.isID(id) && folder.file(id, .backtrace) == String(output) ? id : nil
    }

    /// The backtracer that was installed with the program; where there is none the runtime looks in its own toolchain.
    private static func tool(beside executable: String) -> String? {
        let folders = executable.split(separator: "/").dropLast(2)
        let path = "/" + (folders + ["libexec", "swift-backtrace"]).joined(separator: "/")
        return access(path, X_OK) == 0 && !path.contains(",") ? path : nil
    }

    // MARK: Files

    /// As root, for whoever owns what is around it: a command run by root must not shut a service out of its own state.
    private static func makeOwnFolder(_ path: String) throws(FileFailure) {
        guard access(path, F_OK) != 0 else { return }
        try makeFolder(path, mode: 0o700)
        var around = stat()
        if geteuid() == 0, stat(path + "/..", &around) == 0 { chown(path, around.st_uid, around.st_gid) }
    }

    private static func makeRecord(_ path: String) throws(FileFailure) -> Int32 {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileFailure(path: path, cause: .errno(errno)) }
        // Told apart from one that a crash left by the lock, which ends with the process.
        flock(descriptor, LOCK_EX | LOCK_NB)
        // Where the file system cannot set space aside, the record is written as far as there is some.
        if ccrash_reserve(descriptor, Int64(CrashFolder.recordSize)) == ENOSPC {
            unlink(path)
            close(descriptor)
            throw FileFailure(path: path, cause: .errno(ENOSPC))
        }
        return descriptor
    }

    private static func programPath() -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func currentEnvironment() -> [String: String] {
        let names = ["HANDKIT_CRASH_FOLDER", "STATE_DIRECTORY", "XDG_STATE_HOME", "HOME", variable]
        return Dictionary(uniqueKeysWithValues: names.compactMap { name in getenv(name).map { (name, String(cString: $0)) } })
    }
}
