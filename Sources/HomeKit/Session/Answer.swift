extension HTTPMessage {
    /// The body of an answer that can be worked with.
    ///
    /// A 400 or 422 can be one too: some accessories say in it what became of each characteristic, or of all of them.
    func usableBody(_ step: HAPStep) throws(HAPError) -> [UInt8] {
        if (200...299).contains(status) || step.isOfPairings && isPairingRefusal { return body }
        let json = try? JSON(parsing: body)
        let hapStatus = json?["status"]?.int64.map(HAPStatus.init(code:))
        switch (status, step) {
        case (400, .read), (400, .write), (400, .subscribe), (422, .read), (422, .write), (422, .subscribe):
            if json?["characteristics"]?.array?.isEmpty == false || hapStatus != nil { return body }
        default: break
        }
        throw .httpStatus(step, code: status, status: hapStatus)
    }

    /// Whether the body is a pairing message that says why: some accessories give it with a status that is no success.
    var isPairingRefusal: Bool { (try? TLV8(decoding: body))?[.error]?.count == 1 }
}

extension HAPStep {
    fileprivate var isOfPairings: Bool {
        switch self {
        case .listPairings, .addPairing, .removePairing: true
        default: false
        }
    }
}

extension HAPError {
    /// Whether a session cannot go on after this: it is not verified (470, 401), has no place (503), or what it sends is not to be trusted.
    var endsSession: Bool {
        switch self {
        case .httpStatus(_, let code, _): [401, 470, 503].contains(code)
        case .malformed: true
        default: false
        }
    }
}
