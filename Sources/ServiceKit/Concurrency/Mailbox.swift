internal import Synchronization

/// Hands the newest value from a producer, on any thread, to one async consumer; what the consumer is too slow for is replaced and counted.
///
/// For values of which only the latest matters, such as frames. Never for events that must all arrive.
public final class Mailbox<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case holding(Value)
        case awaited(CheckedContinuation<Value?, Never>)
        /// A value put before the end is still taken.
        case finished(Value?)
    }

    private struct Guarded {
        var state = State.empty
        var replaced = 0
    }

    private let guarded = Mutex(Guarded())

    public init() {}

    /// How many values were replaced before anyone took them.
    public var replacedCount: Int { guarded.withLock { $0.replaced } }

    /// Puts a value in, in place of one not yet taken. Never waits. After `finish()` the value is let go and counted as replaced.
    ///
    /// - Returns: Whether a value was lost by it.
    @discardableResult
    public func put(_ value: Value) -> Bool {
        let (waiter, isLoss) = guarded.withLock { guarded -> (CheckedContinuation<Value?, Never>?, Bool) in
            switch guarded.state {
            case .empty:
                guarded.state = .holding(value)
                return (nil, false)
            case .awaited(let waiter):
                guarded.state = .empty
                return (waiter, false)
            case .holding:
                guarded.state = .holding(value)
                guarded.replaced += 1
                return (nil, true)
            case .finished:
                guarded.replaced += 1
                return (nil, true)
            }
        }
        waiter?.resume(returning: value)
        return isLoss
    }

    /// Ends it: the consumer takes what is still in it, then nil.
    public func finish() {
        let waiter = guarded.withLock { guarded -> CheckedContinuation<Value?, Never>? in
            switch guarded.state {
            case .empty: guarded.state = .finished(nil)
            case .holding(let value): guarded.state = .finished(value)
            case .awaited(let waiter):
                guarded.state = .finished(nil)
                return waiter
            case .finished: break
            }
            return nil
        }
        waiter?.resume(returning: nil)
    }

    /// Waits for a value and takes it; nil once finished or when the calling task is cancelled.
    ///
    /// For one consumer: a second call while one waits is a programming error and traps.
    public func take() async -> Value? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = guarded.withLock { guarded -> Value?? in
                    switch guarded.state {
                    case .empty:
                        // The cancellation handler takes this lock too: it either ran before, and is seen here, or finds the waiter.
                        if Task.isCancelled { return .some(nil) }
                        guarded.state = .awaited(continuation)
                        return nil
                    case .holding(let value):
                        guarded.state = .empty
                        return value
                    case .finished(let value):
                        guarded.state = .finished(nil)
                        return .some(value)
                    case .awaited: preconditionFailure("two consumers of one mailbox")
                    }
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            let waiter = guarded.withLock { guarded -> CheckedContinuation<Value?, Never>? in
                guard case .awaited(let waiter) = guarded.state else { return nil }
                guarded.state = .empty
                return waiter
            }
            waiter?.resume(returning: nil)
        }
    }
}
