/// The condition a test waited for did not come true in time.
package struct NeverHappened: Error, CustomStringConvertible {
    package let what: String
    package let deadline: Duration

    package var description: String { "within \(deadline) it never happened that \(what)" }
}

/// Polls until `body` returns a value, and returns it.
///
/// The deadline is generous because it only bounds a failing test: a passing one goes on as soon as the value is there.
/// - Parameter what: completes the sentence "it never happened that …".
/// - Throws: ``NeverHappened`` after the deadline, or whatever `body` throws.
package func eventually<Value>(
    _ what: @autoclosure () -> String, within deadline: Duration = .seconds(60), every interval: Duration = .milliseconds(10),
    _ body: () async throws -> Value?
) async throws -> Value {
    let end = ContinuousClock.now + deadline
    while true {
        if let value = try await body() { return value }
        guard ContinuousClock.now < end else { throw NeverHappened(what: what(), deadline: deadline) }
        try await Task.sleep(for: interval)
    }
}

/// Polls until `condition` holds.
/// - Parameter what: completes the sentence "it never happened that …".
/// - Throws: ``NeverHappened`` after the deadline, or whatever `condition` throws.
package func eventually(
    _ what: @autoclosure () -> String, within deadline: Duration = .seconds(60), every interval: Duration = .milliseconds(10),
    _ condition: () async throws -> Bool
) async throws {
    let _: Void = try await eventually(what(), within: deadline, every: interval) { try await condition() ? () : nil }
}
