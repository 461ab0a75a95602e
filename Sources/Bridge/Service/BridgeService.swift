import BrokerLink
import Contract
import CrashCapture
import Diagnostics
import HomeKit
import MQTT
import Reactor
public import ServiceKit
import Settings

/// The bridge at work: MQTT on one side, lamps on the other, ``BridgeCore`` and a ``LampQueue`` for each lamp in between.
///
/// All decisions are made in this actor, one at a time and without waiting, so that nothing is overtaken. It shares the event loop with the
/// lamps' connections and with the tasks between them: from a message to the lamp's socket no thread hands over to another.
public actor BridgeService: Service {
    private struct Lamp {
        var queue: LampQueue
        /// Nil while there is no session.
        var requests: Mailbox<LampQueue.Request>?
        var alarm = Alarm()
        var isUp = false
        /// The last that was logged.
        var trouble: LampTrouble?
        var awaited = AwaitedCommands()
    }

    private var core: BridgeCore
    private var lamps: [Identifier: Lamp]
    private var alarm = Alarm()
    private var brokerLog: BrokerLog
    private let client: MQTTClient
    private let monitor: BridgeMonitor
    private let crashes: CrashDelivery?
    private var namesakes: NamesakeWatch
    private var failure: NamesakeFailure?
    private let keepers: [AccessoryKeeper]
    private let discovery: HAPDiscovery?
    private let logger: Logger
    private let topics: Topics

    public nonisolated var unownedExecutor: UnownedSerialExecutor { EventLoop.shared.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - client: the connection to the broker, which somebody else keeps running; its events are read here.
    ///   - plan: which lamps to keep connected.
    ///   - discovery: Finds lamps on the network; nil for those alone that are where they were.
    init(
        _ layout: BridgeCore.Layout, _ plan: BridgePlan, client: MQTTClient, shelf: PairingShelf, discovery: HAPDiscovery?,
        monitor: BridgeMonitor, crashes: CrashDelivery? = nil, logger: Logger
    ) throws {
        core = BridgeCore(layout, at: .now)
        topics = layout.topics
        lamps = Dictionary(
            uniqueKeysWithValues: plan.lamps.map { lamp in
                var policy = LampQueue.Policy()
                policy.minimumInterval = lamp.minimumInterval
                policy.splitsWrites = lamp.splitsWrites
                return (lamp.id, Lamp(queue: LampQueue(policy: policy)))
            })
        // The lamps of a gateway share its pairing, and so a session.
        keepers = Dictionary(grouping: plan.lamps, by: \.pairing).map { pairing, lamps in
            AccessoryKeeper(
                pairing: pairing, members: lamps.map { .init(lamp: $0.id, choice: BulbChoice($0.bulb), metrics: monitor.lamp($0.id)) },
                address: lamps.lazy.compactMap(\.host).first.map { HAPAddress(host: $0.host, port: $0.port) }, shelf: shelf,
                discovery: discovery)
        }
        self.discovery = discovery
        self.client = client
        self.monitor = monitor
        self.crashes = crashes
        self.logger = logger
        brokerLog = BrokerLog(logger: logger)
        client.subscribe(layout.commands.compactMap { try? MQTTSubscription(TopicFilter($0), keepsRetained: true) })
        namesakes = NamesakeWatch(
            topic: try TopicName(topics.bridge(layout.bridge, .instance)), availability: try TopicName(layout.availabilityTopic))
        client.subscribe(namesakes.subscriptions)
        client.subscribe(layout.subscriptions.compactMap { try? MQTTSubscription(TopicFilter($0)) })
    }

    /// Runs until the service is asked to end; then says that nobody watches the lamps any more.
    public func run() async throws {
        let loop = EventLoop.shared
        await withTaskGroup { group in
            group.addTask(executorPreference: loop) { [client] in
                for await event in client.events { await self.received(event) }
            }
            if let discovery { group.addTask(executorPreference: loop) { await discovery.run() } }
            for keeper in keepers { group.addTask(executorPreference: loop) { await keeper.run(for: self) } }
            await waitForShutdown()
            if failure == nil { handle(.stopping) }
            group.cancelAll()
        }
        alarm.cancel()
        for id in lamps.keys { lamps[id]?.alarm.cancel() }
        if let failure { throw failure }
    }

    // MARK: The core

    private func handle(_ input: BridgeCore.Input) {
        perform(core.handle(input, at: .now))
        alarm.set(core.deadline) { [weak self] in self?.assumeIsolated { $0.rang() } }
    }

    private func rang() {
        alarm.rang()
        handle(.wake)
    }

    private func perform(_ actions: [BridgeCore.Action]) {
        for action in actions {
            switch action {
            case .publish(let message): publish(message)
            case .respond(let message): respond(message)
            case .refresh(let lamp): handle(.missedReports, of: lamp)
            case .command(let command, let lamp, let origin, let expires):
                handle(.command(command, origin: origin, expires: expires), of: lamp)
            case .rejected(let reason, let topic, let detail, let isFirst):
                monitor.rejected(reason)
                logger.rejected(reason, topic, detail, isFirst)
            }
        }
    }

    // MARK: The lamps

    private func handle(_ input: LampQueue.Input, of id: Identifier) {
        let now = ContinuousClock.now
        if case .command(let command, _, _) = input { lamps[id]?.awaited.accepted(command, at: now) }
        guard let actions = lamps[id]?.queue.handle(input, at: now) else { return }
        for action in actions {
            switch action {
            case .send(let request): lamps[id]?.requests?.put(request)
            case .state(let values):
                if lamps[id]?.isUp == false {
                    leaveBreadcrumb("lamp reachable")
                    logger.up(id, values)
                }
                lamps[id]?.isUp = true
                monitor.lamp(id)?.isAvailable.set(true)
                lamps[id]?.trouble = nil
                handle(.lamp(id, .state(values)))
            case .done(let command, let origin, let values):
                let duration = lamps[id]?.awaited.done(command, at: now)
                monitor.done(after: duration)
                logger.done(command, origin, id, values, after: duration)
                if case .request(let number) = origin { handle(.lamp(id, .answered(request: number, error: nil))) }
                if command == .toggle, case .camera(let camera) = origin {
                    handle(.lamp(id, .toggled(on: values.on, camera: camera)))
                }
            case .dropped(let command, let origin, let reason):
                lamps[id]?.awaited.dropped(command)
                monitor.rejected(reason.rejection)
                logger.dropped(command, origin, id, reason)
                handle(.lamp(id, .dropped(command, reason.rejection)))
                if case .request(let number) = origin { handle(.lamp(id, .answered(request: number, error: reason.text))) }
            }
        }
        let deadline = lamps[id]?.queue.deadline
        lamps[id]?.alarm.set(deadline) { [weak self] in self?.assumeIsolated { $0.rang(id) } }
    }

    private func rang(_ id: Identifier) {
        lamps[id]?.alarm.rang()
        handle(.wake, of: id)
    }

    // MARK: The broker

    private func received(_ event: MQTTEvent) {
        brokerLog.happened(event)
        monitor.happened(event)
        switch event {
        case .connected:
            try? client.send(namesakes.message)
            handle(.connected)
            crashes?.connected()
        case .disconnected(let disconnection):
            namesakes.disconnected(disconnection.reason)
            handle(.disconnected)
        case .message(let message) where namesakes.isConcerned(with: message.topic): meet(message)
        case .message(let message):
            if case .request(let request) = topics.address(of: message.topic.string) {
                let request = RequestMessage(
                    request, payload: message.payload, responseTopic: message.properties.responseTopic?.string,
                    correlation: message.properties.correlationData)
                handle(.request(request, retained: message.retain))
            } else {
                handle(.message(topic: message.topic.string, payload: message.payload, retained: message.retain))
            }
        case .dropped(let count): handle(.overrun(count: count))
        case .subscribed, .subscriptionRefused, .undelivered: break
        }
    }

    private func meet(_ message: MQTTMessage) {
        switch namesakes.received(message, isOnline: true) {
        case .answer(let answer): try? client.send(answer)
        case .leave(let failure):
            self.failure = failure
            client.dropFarewell()
            Shutdown.current?.request()
        case .sayAgain: handle(.connected)
        case nil: break
        }
    }

    private func respond(_ message: ResponseMessage) {
        do {
            let properties = MQTTProperties(contentType: "application/json", correlationData: message.correlation)
            try client.send(
                MQTTMessage(topic: TopicName(message.topic), payload: message.payload, qos: .atLeastOnce, properties: properties))
        } catch {
            logger.warning("a request was not answered", ["topic": message.topic, "reason": "\(error)"])
        }
    }

    private func publish(_ message: Publications.Message) {
        guard let topic = try? TopicName(message.topic) else { return }
        do throws(MQTTPublishError) {
            try client.send(MQTTMessage(topic: topic, payload: message.payload, qos: .atLeastOnce, retain: true))
        } catch .offline {
            // Everything is published anew on the next connect.
        } catch {
            handle(.unsent(topic: message.topic))
        }
    }
}

extension BridgeService: AccessoryKeeper.Owner {
    func connected(_ lamp: Identifier, requests: Mailbox<LampQueue.Request>) {
        lamps[lamp]?.requests = requests
        handle(.connected, of: lamp)
    }

    func received(_ input: LampQueue.Input, from lamp: Identifier) { handle(input, of: lamp) }

    func disconnected(_ lamp: Identifier, _ trouble: LampTrouble) {
        lamps[lamp]?.requests = nil
        handle(.disconnected, of: lamp)
        handle(.lamp(lamp, .trouble(trouble.status)))
        if lamps[lamp]?.isUp == true { leaveBreadcrumb("lamp lost") }
        if lamps[lamp]?.trouble != trouble { logger.down(lamp, trouble, wasUp: lamps[lamp]?.isUp == true) }
        lamps[lamp]?.isUp = false
        monitor.lamp(lamp)?.isAvailable.set(false)
        lamps[lamp]?.trouble = trouble
    }
}

extension Moment {
    static var now: Moment {
        Moment(instant: .now, utc: Timestamp(millisecondsSinceEpoch: WallTime.now().millisecondsSinceEpoch))
    }
}
