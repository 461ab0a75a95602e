internal import Cryptography
internal import HomeKit
internal import MDNS

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

extension FuzzTarget {
    static var all: [FuzzTarget] { [tlv8, frames, http, accessoryJSON, setupPayload, mdns] }

    /// Pairing messages: what is read can be written and read again.
    private static var tlv8: FuzzTarget {
        FuzzTarget(
            name: "tlv8",
            seeds: [
                [6, 1, 1, 0, 1, 0], [6, 1, 2, 7, 1, 2], [2, 16] + [UInt8](repeating: 0, count: 16) + [6, 1, 2],
                [3, 255] + [UInt8](repeating: 9, count: 255) + [3, 129] + [UInt8](repeating: 8, count: 129) + [6, 1, 3],
                [1, 3, 65, 66, 67, 3, 2, 1, 1, 11, 1, 1, 255, 0, 1, 1, 68, 11, 1, 0],
            ],
            words: [[6, 1, 1], [255, 0], [3, 255], [0], [5, 0], [7, 1, 7], [8, 2, 1, 0]]
        ) { input, _ in
            guard let message = try? TLV8(decoding: input) else { return }
            guard let again = try? TLV8(decoding: message.encoded) else { preconditionFailure("what was written cannot be read") }
            precondition(message.items.reduce(0) { $0 + $1.value.count } <= input.count)
            // An item of exactly 255 bytes before one of its own type is one item once it is written.
            precondition(again.items.count <= message.items.count)
            _ = try? ControllerPairing.all(in: message)
        }
    }

    /// Encrypted frames: a stream that was changed yields a prefix of what was sealed and then nothing, for good.
    private static var frames: FuzzTarget {
        FuzzTarget(
            name: "frames",
            seeds: [[], [0], [UInt8](repeating: 7, count: 40), [UInt8](repeating: 7, count: 1500)],
            words: [[0], [1, 4], [255, 255], [0, 4]]
        ) { input, random in
            let key = SecretBytes(copying: [UInt8](repeating: 3, count: 32))
            var sealer = FrameSealer(key: key)
            let plain = [UInt8](input.prefix(1200))
            var stream = sealer.seal(plain) + sealer.seal([1, 2, 3])
            if random.below(4) == 0 {
                stream = input
            } else if random.below(2) == 0, !stream.isEmpty {
                stream[random.below(stream.count)] ^= 1 << UInt8(random.below(8))
            }
            var opener = FrameOpener(key: key)
            var opened: [UInt8] = []
            var hasFailed = false
            var rest = stream[...]
            while !rest.isEmpty {
                let piece = rest.prefix(1 + random.below(300))
                rest = rest.dropFirst(piece.count)
                do {
                    opened += try opener.open(Array(piece))
                    precondition(!hasFailed, "a broken stream was read on")
                } catch {
                    hasFailed = true
                }
            }
            precondition((plain + [1, 2, 3]).starts(with: opened), "other bytes than were sealed")
        }
    }

    private static let answer = bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: application/hap+json\r\n\r\nhello")

