public import Glibc
internal import Synchronization

/// Where log records go. Called on whatever thread logs.
public protocol LogDestination: Sendable {
    func write(_ record: LogRecord)
}

/// How records become lines.
public enum LogFormat: String, Sendable, CaseIterable {
    /// Text where the stream is a terminal, JSON lines elsewhere.
    case auto
    case text, json
}

/// Log lines on a file descriptor, standard error unless told otherwise; one `write` a line.
public struct LogStream: LogDestination {
    private let descriptor: Int32
    private let isText: Bool
    private let lock = LineLock()

    /// - Parameter descriptor: Lent; it must stay open as long as this is used.
    public init(descriptor: Int32 = STDERR_FILENO, format: LogFormat = .auto) {
        self.descriptor = descriptor
        isText =
            switch format {
            case .text: true
            case .json: false
            case .auto: isatty(descriptor) == 1
            }
    }

    public func write(_ record: LogRecord) {
        let line = (isText ? record.text : record.json) + "\n"
        // A line longer than a pipe takes at once is written in pieces; the lock keeps other lines out of it.
        lock.mutex.withLock { _ in writeAll(line, to: descriptor) }
    }

    private final class LineLock: Sendable {
        let mutex = Mutex<Void>(())
    }
}

/// Keeps the records it is given: a test's destination.
public final class LogCapture: LogDestination {
    private let kept = Mutex<[LogRecord]>([])

    public init() {}

    public var records: [LogRecord] { kept.withLock { $0 } }

    public func write(_ record: LogRecord) { kept.withLock { $0.append(record) } }
}

/// Writes all of `text`, waiting where the descriptor is full; gives up when nobody can read it any more.
func writeAll(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
        var rest = UnsafeRawBufferPointer(bytes)
        while !rest.isEmpty {
            let count = write(descriptor, rest.baseAddress, rest.count)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno == EAGAIN {
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }
}
