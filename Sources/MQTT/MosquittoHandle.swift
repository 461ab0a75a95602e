import CMosquitto
import Glibc

/// One attempt at a connection: the owner of one libmosquitto handle.
///
/// Made, used and released on the network thread only. The callbacks, which libmosquitto runs inside the calls made here, translate and
/// note down; whoever called asks for the notes afterwards, when the handle may be used, or released, again.
final class MosquittoHandle {
    /// What libmosquitto told.
    enum Note {
        case accepted(MQTTConnection)
        case ended(MQTTDisconnectReason)
        case published(PublicationID, MQTTPublishError?)
        case subscribed([(filter: TopicFilter, code: MQTTReasonCode)])
        case received(MQTTMessage)
    }

    let version: MQTTVersion
    private let configuration: MQTTConfiguration
    private let address: MQTTAddress
    private let handle: OpaquePointer
    private var notes: [Note] = []
    private var hasEnded = false
    private var publications: [Int32: PublicationID] = [:]
    /// Outcomes told before the call that publishes has returned the message's number.
    private var earlyOutcomes: [Int32: MQTTPublishError?] = [:]
    private var subscriptions: [Int32: [TopicFilter]] = [:]
    /// What libmosquitto said of the failure of this attempt, which its numbers leave out.
    private var errors: [String] = []

    private static let library: Void = { mosquitto_lib_init() }()

    /// Prepares a connection, without talking to anyone.
    /// - Throws: what makes an attempt useless: unreadable TLS files, or texts that MQTT cannot carry.
    init(_ configuration: MQTTConfiguration, to address: MQTTAddress, version: MQTTVersion) throws(MQTTDisconnectReason) {
        _ = Self.library
        let id = configuration.clientID.isEmpty ? nil : configuration.clientID
        guard let handle = mosquitto_new(id, true, nil) else { throw .protocolFault(code: MOSQ_ERR_INVAL.code) }
        self.handle = handle
        self.configuration = configuration
        self.address = address
        self.version = version
        mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_connect_v5_callback_set(handle, onConnect)
        mosquitto_disconnect_v5_callback_set(handle, onDisconnect)
        mosquitto_publish_v5_callback_set(handle, onPublish)
        mosquitto_subscribe_v5_callback_set(handle, onSubscribe)
        mosquitto_message_v5_callback_set(handle, onMessage)
        mosquitto_log_callback_set(handle, onLog)
        try configure()
    }

    deinit {
        mosquitto_destroy(handle)
    }

    /// The socket, or nil where there is none (any more).
    var socket: Int32? {
        let socket = mosquitto_socket(handle)
        return socket < 0 ? nil : socket
    }

    /// Something waits to be written.
    var wantsToWrite: Bool { mosquitto_want_write(handle) }

    /// The notes taken since the last call.
    func takeNotes() -> [Note] {
        defer { notes = [] }
        return notes
    }

    /// Resolves the host, connects TCP and sends CONNECT; blocks as long as the system takes for the first two.
    func connect() {
        // A machine that swallows packets would hold libmosquitto up for minutes, in which another node could serve.
        if !configuration.alternatives.isEmpty, let code = whyUnreachable(address, within: configuration.reachDeadline) {
            return note(.ended(.unreachable(host: address.host, port: address.port, code: code)))
        }
        let result = mosquitto_connect(handle, address.host, Int32(address.port), Int32(max(configuration.keepAlive, leastKeepAlive)))
        if result != MOSQ_ERR_SUCCESS.code { note(.ended(connectFailure(result, code: errno))) }
    }

    /// Reads, writes and pings what is due, without waiting.
    func turn() {
        acknowledgeAtOnce()
        // libmosquitto's own loop waits in `select`, which knows no descriptor from 1024 on: a bridge of a thousand lamps has such.
        let result = (socket ?? 0) < Int32(FD_SETSIZE) ? mosquitto_loop(handle, 0, 1) : turnWithoutSelect()
        // Not every failure of libmosquitto comes with a callback; one too many does no harm.
        if result != MOSQ_ERR_SUCCESS.code { note(.ended(loss(result, code: errno))) }
    }

