import Glibc
import HomeKit
import ServiceKit

/// Gets a setup code without showing it.
enum SetupCodePrompt {
    /// Bytes of a file or pipe that are looked at; a code has ten.
    private static let limit = 256

    /// Reads the code from a file, from standard input, or from the terminal.
    static func read(file: String?, isPiped: Bool) async throws -> SetupCode {
        let text: String
        if let file {
            text = try contents(of: file)
        } else if isPiped {
            text = try contents(of: "/dev/stdin")
        } else {
            text = try await Terminal().secret("Setup code of the lamp (ddd-dd-ddd, not shown): ")
        }
        do throws(SetupCode.Fault) { return try SetupCode(text) } catch { throw BridgeFailure.badSetupCode }
    }

    private static func contents(of file: String) throws -> String {
        do throws(FileFailure) {
            return String(decoding: try readFile(file, limit: limit), as: UTF8.self)
        } catch {
            throw BridgeFailure.badCodeFile(error)
        }
    }
}

/// The terminal the program was started from, whatever its standard streams are.
private actor Terminal {
    private let executor = ThreadExecutor(name: "terminal")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private static let interrupt: UInt8 = 0x03
    private static let endOfInput: UInt8 = 0x04
    private static let erase: UInt8 = 0x7f
    private static let maximumLength = 64

    /// Asks for a line that is not shown while it is typed.
    func secret(_ prompt: String) throws(BridgeFailure) -> String {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw .noTerminal }
        defer { close(descriptor) }
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else { throw .noTerminal }
        // Byte by byte and with Ctrl-C and Ctrl-D as bytes, so that the program cannot end with the terminal left silent.
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else { throw .noTerminal }
        defer { tcsetattr(descriptor, TCSAFLUSH, &before) }
        say(prompt, descriptor)
        defer { say("\n", descriptor) }

        var line: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            let count = Glibc.read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1, byte != Self.interrupt, byte != Self.endOfInput else { throw .aborted }
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return String(decoding: line, as: UTF8.self)
            case Self.erase, 0x08: _ = line.popLast()
            default: if line.count < Self.maximumLength { line.append(byte) }
            }
        }
    }

    private func say(_ text: String, _ descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }
}
