/// A part of a program that runs until it is asked to end.
///
/// On shutdown a service is asked first (``Shutdown``, ``cancelledByShutdown(_:)``, ``waitForShutdown()``): it returns when it has said
/// its goodbyes. One that does not return in time is cancelled. Returning or throwing unasked ends the whole group.
public protocol Service: Sendable {
    func run() async throws
}

/// A service made of a closure.
public struct ClosureService: Service {
    private let body: @Sendable () async throws -> Void

    public init(_ body: @escaping @Sendable () async throws -> Void) { self.body = body }

    public func run() async throws { try await body() }
}
