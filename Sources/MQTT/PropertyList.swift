import CMosquitto
import Glibc

/// The owner of a list of MQTT 5 properties for libmosquitto.
struct PropertyList: ~Copyable {
    private(set) var first: OpaquePointer?

    /// - Returns: nil where a text or the correlation data is nothing MQTT can carry.
    init?(_ properties: MQTTProperties) {
        var results: [Int32] = []
        if let seconds = properties.expiryInterval {
            results.append(mosquitto_property_add_int32(&first, Int32(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL.rawValue), seconds))
        }
        if let type = properties.contentType {
            results.append(mosquitto_property_add_string(&first, Int32(MQTT_PROP_CONTENT_TYPE.rawValue), type))
        }
        for property in properties.userProperties {
            results.append(
                mosquitto_property_add_string_pair(&first, Int32(MQTT_PROP_USER_PROPERTY.rawValue), property.name, property.value))
        }
        if let topic = properties.responseTopic {
            results.append(mosquitto_property_add_string(&first, Int32(MQTT_PROP_RESPONSE_TOPIC.rawValue), topic.string))
        }
        if let data = properties.correlationData {
            guard let count = UInt16(exactly: data.count) else { return nil }
            results.append(mosquitto_property_add_binary(&first, Int32(MQTT_PROP_CORRELATION_DATA.rawValue), data, count))
        }
        guard results.allSatisfy({ $0 == 0 }) else { return nil }
    }

    deinit {
        var first = first
        mosquitto_property_free_all(&first)
    }

    /// Gives the list away.
    consuming func release() {
        first = nil
    }
}

extension MQTTProperties {
    /// Copies what libmosquitto received.
    init(_ list: OpaquePointer?) {
        self.init()
        guard let list else { return }
        var seconds: UInt32 = 0
        if mosquitto_property_read_int32(list, Int32(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL.rawValue), &seconds, false) != nil {
            expiryInterval = seconds
        }
        var text: UnsafeMutablePointer<CChar>?
        if mosquitto_property_read_string(list, Int32(MQTT_PROP_CONTENT_TYPE.rawValue), &text, false) != nil {
            contentType = text.map { String(cString: $0) }
            free(text)
        }
        if mosquitto_property_read_string(list, Int32(MQTT_PROP_RESPONSE_TOPIC.rawValue), &text, false) != nil {
            responseTopic = text.map { TopicName(delivered: String(cString: $0)) }
            free(text)
        }
        var data: UnsafeMutableRawPointer?
        var count: UInt16 = 0
        if mosquitto_property_read_binary(list, Int32(MQTT_PROP_CORRELATION_DATA.rawValue), &data, &count, false) != nil {
            correlationData = Array(UnsafeRawBufferPointer(start: data, count: Int(count)))
            free(data)
        }
        var name: UnsafeMutablePointer<CChar>?
        var value: UnsafeMutablePointer<CChar>?
        var next = mosquitto_property_read_string_pair(list, Int32(MQTT_PROP_USER_PROPERTY.rawValue), &name, &value, false)
        while let found = next {
            if let name, let value {
                userProperties.append(UserProperty(name: String(cString: name), value: String(cString: value)))
            }
            free(name)
            free(value)
            (name, value) = (nil, nil)
            next = mosquitto_property_read_string_pair(found, Int32(MQTT_PROP_USER_PROPERTY.rawValue), &name, &value, true)
        }
    }
}
