internal import CCurl
internal import Dispatch
internal import Glibc
internal import ServiceKit
internal import Settings

/// Sends envelopes to a Sentry, each in a thread of its own.
struct SentryCourier: Sendable {
    enum Failure: Error, Equatable {
        /// libcurl is not installed.
        case noLibrary
        /// No answer, and why.
        case unreachable(String)
    }

    /// Seconds for one attempt, connecting included.
    private static let patience = 15

    let address: SentryAddress
    /// A PEM file of whom to trust; nil for the system's.
    let authorities: String?

    /// Posts an envelope.
    /// - Returns: nil where the task was cancelled meanwhile; the thread then ends by itself.
    func post(_ envelope: [UInt8], version: String) async -> Result<SentrySchedule.Answer, Failure>? {
        let answer = Mailbox<Result<SentrySchedule.Answer, Failure>>()
        DispatchQueue(label: "sentry").async { @Sendable [self] in answer.put(send(envelope, version: version)) }
        return await answer.take()
    }

    private func send(_ envelope: [UInt8], version: String) -> Result<SentrySchedule.Answer, Failure> {
        let lines = [
            "Content-Type: application/x-sentry-envelope", "User-Agent: \(SentryEvent.client(version))", "Expect:",
            "X-Sentry-Auth: Sentry sentry_version=7, sentry_client=\(SentryEvent.client(version)), sentry_key=\(address.key.revealed)",
        ]
        var response = ccurl_response()
        let texts = lines.map { strdup($0) }
        defer { texts.forEach { free($0) } }
        let result = texts.map { UnsafePointer($0) }.withUnsafeBufferPointer { headers in
            ccurl_post(
                address.envelopes, headers.baseAddress, Int32(headers.count), envelope, envelope.count, authorities, Self.patience,
                &response)
        }
        func text<Buffer>(_ buffer: Buffer) -> String? {
            let text = withUnsafeBytes(of: buffer) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            return text.isEmpty ? nil : text
        }
        switch result {
        case 0:
            return .success(
                .status(response.status, retryAfter: text(response.retry_after), limits: text(response.rate_limits)))
        case 2: return .failure(.noLibrary)
        default: return .failure(.unreachable(text(response.error) ?? "-"))
        }
    }
}