    /// Lets the system acknowledge what comes without the usual delay of up to 40 ms, for which a broker that gathers small messages
    /// (Nagle's algorithm, as in Mosquitto unless `set_tcp_nodelay` is on) holds the next one back. The system forgets it after a while.
    private func acknowledgeAtOnce() {
        guard let socket else { return }
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_QUICKACK, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    private func turnWithoutSelect() -> Int32 {
        var result = MOSQ_ERR_SUCCESS.code
        // Under TLS more may have been read from the socket than one call works off.
        repeat {
            let noted = notes.count
            result = mosquitto_loop_read(handle, 1)
            if notes.count == noted { break }
        } while result == MOSQ_ERR_SUCCESS.code && socket != nil
        if result == MOSQ_ERR_SUCCESS.code, wantsToWrite { result = mosquitto_loop_write(handle, 1) }
        return result == MOSQ_ERR_SUCCESS.code ? mosquitto_loop_misc(handle) : result
    }

    func disconnect() {
        let result = mosquitto_disconnect_v5(handle, 0, nil)
        if result != MOSQ_ERR_SUCCESS.code { note(.ended(loss(result, code: errno))) }
    }

    func subscribe(_ wishes: [MQTTSubscription]) {
        // One SUBSCRIBE carries one quality of service and one set of options here.
        for wishes in Dictionary(grouping: wishes, by: { [$0.qos == .atLeastOnce, $0.keepsRetained] }).values {
            let qos = wishes[0].qos
            let options = version == .v5 && wishes[0].keepsRetained ? Int32(MQTT_SUB_OPT_RETAIN_AS_PUBLISHED.rawValue) : 0
            let filters = wishes.map(\.filter)
            var texts: [UnsafeMutablePointer<CChar>?] = filters.map { strdup($0.string) }
            defer { texts.forEach { free($0) } }
            var id: Int32 = 0
            let result = mosquitto_subscribe_multiple(handle, &id, Int32(texts.count), &texts, qos.rawValue, options, nil)
            if result == MOSQ_ERR_SUCCESS.code {
                subscriptions[id] = filters
            } else {
                note(.ended(loss(result, code: errno)))
            }
        }
    }

    func publish(_ id: PublicationID, _ message: MQTTMessage) {
        guard socket != nil else { return note(.published(id, .connectionLost)) }
        let properties = PropertyList(version == .v5 ? message.properties : MQTTProperties())
        guard let properties else { return note(.published(id, .invalid(code: MOSQ_ERR_MALFORMED_UTF8.code))) }
        var number: Int32 = 0
        let result = mosquitto_publish_v5(
            handle, &number, message.topic.string, Int32(clamping: message.payload.count), message.payload, message.qos.rawValue,
            message.retain, properties.first)
        switch result {
        case MOSQ_ERR_SUCCESS.code:
            if let failure = earlyOutcomes.removeValue(forKey: number) {
                note(.published(id, failure))
            } else {
                publications[number] = id
            }
        case MOSQ_ERR_NO_CONN.code, MOSQ_ERR_CONN_LOST.code, MOSQ_ERR_ERRNO.code:
            note(.published(id, .connectionLost))
        default:
            note(.published(id, .invalid(code: result)))
        }
    }

    private func note(_ note: Note) {
        // libmosquitto tells some ends twice, the second time with less knowledge.
        if hasEnded { return }
        if case .ended = note { hasEnded = true }
        notes.append(note)
    }
}

extension MosquittoHandle {
    private func configure() throws(MQTTDisconnectReason) {
        let number: Int32 = version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
        try require(mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, number))
        // Small messages, seldom: each goes out at once.
        try require(mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1))
        if let credentials = configuration.credentials {
            try require(mosquitto_username_pw_set(handle, credentials.username, credentials.password))
        }
        if let tls = configuration.tls {
            let result =
                if let file = tls.authorityFile {
                    mosquitto_tls_set(handle, file, nil, tls.identity?.certificateFile, tls.identity?.keyFile, nil)
                } else {
                    mosquitto_tls_set(handle, nil, "/etc/ssl/certs", tls.identity?.certificateFile, tls.identity?.keyFile, nil)
                }
            if result != MOSQ_ERR_SUCCESS.code {
                let files = [tls.authorityFile, tls.identity?.certificateFile, tls.identity?.keyFile].compactMap(\.self)
                throw .tls(detail: "unreadable: " + files.filter { access($0, R_OK) != 0 }.joined(separator: ", "))
            }
        }
        if let will = configuration.will {
            guard let properties = PropertyList(version == .v5 ? will.properties : MQTTProperties()) else {
                throw .protocolFault(code: MOSQ_ERR_MALFORMED_UTF8.code)
            }
            try require(
                mosquitto_will_set_v5(
                    handle, will.topic.string, Int32(clamping: will.payload.count), will.payload, will.qos.rawValue, will.retain,
                    properties.first))
            // libmosquitto takes the list over where it accepts it.
            properties.release()
        }
    }

    private func require(_ result: Int32) throws(MQTTDisconnectReason) {
        if result != MOSQ_ERR_SUCCESS.code { throw .protocolFault(code: result) }
    }

    private func connectFailure(_ result: Int32, code: Int32) -> MQTTDisconnectReason {
        switch result {
        case MOSQ_ERR_EAI.code, MOSQ_ERR_LOOKUP.code: .hostNotFound(host: address.host)
        case MOSQ_ERR_ERRNO.code: .unreachable(host: address.host, port: address.port, code: code)
        default: loss(result, code: code)
        }
    }

    private func loss(_ result: Int32, code: Int32) -> MQTTDisconnectReason {
        switch result {
        case MOSQ_ERR_CONN_LOST.code, MOSQ_ERR_NO_CONN.code: .lost(code: 0)
        case MOSQ_ERR_ERRNO.code: .lost(code: code)
        case MOSQ_ERR_KEEPALIVE.code: .keepAliveExpired
        case MOSQ_ERR_TLS.code, MOSQ_ERR_TLS_HANDSHAKE.code:
            .tls(detail: errors.isEmpty ? "handshake failed" : errors.joined(separator: "; "))
        default: .protocolFault(code: result)
        }
    }

    private func peerAddress() -> String {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        var service = [CChar](repeating: 0, count: Int(NI_MAXSERV))
        let found = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getpeername(mosquitto_socket(handle), address, &length) == 0
                    && getnameinfo(
                        address, length, &host, socklen_t(host.count), &service, socklen_t(service.count), NI_NUMERICHOST | NI_NUMERICSERV)
                        == 0
            }
        }
        guard found else { return "\(self.address.host):\(self.address.port)" }
        let (name, port) = (String(nullTerminated: host), String(nullTerminated: service))
        return name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)"
    }
}

