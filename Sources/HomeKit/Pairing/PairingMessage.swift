/// The error codes of HAP's pairing messages.
enum PairingErrorCode: UInt8 {
    case unknown = 1
    case authentication = 2
    case backoff = 3
    case maximumPeers = 4
    case maximumTries = 5
    case unavailable = 6
    case busy = 7
}

extension TLV8 {
    /// Decodes an accessory's pairing message and checks what all of them have in common.
    ///
    /// Errors arrive in otherwise successful HTTP answers. Some accessories leave the state out, so only a wrong one is a fault.
    ///
    /// - Parameter authentication: What error code 2 means at this step.
    init(message bytes: [UInt8], state: UInt8, step: HAPStep, authentication: HAPError) throws(HAPError) {
        do { self = try TLV8(decoding: bytes) } catch { throw .malformed(step, reason: "TLV8 is cut off") }
        if let code = self[.error] {
            guard let code = code.first else { throw .malformed(step, reason: "empty error code") }
            switch PairingErrorCode(rawValue: code) {
            case .authentication: throw authentication
            case .backoff: throw .backoff(seconds: integer(.retryDelay))
            case .maximumPeers: throw .tooManyControllers
            case .maximumTries: throw .tooManyTries
            case .unavailable: throw .alreadyPaired
            case .busy: throw .busy
            case .unknown, nil: throw .refused(step, code: code)
            }
        }
        if let found = self[.state], found != [state] { throw .malformed(step, reason: "state \(found.prefix(4)) instead of \(state)") }
    }

    func required(_ kind: Kind, _ step: HAPStep) throws(HAPError) -> [UInt8] {
        guard let value = self[kind] else { throw .malformed(step, reason: "no \(kind)") }
        return value
    }
}

extension String {
    /// An identifier from the other side in a form fit for messages: printable, at most 64 characters.
    init(identifier bytes: [UInt8]) {
        let printable = String(decoding: bytes.prefix(256), as: UTF8.self).unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
            default: true
            }
        }
        self = String(String(String.UnicodeScalarView(printable)).prefix(64))
    }
}
