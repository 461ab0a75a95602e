public import MQTT
public import ServiceKit

/// How the connection to the broker fares, in numbers.
public struct BrokerMetrics: Sendable {
    private let isConnected: Metrics.Gauge
    private let connections: Metrics.Counter
    private let failures: Metrics.Counter
    private let undelivered: Metrics.Counter
    private let overruns: Metrics.Counter

    public init(_ metrics: Metrics) {
        isConnected = metrics.gauge("handkit_mqtt_connected", "1 while there is a connection to the broker.")
        connections = metrics.counter("handkit_mqtt_connections_total", "Connections that the broker accepted.")
        failures = metrics.counter("handkit_mqtt_failures_total", "Connections that broke, and attempts that failed.")
        undelivered = metrics.counter("handkit_mqtt_undelivered_total", "Messages given to the broker's connection and lost with it.")
        overruns = metrics.counter("handkit_mqtt_overruns_total", "Messages dropped because too many arrived at once.")
    }

    public func happened(_ event: MQTTEvent) {
        switch event {
        case .connected:
            isConnected.set(true)
            connections.add()
        case .disconnected:
            isConnected.set(false)
            failures.add()
        case .undelivered: undelivered.add()
        case .dropped(let count): overruns.add(count)
        case .subscribed, .subscriptionRefused, .message: break
        }
    }
}
