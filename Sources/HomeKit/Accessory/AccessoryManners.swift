package import Cryptography

/// Settings in which accessories differ; the defaults are those of Apple's reference accessory, except where chance would play a part.
package struct AccessoryTraits: Sendable {
    /// How long changes are gathered before an event tells of them; accessories take up to a second.
    package var eventInterval = Duration.milliseconds(250)
    /// Connections at a time.
    package var connectionLimit = 17
    /// Whether a connection above the limit is answered with 503; otherwise it waits unaccepted.
    package var refusesBeyondLimit = false
    package var leadingZeros = SRPServer.LeadingZeros.either
    /// Another salt for pair-setup than 16 random bytes.
    package var salt: [UInt8]?
    /// How long a connection may be silent before it is closed.
    package var idleLimit: Duration?
    /// Whether a controller gets events of its own writes.
    package var echoesEvents = false
    /// Bytes of output that go in one piece, so that TCP carries them apart.
    package var segment: Int?
    /// Whether a request that arrives in more than one piece is refused.
    package var wantsWholeRequests = false
    /// Characteristics that one connection may subscribe to; more are accepted and never heard of.
    package var subscriptionLimit: Int?
    /// Percent between two levels of brightness.
    package var brightnessStep = 1

    package init() {}
}

/// The occasion of an answer or event.
package struct AccessoryOccasion: Sendable {
    /// Nil for an event.
    package var request: AccessoryRequest?
    package var connection: AccessoryServer.Connection
    package var isVerified: Bool
}

/// One step of sending.
package enum AccessoryDelivery: Equatable, Sendable {
    case send(AccessoryResponse)
    case pause(Duration)
    case close
}

/// How an accessory behaves where real ones differ: all that a ``AccessoryServer`` leaves open.
package protocol AccessoryManners: Sendable {
    var traits: AccessoryTraits { get }
    /// An answer in place of the accessory's own, which then never sees the request.
    mutating func answer(_ occasion: AccessoryOccasion) -> AccessoryResponse?
    /// What the bulb makes of a valid change.
    mutating func settle(_ change: BulbChange, _ state: BulbState) -> BulbOutcome
    /// How an answer or event goes out.
    mutating func deliver(_ response: AccessoryResponse, _ occasion: AccessoryOccasion) -> [AccessoryDelivery]
    /// A connection is over.
    mutating func closed(_ connection: AccessoryServer.Connection)
}

/// The manners of Apple's reference accessory.
package struct ReferenceManners: AccessoryManners {
    package var traits = AccessoryTraits()

    package init() {}

    package func answer(_ occasion: AccessoryOccasion) -> AccessoryResponse? { nil }
    package func settle(_ change: BulbChange, _ state: BulbState) -> BulbOutcome { BulbOutcome(change.applied(to: state)) }
    package func deliver(_ response: AccessoryResponse, _ occasion: AccessoryOccasion) -> [AccessoryDelivery] { [.send(response)] }
    package func closed(_ connection: AccessoryServer.Connection) {}
}
