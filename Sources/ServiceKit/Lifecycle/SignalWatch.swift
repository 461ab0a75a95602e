internal import CSystem
internal import Dispatch
internal import Glibc

/// Receives signals: the first is a value to await, the second ends the process at once.
///
/// Signals belong to the process, so there is one watch at a time.
final class SignalWatch: Sendable {
    private let mailbox = Mailbox<Int32>()
    // Dispatch sources are thread-safe but not marked so.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    /// When this returns no signal takes its default action any more.
    /// - Parameter onFirst: Called on a thread of its own, so that it happens even where every pool thread is blocked.
    init(_ numbers: [Int32], onFirst: @escaping @Sendable () -> Void) {
        let descriptor = csystem_signals_begin(numbers, Int32(numbers.count))
        precondition(descriptor >= 0, "cannot watch signals: \(systemMessage(-descriptor))")
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: DispatchQueue(label: "signals"))
        source.setEventHandler { @Sendable [mailbox] in
            var number: UInt8 = 0
            guard read(descriptor, &number, 1) == 1 else { return }
            onFirst()
            mailbox.put(Int32(number))
        }
        source.activate()
    }

    /// Waits for the first signal; nil when cancelled.
    func first() async -> Int32? { await mailbox.take() }

    /// Gives the signals the actions back that they had.
    func end() async {
        await withCheckedContinuation { continuation in
            source.setCancelHandler { @Sendable in
                csystem_signals_end()
                continuation.resume()
            }
            source.cancel()
        }
    }
}
