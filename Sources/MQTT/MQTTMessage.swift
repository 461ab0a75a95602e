/// How hard MQTT tries to deliver a message.
public enum QualityOfService: Int32, Hashable, Sendable {
    /// Sent once; lost with the connection.
    case atMostOnce = 0
    /// Sent until acknowledged, so that it may arrive twice.
    case atLeastOnce = 1
}

/// A message, to be published or received.
public struct MQTTMessage: Hashable, Sendable {
    public var topic: TopicName
    public var payload: [UInt8]
    public var qos: QualityOfService
    /// Published: the broker keeps it for later subscribers. Received: it is such a kept message, not a fresh one; or a fresh one that was
    /// published so, see ``MQTTSubscription/keepsRetained``.
    public var retain: Bool
    /// Dropped without notice where the broker speaks MQTT 3.1.1.
    public var properties: MQTTProperties

    public init(
        topic: TopicName, payload: [UInt8], qos: QualityOfService = .atMostOnce, retain: Bool = false,
        properties: MQTTProperties = MQTTProperties()
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.retain = retain
        self.properties = properties
    }

    public init(
        topic: TopicName, text: String, qos: QualityOfService = .atMostOnce, retain: Bool = false,
        properties: MQTTProperties = MQTTProperties()
    ) {
        self.init(topic: topic, payload: Array(text.utf8), qos: qos, retain: retain, properties: properties)
    }
}

/// What MQTT 5 can say about a message beside its payload.
public struct MQTTProperties: Hashable, Sendable {
    /// Seconds for which the message is worth delivering; a received message carries what is left of them.
    public var expiryInterval: UInt32?
    /// A MIME type such as `application/json`.
    public var contentType: String?
    public var userProperties: [UserProperty]
    /// Where the sender of a request waits for the response.
    public var responseTopic: TopicName?
    /// What the response repeats so that it finds its request; at most 65535 bytes.
    public var correlationData: [UInt8]?

    public struct UserProperty: Hashable, Sendable {
        public var name: String
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    public init(
        expiryInterval: UInt32? = nil, contentType: String? = nil, userProperties: [UserProperty] = [],
        responseTopic: TopicName? = nil, correlationData: [UInt8]? = nil
    ) {
        self.expiryInterval = expiryInterval
        self.contentType = contentType
        self.userProperties = userProperties
        self.responseTopic = responseTopic
        self.correlationData = correlationData
    }

    /// The user property of that name that came first.
    public subscript(name: String) -> String? {
        userProperties.first { $0.name == name }?.value
    }
}

/// A wish to receive messages.
public struct MQTTSubscription: Hashable, Sendable {
    public var filter: TopicFilter
    /// The highest quality with which the broker delivers.
    public var qos: QualityOfService
    /// Fresh messages keep the retained flag that they were published with, so that who must not act on a retained one sees it at once and
    /// not only after the next connect. MQTT 5 alone can do so; elsewhere it is as if this were not set.
    public var keepsRetained: Bool

    public init(_ filter: TopicFilter, qos: QualityOfService = .atLeastOnce, keepsRetained: Bool = false) {
        self.filter = filter
        self.qos = qos
        self.keepsRetained = keepsRetained
    }
}