    /// Answers and events: the cuts of the stream never matter.
    private static var http: FuzzTarget {
        FuzzTarget(
            name: "http",
            seeds: [
                answer, bytes("EVENT/1.0 200 OK\r\ncontent-length:2\r\n\r\n{}") + answer, bytes("HTTP/1.1 204 No Content\r\n\r\n") + answer,
                bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\nTrailer: 1\r\n\r\n")
                    + answer,
                bytes("HTTP/1.1 470 Connection Authorization Required\r\n\r\n"),
                bytes("HTTP/1.1 207 Multi-Status\r\nContent-Length:0\r\n\r\n\r\n") + answer,
            ],
            words: [
                bytes("\r\n"), bytes("\r\n\r\n"), bytes("HTTP/1.1 "), bytes("EVENT/1.0 "), bytes("Content-Length: "), bytes("99999999999"),
                bytes("Transfer-Encoding: chunked\r\n"), bytes("0\r\n\r\n"), bytes("ffffffff\r\n"), bytes("-1"), bytes("\n"), [0], [0xFF],
            ]
        ) { input, random in
            func messages(_ pieces: [[UInt8]]) -> ([HTTPMessage], HTTPFault?) {
                var parser = HTTPParser()
                var messages: [HTTPMessage] = []
                do throws(HTTPFault) {
                    for piece in pieces {
                        parser.append(piece)
                        while case .some(let message) = try parser.next() { messages.append(message) }
                    }
                } catch {
                    return (messages, error)
                }
                return (messages, nil)
            }
            var pieces: [[UInt8]] = []
            var rest = input[...]
            while !rest.isEmpty {
                let piece = rest.prefix(1 + random.below(24))
                pieces.append(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            let (whole, cut) = (messages([input]), messages(pieces))
            precondition(whole.0 == cut.0 && whole.1 == cut.1, "the cuts of the stream matter")
            precondition(whole.0.reduce(0) { $0 + $1.body.count } <= input.count)
        }
    }

    private static let database = bytes(
        #"{"accessories":[{"aid":1,"services":[{"iid":1,"type":"3E","characteristics":[{"iid":2,"type":"14","perms":["pw"],"format":"bool"},{"iid":3,"type":"23","value":"Lamp\u00e9","perms":["pr"],"format":"string"}]},{"iid":8,"type":"00000043-0000-1000-8000-0026BB765291","characteristics":[{"iid":9,"type":"25","value":false,"perms":["pr","pw","ev"],"format":"bool"},{"iid":10,"type":"8","value":40,"minValue":0,"maxValue":100,"minStep":1,"perms":["pr","pw","ev","tw"],"format":"int"}]}]}]}"#
    )

    /// The accessory database and the answers to reads and writes.
    private static var accessoryJSON: FuzzTarget {
        FuzzTarget(
            name: "json",
            seeds: [
                database, bytes(#"{"characteristics":[{"aid":1,"iid":9,"value":1,"status":0},{"aid":1,"iid":10,"value":5.7e1},]}"#),
                bytes(
                    #"{"characteristics":[{"aid":1,"iid":9,"status":-70402},true,{"aid":18446744073709551615,"iid":10,"status":70402}]}"#),
                bytes(#"{"status":-70401}"#),
            ],
            words: [
                bytes("["), bytes("]"), bytes("{"), bytes("}"), bytes(","), bytes(":"), bytes("\""), bytes("\\u"), bytes("\\ud800"),
                bytes("null"),
                bytes("1e999"), bytes("-"), bytes("18446744073709551616"), bytes("[[[[[[[["), bytes("\"aid\":"), bytes("true"), [0xFF],
                [0xC3], [0],
            ]
        ) { input, _ in
            if let accessories = try? [Accessory](json: input) {
                for bulb in Lightbulb.all(in: accessories) { precondition(bulb.accessory == bulb.on.accessory) }
            }
            let id = CharacteristicID(accessory: 1, instance: 9)
            if let readings = try? CharacteristicsPayload.readings(input, step: .event) { precondition(readings.count <= input.count) }
            if let statuses = try? CharacteristicsPayload.statuses(input, for: [id, id], step: .write) {
                precondition(statuses.count == 2)
            }
        }
    }

    /// QR payloads: what is read is written as the same payload.
    private static var setupPayload: FuzzTarget {
        FuzzTarget(
            name: "x-hm", seeds: [bytes("X-HM://00522H1VM7OSX"), bytes(" x-hm://0023ISYWYGH44 \n"), bytes("X-HM://ZZZZZZZZZZZZZ")],
            words: [
                bytes("X-HM://"), bytes("0"), bytes("Z"), bytes("7OSX"), bytes(" "), [0xC3, 0x9F], [0xFF], bytes("ß"), bytes("\u{2160}"),
            ]
        ) { input, _ in
            guard let payload = try? SetupPayload(String(decoding: input, as: UTF8.self)) else { return }
            guard let again = try? SetupPayload(payload.text) else { preconditionFailure("what was written cannot be read") }
            precondition(again == payload)
            _ = payload.matches(hash: "u8Fb5A==", accessoryID: "AA:BB:CC:DD:EE:FF")
        }
    }

    private static let hap = DNSName("_hap._tcp.local")

    private static func announcement() -> DNSMessage {
        guard let type = hap, let name = type.prefixed(by: "Desk"), let host = DNSName("lamp.local") else { preconditionFailure("names") }
        return DNSMessage(
            isResponse: true, answers: [DNSRecord(type, .ptr(name), timeToLive: 4500)],
            additionals: [
                DNSRecord(name, .srv(priority: 0, weight: 0, port: 51826, target: host), timeToLive: 120, flushesCache: true),
                DNSRecord(name, .txt(TXTRecord(["c#": "1", "id": "AA:BB:CC:DD:EE:FF", "sf": "1"]).strings), timeToLive: 4500),
                DNSRecord(host, .a([192, 0, 2, 7]), timeToLive: 120),
                DNSRecord(host, .aaaa([UInt8](repeating: 9, count: 16)), timeToLive: 120),
                DNSRecord(name, .nsec(next: name, types: [.srv, .txt]), timeToLive: 120),
            ])
    }

    /// Datagrams, as the browser takes them: one table hears them all and stays small.
    private static var mdns: FuzzTarget {
        guard let type = hap else { preconditionFailure("the type is a name") }
        var table = ServiceTable(type: type)
        var now = ContinuousClock.now
        return FuzzTarget(
            name: "mdns",
            seeds: [
                announcement().encoded, DNSMessage.query([DNSQuestion(type, .ptr)], id: 7).encoded,
                DNSMessage(isResponse: true, answers: announcement().additionals).encoded,
            ],
            words: [
                [0xC0, 12], [0xC0, 0], [0xFF, 0xFF], [0], [63], [0, 12, 0, 1], [0, 33, 128, 1], [0, 16, 0, 1, 0, 0, 0, 120, 0, 0],
                [4, 95, 104, 97, 112],
            ]
        ) { input, random in
            guard let message = try? DNSMessage(decoding: input) else { return }
            precondition(
                (try? DNSMessage(decoding: message.encoded)) != nil || message.encoded.count > 65_535, "what was written cannot be read")
            now += .milliseconds(random.below(5000))
            for sighting in table.received(message, interface: UInt32(random.below(3)), isToAll: random.below(2) == 0, at: now) {
                guard case .changed(let service) = sighting else { continue }
                let found = HAPService(service, networks: [])
                precondition(!found.name.unicodeScalars.contains { $0.value < 32 })
            }
            precondition(table.services.count <= ServiceTable.maximumInstances)
        }
    }
}
