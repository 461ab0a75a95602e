import Dispatch
import Glibc
import Synchronization

/// Owns the terminal on standard input while it is read key by key, and gives it back as it was.
final class Keyboard: Sendable {
    private let former: Mutex<termios?>
    // Dispatch sources may be cancelled from any thread.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    /// Nil where standard input is no terminal of which this process is in the foreground.
    ///
    /// - Parameter onKey: Called on a queue of the keyboard's own.
    init?(onKey: @escaping @Sendable (Key) -> Void) {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp(), tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        let before = settings
        settings.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) == 0 else { return nil }
        former = Mutex(before)
        source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: DispatchQueue(label: "keyboard"))
        let decoder = Mutex(KeyDecoder())
        source.setEventHandler { @Sendable in
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            // A terminal that has gone is to be left alone, or this would be called for ever.
            guard count > 0 else { return onKey(.quit) }
            for key in decoder.withLock({ $0.decode(Array(bytes[..<count])) }) { onKey(key) }
        }
        source.resume()
    }

    deinit { restore() }

    /// Gives the terminal back; nothing the second time.
    func restore() {
        source.cancel()
        former.withLock { former in
            guard var settings = former else { return }
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
            former = nil
        }
    }
}