/// The least that libmosquitto accepts.
private let leastKeepAlive: UInt16 = 5

extension mosq_err_t {
    fileprivate var code: Int32 { Int32(rawValue) }
}

extension String {
    fileprivate init(nullTerminated bytes: [CChar]) {
        self.init(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension MosquittoHandle {
    fileprivate static func of(_ context: UnsafeMutableRawPointer?) -> MosquittoHandle? {
        context.map { Unmanaged<MosquittoHandle>.fromOpaque($0).takeUnretainedValue() }
    }

    fileprivate func connectAnswered(code: Int32) {
        if code == 0 {
            note(.accepted(MQTTConnection(version: version, brokerAddress: peerAddress())))
        } else {
            note(.ended(MQTTDisconnectReason(refusal: code)))
        }
    }

    fileprivate func disconnected(result: Int32, code: Int32) {
        // libmosquitto puts its own errors and the broker's reason codes into one number; reason codes begin at 0x80.
        switch result {
        case 0: note(.ended(.ended(MQTTReasonCode(rawValue: 0))))
        case 0x8e: note(.ended(.clientIDTakenOver))
        case 0x80...: note(.ended(.ended(MQTTReasonCode(rawValue: result))))
        default: note(.ended(loss(result, code: code)))
        }
    }

    fileprivate func publicationEnded(number: Int32, code: Int32) {
        let failure = code < 0x80 ? nil : MQTTPublishError.refused(MQTTReasonCode(rawValue: code))
        if let id = publications.removeValue(forKey: number) {
            note(.published(id, failure))
        } else {
            earlyOutcomes[number] = .some(failure)
        }
    }

    fileprivate func subscriptionsAnswered(number: Int32, codes: [Int32]) {
        guard let filters = subscriptions.removeValue(forKey: number) else { return }
        note(.subscribed(zip(filters, codes).map { ($0, MQTTReasonCode(rawValue: $1)) }))
    }

    fileprivate func received(_ message: mosquitto_message, _ properties: OpaquePointer?) {
        let payload = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
        note(
            .received(
                MQTTMessage(
                    topic: TopicName(delivered: String(cString: message.topic)), payload: Array(payload),
                    qos: message.qos == 0 ? .atMostOnce : .atLeastOnce, retain: message.retain, properties: MQTTProperties(properties))))
    }

    fileprivate func logged(level: Int32, _ text: String) {
        if level == MOSQ_LOG_ERR && errors.count < 4 { errors.append(text) }
    }
}

// libmosquitto calls these on the network thread, so they must belong to no actor.

private nonisolated func onConnect(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ code: Int32, _: Int32, _: OpaquePointer?
) {
    MosquittoHandle.of(context)?.connectAnswered(code: code)
}

private nonisolated func onDisconnect(_: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ result: Int32, _: OpaquePointer?) {
    let code = errno
    MosquittoHandle.of(context)?.disconnected(result: result, code: code)
}

private nonisolated func onPublish(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ number: Int32, _ code: Int32, _: OpaquePointer?
) {
    MosquittoHandle.of(context)?.publicationEnded(number: number, code: code)
}

private nonisolated func onSubscribe(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ number: Int32, _ count: Int32, _ codes: UnsafePointer<Int32>?,
    _: OpaquePointer?
) {
    MosquittoHandle.of(context)?.subscriptionsAnswered(
        number: number, codes: Array(UnsafeBufferPointer(start: codes, count: Int(count))))
}

private nonisolated func onMessage(
    _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ message: UnsafePointer<mosquitto_message>?, _ properties: OpaquePointer?
) {
    guard let message = message?.pointee else { return }
    MosquittoHandle.of(context)?.received(message, properties)
}

private nonisolated func onLog(_: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ level: Int32, _ text: UnsafePointer<CChar>?) {
    guard let text else { return }
    MosquittoHandle.of(context)?.logged(level: level, String(cString: text))
}
