import Glibc
import HomeKit
import ServiceKit

/// What proves to a lamp that a person has it in hand: its setup code, or the payload of its QR code, which holds one.
struct SetupSecret: Sendable {
    var code: SetupCode
    /// Nil where the code alone was given.
    var payload: SetupPayload?

    /// Bytes of a file or pipe that are looked at; a payload has twenty.
    private static let limit = 256

    /// Reads it from a file, from standard input, or from the terminal without showing it.
    static func read(file: String?, isPiped: Bool) async throws(BridgeFailure) -> SetupSecret {
        let text: String
        if let file {
            text = try contents(of: file)
        } else if isPiped {
            text = try contents(of: "/dev/stdin")
        } else {
            text = try await Terminal().secret("Setup code of the lamp (ddd-dd-ddd, or X-HM://… of its QR code; not shown): ")
        }
        return try SetupSecret(text)
    }

    /// Reads what was typed.
    init(_ text: String) throws(BridgeFailure) {
        let start = text.drop(while: \.isWhitespace).prefix(SetupPayload.scheme.count)
        if start.uppercased() == SetupPayload.scheme {
            do throws(SetupPayload.Fault) {
                let payload = try SetupPayload(text)
                (code, self.payload) = (payload.code, payload)
            } catch {
                throw .badPayload(error)
            }
        } else {
            do throws(SetupCode.Fault) { code = try SetupCode(text) } catch { throw .badSetupCode }
        }
    }

    private static func contents(of file: String) throws(BridgeFailure) -> String {
        do throws(FileFailure) {
            return String(decoding: try readFile(file, limit: limit), as: UTF8.self)
        } catch {
            throw .badCodeFile(error)
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
    ///
    /// A signal that ends the program does so only when the terminal is as it was.
    func secret(_ prompt: String) throws(BridgeFailure) -> String {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw .noTerminal }
        defer { close(descriptor) }
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else { throw .noTerminal }
        let outcome = withSignalsHeld(descriptor) { signals in
            // Byte by byte and with Ctrl-C and Ctrl-D as bytes.
            var silent = before
            silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
            guard tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else { return .failed(.noTerminal) }
            defer { tcsetattr(descriptor, TCSAFLUSH, &before) }
            say(prompt, descriptor)
            defer { say("\n", descriptor) }
            return line(from: descriptor, signals)
        }
        switch outcome {
        case .line(let text): return text
        case .failed(let failure): throw failure
        case .signal(let number):
            // What it does to a program is its own business again; threads like this one do not take signals.
            var set = sigset_t()
            sigemptyset(&set)
            sigaddset(&set, number)
            pthread_sigmask(SIG_UNBLOCK, &set, nil)
            raise(number)
            throw .aborted
        }
    }

    private enum Outcome {
        case line(String)
        case signal(Int32)
        case failed(BridgeFailure)
    }

    private func withSignalsHeld(_ descriptor: Int32, _ body: (borrowing SignalPipe) -> Outcome) -> Outcome {
        guard let signals = SignalPipe([SIGTERM, SIGHUP, SIGINT, SIGQUIT]) else { return .failed(.noTerminal) }
        return body(signals)
    }

    private func line(from descriptor: Int32, _ signals: borrowing SignalPipe) -> Outcome {
        var line: [UInt8] = []
        while true {
            var ready = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&ready, 2, -1) < 0, errno != EINTR { return .failed(.noTerminal) }
            if let number = signals.received() { return .signal(number) }
            guard ready[0].revents != 0 else { continue }
            var byte: UInt8 = 0
            let count = Glibc.read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1, byte != Self.interrupt, byte != Self.endOfInput else { return .failed(.aborted) }
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return .line(String(decoding: line, as: UTF8.self))
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
