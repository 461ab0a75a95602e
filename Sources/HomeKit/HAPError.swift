/// What a controller was doing with an accessory when something happened.
public enum HAPStep: String, Sendable, Equatable, CaseIterable {
    case connect
    case pairSetupStart = "pair-setup M1/M2"
    case pairSetupProof = "pair-setup M3/M4"
    case pairSetupExchange = "pair-setup M5/M6"
    case pairVerifyStart = "pair-verify M1/M2"
    case pairVerifyFinish = "pair-verify M3/M4"
    case listPairings = "list pairings"
    case addPairing = "add pairing"
    case removePairing = "remove pairing"
    case identify
    case accessories = "GET /accessories"
    case read = "GET /characteristics"
    case prepare = "PUT /prepare"
    case write = "PUT /characteristics"
    case subscribe = "subscribe"
    case event = "EVENT"
}

/// Why something with an accessory did not happen; carries facts, no wording and no secret.
public enum HAPError: Error, Equatable, Sendable {
    /// The host name has no address; `code` is `getaddrinfo`'s (`EAI_…`).
    case unresolvable(host: String, code: Int32)
    /// No TCP connection; `errno` of the last address tried.
    case connectFailed(host: String, port: UInt16, errno: Int32)
    /// Nothing came within the step's deadline. The session is closed: a late answer must not pass for the next one's.
    case timedOut(HAPStep)
    /// The accessory does not know the setup code that was given.
    case wrongSetupCode
    /// The accessory is paired with another controller and takes no second pair-setup.
    case alreadyPaired
    /// The accessory is pairing with another controller, or locked for a while after failed tries.
    case busy
    /// The accessory has seen 100 wrong codes and must be reset.
    case tooManyTries
    /// The accessory wants to be left alone first, for `seconds` where it said so.
    case backoff(seconds: UInt64?)
    /// The accessory has no room for another controller.
    case tooManyControllers
    /// The accessory refused with an error code of HAP's pairing protocol that has no case of its own.
    case refused(HAPStep, code: UInt8)
    /// What listens there does not speak HAP.
    case notHAP(host: String, port: UInt16)
    /// Another accessory answered at this address; nothing was sent to it that only the right one may see.
    case wrongAccessory(expected: String, found: String)
    /// The accessory no longer knows this controller, most likely after a reset. Only the user can decide to forget the pairing.
    case pairingLost
    /// A proof, signature or encrypted message of the accessory was not genuine.
    case notAuthentic(HAPStep)
    /// The accessory sent what the protocol does not allow.
    case malformed(HAPStep, reason: String)
    /// An HTTP status that is no success, with the HAP status from its body where there was one. 470 and 401 mean that the session is not
    /// verified, 503 that all its sessions are taken.
    case httpStatus(HAPStep, code: Int, status: HAPStatus?)
    /// The session has ended: by this side where `errno` is nil, by the accessory where it is 0, else by that fault of the connection.
    case closed(errno: Int32?)
    /// The calling task was cancelled. A request already sent takes the session down with it.
    case cancelled
}

/// A HAP status code as accessories give it for each characteristic; 0 is success.
public struct HAPStatus: Hashable, Sendable, CustomStringConvertible {
    /// Zero or negative, whatever sign the accessory gave it.
    public let code: Int64

    public init(code: Int64) { self.code = code == .min ? code : -abs(code) }

    public static let success = HAPStatus(code: 0)
    public static let insufficientPrivileges = HAPStatus(code: -70401)
    public static let cannotCommunicate = HAPStatus(code: -70402)
    public static let busy = HAPStatus(code: -70403)
    public static let readOnly = HAPStatus(code: -70404)
    public static let writeOnly = HAPStatus(code: -70405)
    public static let notificationNotSupported = HAPStatus(code: -70406)
    public static let outOfResources = HAPStatus(code: -70407)
    public static let timedOut = HAPStatus(code: -70408)
    public static let noSuchResource = HAPStatus(code: -70409)
    public static let invalidValue = HAPStatus(code: -70410)
    public static let insufficientAuthorization = HAPStatus(code: -70411)
    public static let notAllowedInCurrentState = HAPStatus(code: -70412)
    /// The accessory's answer did not mention the characteristic, or mentioned it without a readable value or status; not a code of HAP.
    public static let notReported = HAPStatus(code: -1)

    public var description: String { String(code) }
}
