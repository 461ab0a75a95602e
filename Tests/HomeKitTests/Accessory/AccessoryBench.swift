import Cryptography
import Testing

@testable import HomeKit

/// An accessory in memory with controllers before it, and time that passes when told to.
struct AccessoryBench {
    typealias Connection = AccessoryServer.Connection

    static let code = "031-45-154"
    static let on = CharacteristicID(accessory: 1, instance: 51)
    static let brightness = CharacteristicID(accessory: 1, instance: 52)

    /// What one connection's other end has received, and how it encrypts.
    struct Client {
        var parser = HTTPParser()
        var encryption: (sealer: FrameSealer, opener: FrameOpener)?
        var responses: [HTTPMessage] = []
        var events: [HTTPMessage] = []
        var raw: [UInt8] = []
        var isClosed = false
    }

    var server: AccessoryServer
    var now = Duration.zero
    var clients: [Connection: Client] = [:]
    /// Everything that was done, in order, without the bytes.
    var saved: [AccessoryIdentity] = []
    var reports: [AccessoryReport] = []

    init(count: Int = 1, manners: any AccessoryManners = ReferenceManners()) throws {
        let information = AccessoryInformation(
            name: "Bench lamp", manufacturer: "HandKit tests", model: "Bulb", serialNumber: "0001", firmwareRevision: "1.0")
        server = AccessoryServer(
            .random(setupCode: try SetupCode(Self.code)), information, count: count, manners: manners)
    }

    mutating func connect() throws -> Connection {
        let connection = Connection(clients.count + 1)
        clients[connection] = Client()
        try perform(server.connected(connection, now: now))
        return connection
    }

    mutating func disconnect(_ connection: Connection) {
        clients[connection]?.isClosed = true
        server.disconnected(connection)
    }

    mutating func pass(_ duration: Duration) throws {
        now += duration
        try perform(server.timePassed(now: now))
    }

    mutating func perform(_ actions: [AccessoryServer.Action]) throws {
        for action in actions {
            switch action {
            case .write(let bytes, let connection):
                clients[connection]?.raw += bytes
                let plaintext = try clients[connection]?.encryption?.opener.open(bytes) ?? bytes
                clients[connection]?.parser.append(plaintext)
                while let message = try clients[connection]?.parser.next() {
                    switch message.kind {
                    case .response: clients[connection]?.responses.append(message)
                    case .event: clients[connection]?.events.append(message)
                    }
                }
            case .pause: break
            case .close(let connection): disconnect(connection)
            case .save(let identity): saved.append(identity)
            case .report(let report): reports.append(report)
            }
        }
    }

    mutating func send(_ bytes: [UInt8], on connection: Connection) throws {
        let sealed = clients[connection]?.encryption?.sealer.seal(bytes) ?? bytes
        try perform(server.received(sealed, on: connection, now: now))
    }

    /// Sends a request and takes its answer, which has to be the only one.
    mutating func ask(_ request: HTTPRequest, on connection: Connection) throws -> HTTPMessage {
        clients[connection]?.responses = []
        try send(request.encoded(host: "127.0.0.1"), on: connection)
        let responses = clients[connection]?.responses ?? []
        try #require(responses.count == 1)
        return responses[0]
    }

    mutating func get(_ path: String, on connection: Connection) throws -> (status: Int, text: String) {
        let answer = try ask(.get(path), on: connection)
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    mutating func put(_ json: String, path: String = "/characteristics", on connection: Connection) throws -> (status: Int, text: String) {
        let answer = try ask(.put(path, json: json), on: connection)
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    mutating func pairing(_ path: String, _ message: TLV8, on connection: Connection) throws -> TLV8 {
        let answer = try ask(.post(path, pairing: message.encoded), on: connection)
        try #require(answer.status == 200)
        return try TLV8(decoding: answer.body)
    }

    /// Pairs a new controller with our own controller's side.
    mutating func pair(code: String = Self.code) throws -> PairingRecord {
        let connection = try connect()
        defer { disconnect(connection) }
        let controller = ControllerIdentity.random()
        var setup = PairSetup(code: try SetupCode(code), method: .plain, controller: controller)
        var message = setup.start()
        while true {
            let answer = try ask(.post("/pair-setup", pairing: message), on: connection)
            switch try setup.received(answer.body) {
            case .send(let next): message = next
            case .paired(let id, let key):
                return PairingRecord(
                    accessoryID: id, accessoryKey: key, controller: controller, address: HAPAddress(host: "127.0.0.1", port: 1))
            }
        }
    }

    /// Verifies a controller on a connection; encrypted from then on.
    mutating func verify(_ record: PairingRecord, on connection: Connection) throws {
        var verify = PairVerify(pairing: record)
        var message = verify.start()
        while true {
            let answer = try ask(.post("/pair-verify", pairing: message), on: connection)
            for action in try verify.received(answer.body) {
                switch action {
                case .send(let next): message = next
                case .encrypt(let keys):
                    clients[connection]?.encryption = (FrameSealer(key: keys.outgoing), FrameOpener(key: keys.incoming))
                case .verified: return
                }
            }
        }
    }

    /// A verified connection of a controller that is paired already.
    mutating func session(_ record: PairingRecord) throws -> Connection {
        let connection = try connect()
        try verify(record, on: connection)
        return connection
    }

    func events(_ connection: Connection) -> [String] {
        clients[connection]?.events.map { String(decoding: $0.body, as: UTF8.self) } ?? []
    }
}
