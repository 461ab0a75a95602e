internal import Synchronization

/// Tells one running service that it should come to an end by itself, before it is cancelled.
///
/// A service in a ``ServiceGroup`` finds its own in ``current``; code run outside a group has none and is only ever cancelled.
public final class Shutdown: Sendable {
    @TaskLocal public static var current: Shutdown?

    private struct State {
        var isRequested = false
        var nextID = 0
        var handlers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    public init() {}

    public var isRequested: Bool { state.withLock { $0.isRequested } }

    /// Asks for the end. Handlers run on the calling thread, each at most once.
    public func request() {
        let handlers = state.withLock { state -> [@Sendable () -> Void] in
            state.isRequested = true
            defer { state.handlers = [:] }
            return Array(state.handlers.values)
        }
        for handler in handlers { handler() }
    }

    fileprivate func register(_ handler: @escaping @Sendable () -> Void) -> Int? {
        let id = state.withLock { state -> Int? in
            if state.isRequested { return nil }
            state.nextID += 1
            state.handlers[state.nextID] = handler
            return state.nextID
        }
        if id == nil { handler() }
        return id
    }

    fileprivate func unregister(_ id: Int) {
        state.withLock { _ = $0.handlers.removeValue(forKey: id) }
    }
}

/// Runs `operation` and calls `onShutdown`, at once and on any thread, when the service it is part of is asked to end.
///
/// A request that comes as `operation` returns may still call `onShutdown` just after.
public func withShutdownHandler<Value>(
    _ operation: () async throws -> Value, onShutdown: @escaping @Sendable () -> Void
) async rethrows -> Value {
    guard let shutdown = Shutdown.current else { return try await operation() }
    let id = shutdown.register(onShutdown)
    defer { if let id { shutdown.unregister(id) } }
    return try await operation()
}

/// Runs `operation` and cancels it when the service it is part of is asked to end; the code after it can then say goodbye uncancelled.
///
/// - Returns: What `operation` returned, or nil where it was cancelled by a shutdown before it had anything to return.
@discardableResult
public func cancelledByShutdown<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) async throws -> Value? {
    let shutdown = Shutdown.current
    let task = Task { try await operation() }
    return try await withTaskCancellationHandler {
        try await withShutdownHandler {
            do {
                return try await task.value
            } catch is CancellationError where shutdown?.isRequested == true && !Task.isCancelled {
                return nil
            }
        } onShutdown: {
            task.cancel()
        }
    } onCancel: {
        task.cancel()
    }
}

/// Waits until the service it is called in is asked to end, or the calling task is cancelled.
public func waitForShutdown() async {
    let mailbox = Mailbox<Bool>()
    await withShutdownHandler {
        _ = await mailbox.take()
    } onShutdown: {
        mailbox.finish()
    }
}
