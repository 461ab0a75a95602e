internal import Glibc
internal import Reactor

/// Keeps one service known on the network: announces it, answers questions about it, says goodbye.
///
/// Beside a running mDNS daemon it shares port 5353 with it, as every responder may. It works on the process's event loop.
public actor Responder {
    /// When an announcement is repeated, since datagrams get lost (RFC 6762, 8.3 asks for at least two, a second apart).
    private static let repeats: [Duration] = [.seconds(1), .seconds(3)]
    private static let probes = 3
    private static let probeInterval = Duration.milliseconds(250)
    /// How long the loser waits where two ask for a name at once (RFC 6762, 8.2).
    private static let defeatInterval = Duration.seconds(1)
    /// Milliseconds that an answer waits which others may give as well (RFC 6762, 6).
    static let sharedDelay = 20.0...120.0
    /// How many answers wait; of more, each goes at once.
    private static let maximumWaiting = 64
    /// How often the machine's interfaces and addresses are looked at.
    private static let patrol = Duration.seconds(5)

    private let loop = EventLoop.shared
    private let address: [UInt8]?
    private let extraAddresses: [[UInt8]]

    private var records: ServiceRecords
    private var sockets: [MulticastSocket]
    private var watches: [LoopWatch] = []
    private var interfaces: [NetworkInterface] = []
    private var isAnnounced = false
    private var isTaken = false
    private var isBeaten = false
    private var waiting: [UInt64: LoopTimer] = [:]
    private var lastAnswer: UInt64 = 0
    private var repeating: Task<Void, Never>?

    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Opens the sockets.
    ///
    /// - Parameters:
    ///   - address: Of this machine: only it is announced, and only where it belongs to an interface; nil for all of them.
    ///   - extraAddresses: Announced as well, whether they are this machine's or not.
    public init(_ service: AnnouncedService, address: String? = nil, extraAddresses: [String] = []) throws(MDNSFailure) {
        records = ServiceRecords(service: service)
        self.address = address.flatMap(IPAddress.bytes)
        self.extraAddresses = extraAddresses.compactMap(IPAddress.bytes)
        sockets = [try MulticastSocket(.ipv4, port: MulticastSocket.port)]
        // A machine without IPv6 has no such socket, and needs none.
        if let socket = try? MulticastSocket(.ipv6, port: MulticastSocket.port) { sockets.append(socket) }
    }

    /// The name under which the service is known; another than was asked for where that was taken.
    public var instance: String { records.service.instance }

    /// Announces the service and answers until the task is cancelled; then says goodbye.
    public func run() async {
        watches = sockets.map { socket in
            socket.whenReadable(on: loop) { [weak self] in
                self?.assumeIsolated { $0.readable(socket) }
            }
        }
        updateInterfaces()
        await settleName()
        isAnnounced = true
        announce()
        while (try? await Task.sleep(for: Self.patrol)) != nil {
            if updateInterfaces() { announce() }
        }
        repeating?.cancel()
        sendToAll { _ in records.goodbye }
        isAnnounced = false
        watches = []
        waiting = [:]
    }

    /// Replaces the service's text, and says so.
    public func update(text: TXTRecord) {
        guard records.service.text != text else { return }
        records.service.text = text
        if isAnnounced { announce() }
    }

    /// Asks whether the name is free, and takes the next one until it is.
    private func settleName() async {
        // Machines that start together are not to ask in step (RFC 6762, 8.1).
        try? await Task.sleep(for: Self.probeInterval * .random(in: 0...1))
        while !Task.isCancelled {
            (isTaken, isBeaten) = (false, false)
            for _ in 0..<Self.probes where !isTaken && !isBeaten {
                sendToAll { _ in records.probe }
                try? await Task.sleep(for: Self.probeInterval)
            }
            if isTaken {
                records.service = records.service.renamed
            } else if isBeaten {
                try? await Task.sleep(for: Self.defeatInterval)
            } else {
                return
            }
        }
    }

    private func announce() {
        repeating?.cancel()
        let say: (NetworkInterface) -> DNSMessage = { [records] in records.announcement(self.addresses(of: $0)) }
        sendToAll(say)
        repeating = Task { [weak self] in
            for delay in Self.repeats {
                guard (try? await Task.sleep(for: delay)) != nil else { return }
                await self?.announceAgain()
            }
        }
    }

    private func announceAgain() {
        if isAnnounced { sendToAll { records.announcement(addresses(of: $0)) } }
    }

    /// Takes part on interfaces that are new; whether anything was.
    @discardableResult
    private func updateInterfaces() -> Bool {
        let now = NetworkInterface.all().filter { interface in
            guard let address else { return !interface.isLoopback }
            return (interface.ipv4 + interface.ipv6).contains(address) || isUnspecified(address) && !interface.isLoopback
        }
        guard now != interfaces else { return false }
        interfaces = now
        for interface in now {
            // An interface without addresses of one family cannot be joined by it.
            for socket in sockets { try? socket.join(interface: interface.index) }
        }
        return true
    }

    private func isUnspecified(_ address: [UInt8]) -> Bool { address.allSatisfy { $0 == 0 } }

    private func addresses(of interface: NetworkInterface) -> [[UInt8]] {
        guard let address, !isUnspecified(address) else { return interface.ipv4 + interface.ipv6 + extraAddresses }
        return [address] + extraAddresses
    }

    private func sendToAll(_ message: (NetworkInterface) -> DNSMessage) {
        for interface in interfaces {
            let bytes = message(interface).encoded
            for socket in sockets where socket.family == .ipv4 ? !interface.ipv4.isEmpty : !interface.ipv6.isEmpty {
                // The network may be gone at this moment; announcements are repeated and the patrol goes on.
                try? socket.send(bytes, to: .group(socket.family), interface: interface.index)
            }
        }
    }

    private func readable(_ socket: MulticastSocket) {
        while let datagram = socket.receive() {
            guard let interface = interfaces.first(where: { $0.index == datagram.interface }),
                let message = try? DNSMessage(decoding: datagram.bytes)
            else { continue }
            if !isAnnounced, records.isConflict(message) { isTaken = true }
            if !isAnnounced, records.contest(message) == .lost { isBeaten = true }
            guard isAnnounced else { continue }
            let isLegacy = datagram.sender.port != MulticastSocket.port
            guard let answer = records.answer(to: message, isLegacy: isLegacy, addresses(of: interface)) else { continue }
            let isUnicast = isLegacy || message.questions.allSatisfy(\.wantsUnicast)
            let endpoint = isUnicast ? datagram.sender : .group(socket.family)
            let send: @Sendable () -> Void = { try? socket.send(answer.encoded, to: endpoint, interface: datagram.interface) }
            if answer.isShared, !isLegacy { sendLater(send) } else { send() }
        }
    }

    private func sendLater(_ send: @escaping @Sendable () -> Void) {
        guard waiting.count < Self.maximumWaiting else { return send() }
        lastAnswer += 1
        let number = lastAnswer
        waiting[number] = loop.timer(at: .now + .milliseconds(.random(in: Self.sharedDelay))) { [weak self] in
            send()
            self?.assumeIsolated { $0.waiting[number] = nil }
        }
    }
}
