/// What happens on one connection to an accessory, as a value: bytes, requests and passed deadlines in, actions out.
///
/// Answers carry no number, so the only thing that ties one to its request is the order. Hence one request at a time; and after a passed
/// deadline, a cancelled request or a byte out of step the conversation ends, since a late answer would pass for the next one's.
struct Conversation {
    typealias ID = UInt64

    enum Work {
        case request(HTTPRequest, HAPStep)
        case verify(PairVerify)
    }

    enum Action {
        case write([UInt8])
        case startDeadline(ID, HAPStep)
        case stopDeadline(ID)
        /// The work is done; for a verification the message is pair-verify's last.
        case finish(ID, Result<HTTPMessage, HAPError>)
        case event(HTTPMessage)
        /// Close the connection; the last action there is.
        case close(HAPError)
    }

    private enum State {
        case idle
        case awaiting(ID, Work)
        case ended(HAPError)
    }

    private let host: String
    private var state = State.idle
    private var waiting: [(id: ID, work: Work)] = []
    private var parser = HTTPParser()
    private var encryption: (sealer: FrameSealer, opener: FrameOpener)?

    /// - Parameter host: The accessory's numeric address, for the `Host` header.
    init(host: String) { self.host = host }

    /// Why the conversation is over, nil while it is not.
    var end: HAPError? {
        guard case .ended(let error) = state else { return nil }
        return error
    }

    /// Takes on work, which waits until everything before it is done.
    mutating func submit(_ work: Work, id: ID) -> [Action] {
        switch state {
        case .ended(let error): return [.finish(id, .failure(error))]
        case .idle: return begin(work, id: id)
        case .awaiting:
            waiting.append((id, work))
            return []
        }
    }

    /// Nobody waits for this work any more.
    mutating func cancelled(_ id: ID) -> [Action] {
        if let index = waiting.firstIndex(where: { $0.id == id }) {
            waiting.remove(at: index)
            return [.finish(id, .failure(.cancelled))]
        }
        guard case .awaiting(id, _) = state else { return [] }
        return end(.closed(errno: nil), current: .cancelled)
    }

    mutating func deadlinePassed(_ id: ID) -> [Action] {
        guard case .awaiting(id, let work) = state else { return [] }
        return end(.timedOut(work.step))
    }

    /// The connection has ended: by the accessory (0), or by a fault.
    mutating func connectionEnded(errno: Int32) -> [Action] { end(.closed(errno: errno)) }

    /// This side ends the conversation.
    mutating func close() -> [Action] { end(.closed(errno: nil)) }

    mutating func received(_ bytes: [UInt8]) -> [Action] {
        if case .ended = state { return [] }
        var actions: [Action] = []
        do throws(HAPError) {
            try feed(bytes)
            while case .some(let message) = try nextMessage() {
                switch message.kind {
                case .event: actions.append(.event(message))
                case .response: actions += try answered(by: message)
                }
            }
        } catch {
            actions += end(error)
        }
        return actions
    }

    private mutating func begin(_ work: Work, id: ID) -> [Action] {
        var work = work
        let step = work.step
        let request: HTTPRequest
        switch work {
        case .request(let wanted, _): request = wanted
        case .verify(var verify):
            request = .post("/pair-verify", pairing: verify.start())
            work = .verify(verify)
        }
        state = .awaiting(id, work)
        return [.startDeadline(id, step), write(request)]
    }

    private mutating func write(_ request: HTTPRequest) -> Action {
        let bytes = request.encoded(host: host)
        return .write(encryption?.sealer.seal(bytes) ?? bytes)
    }

    private mutating func feed(_ bytes: [UInt8]) throws(HAPError) {
        guard encryption != nil else { return parser.append(bytes) }
        do throws(FrameFault) {
            if let plaintext = try encryption?.opener.open(bytes) { parser.append(plaintext) }
        } catch {
            switch error {
            case .notAuthentic: throw .notAuthentic(step)
            case .tooLong(let length): throw .malformed(step, reason: "encrypted frame of \(length) bytes")
            }
        }
    }

    private mutating func nextMessage() throws(HAPError) -> HTTPMessage? {
        do { return try parser.next() } catch { throw .malformed(step, reason: "HTTP: \(error)") }
    }

    private mutating func answered(by message: HTTPMessage) throws(HAPError) -> [Action] {
        guard case .awaiting(let id, let work) = state else { throw .malformed(.event, reason: "an answer to no request") }
        guard case .verify(var verify) = work else { return finish(id, message) }
        guard (200...299).contains(message.status) || message.isPairingRefusal else {
            throw .httpStatus(work.step, code: message.status, status: nil)
        }

        var actions: [Action] = []
        for action in try verify.received(message.body) {
            switch action {
            case .send(let body):
                state = .awaiting(id, .verify(verify))
                actions.append(write(.post("/pair-verify", pairing: body)))
            case .encrypt(let keys):
                encryption = (FrameSealer(key: keys.outgoing), FrameOpener(key: keys.incoming))
                // Whatever followed in the same read is already encrypted.
                try feed(parser.takeUnparsed())
            case .verified:
                actions += finish(id, message)
            }
        }
        return actions
    }

    private mutating func finish(_ id: ID, _ message: HTTPMessage) -> [Action] {
        state = .idle
        var actions: [Action] = [.stopDeadline(id), .finish(id, .success(message))]
        if !waiting.isEmpty {
            let next = waiting.removeFirst()
            actions += begin(next.work, id: next.id)
        }
        return actions
    }

    /// Ends everything: the current work with `current` where it has a reason of its own, all else with `error`.
    private mutating func end(_ error: HAPError, current: HAPError? = nil) -> [Action] {
        if case .ended = state { return [] }
        var actions: [Action] = []
        if case .awaiting(let id, _) = state { actions += [.stopDeadline(id), .finish(id, .failure(current ?? error))] }
        actions += waiting.map { .finish($0.id, .failure(error)) }
        waiting = []
        state = .ended(error)
        return actions + [.close(error)]
    }

    private var step: HAPStep {
        guard case .awaiting(_, let work) = state else { return .event }
        return work.step
    }
}

extension Conversation.Work {
    var step: HAPStep {
        switch self {
        case .request(_, let step): step
        case .verify(let verify): verify.step
        }
    }
}
