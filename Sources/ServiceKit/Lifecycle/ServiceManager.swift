internal import Glibc

/// systemd, where it has started the program as a service of type `notify`: it is told in datagrams how the program is.
///
/// The protocol is that of `sd_notify(3)`.
public struct ServiceManager: Sendable {
    public enum Message: String, Sendable {
        /// The configuration is read and everything runs.
        case ready = "READY=1"
        case stopping = "STOPPING=1"
        case alive = "WATCHDOG=1"
    }

    /// A message was not delivered.
    public struct Failure: Error, Equatable {
        public let errno: Int32
    }

    /// How often `alive` is expected: the program is killed and started again where it stays away twice. Nil for no watchdog.
    public let watchdogInterval: Duration?

    private let address: [UInt8]

    /// - Parameters:
    ///   - environment: With `NOTIFY_SOCKET`, else nobody waits for messages and the result is nil.
    ///   - processID: This process's unless given; the watchdog may be meant for another.
    public init?(environment: [String: String], processID: Int32? = nil) {
        // A path, or a name that is no file and then begins with '@' in place of a zero byte.
        guard var address = environment["NOTIFY_SOCKET"].map({ Array($0.utf8) }), address.count > 1,
            address.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        switch address[0] {
        case UInt8(ascii: "@"): address[0] = 0
        case UInt8(ascii: "/"): break
        default: return nil
        }
        self.address = address
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(processID ?? getpid())" } ?? true
        if isMeant, let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), microseconds > 1 {
            watchdogInterval = .microseconds(microseconds / 2)
        } else {
            watchdogInterval = nil
        }
    }

    /// Sends a message; waits where the manager is behind, and gives up after some seconds.
    public func tell(_ message: Message) async throws {
        var failure = Failure(errno: EAGAIN)
        for _ in 0..<50 {
            do throws(Failure) {
                return try send(message)
            } catch {
                guard error.errno == EAGAIN else { throw error }
                failure = error
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw failure
    }

    private func send(_ message: Message) throws(Failure) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(errno: errno) }
        defer { close(descriptor) }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: address) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + address.count)
        let text = Array(message.rawValue.utf8)
        let count = withUnsafePointer(to: name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { sendto(descriptor, text, text.count, 0, $0, length) }
        }
        guard count == text.count else { throw Failure(errno: errno) }
    }
}
