internal import CSystem
internal import Glibc

/// Holds signals back while something must be tidied up first: each becomes a byte to read, and ends nothing.
///
/// Signals belong to the process, so there is one at a time, and none while a ``ServiceGroup`` runs. A second signal ends the process at
/// once.
public struct SignalPipe: ~Copyable {
    /// Readable once a signal has come, whose number is the byte to read. Open as long as this lives.
    public let descriptor: Int32

    /// Nil where signals are received elsewhere already.
    public init?(_ numbers: [Int32]) {
        descriptor = csystem_signals_begin(numbers, Int32(numbers.count))
        guard descriptor >= 0 else { return nil }
    }

    /// The signal that has come; nil for none yet.
    public func received() -> Int32? {
        var number: UInt8 = 0
        return read(descriptor, &number, 1) == 1 ? Int32(number) : nil
    }

    deinit {
        if descriptor >= 0 { csystem_signals_end() }
    }
}
