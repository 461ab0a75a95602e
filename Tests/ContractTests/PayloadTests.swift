import Contract
import Foundation
import TestSupport
import Testing

/// The contract's payloads, each with the exact JSON that stands for it.
private let moment = Timestamp(millisecondsSinceEpoch: 1_796_053_187_123)

private func text(_ value: some Encodable) -> String { String(decoding: Payload.encode(value), as: UTF8.self) }

struct PayloadTests {
    @Test func `a toggle is the contract's JSON`() throws {
        let event = ToggleEvent(id: "0badcafe-7", ts: moment, uptime: 86_400.125, hand: .right, confidence: 0.97)
        let json =
            #"{"confidence":0.97,"event_type":"toggle","hand":"right","id":"0badcafe-7","ts":"2026-11-30T15:39:47.123Z","#
            + #""uptime":86400.125,"v":1}"#
        #expect(text(event) == json)
        #expect(try Payload.decode(ToggleEvent.self, from: Array(json.utf8)) == event)
    }

    @Test(arguments: zip([.began, .changed, .ended] as [BrightnessEvent.Phase], ["began", "changed", "ended"]))
    func `a step of brightness is the contract's JSON`(phase: BrightnessEvent.Phase, name: String) throws {
        let event = BrightnessEvent(value: 57.3, phase: phase, displacement: -0.12, id: "0badcafe-8", ts: moment)
        let json =
            #"{"displacement":-0.12,"id":"0badcafe-8","phase":"\#(name)","ts":"2026-11-30T15:39:47.123Z","v":1,"value":57.3}"#
        #expect(text(event) == json)
        #expect(try Payload.decode(BrightnessEvent.self, from: Array(json.utf8)) == event)
    }

    @Test func `the camera's state is the contract's JSON`() throws {
        let state = CameraState(brightness: 57, hand: true, pinch: .open, fps: 29.9, frameAge: 0.1)
        let json = #"{"armed":true,"arming":1,"brightness":57,"fps":29.9,"frame_age":0.1,"hand":true,"pinch":"open"}"#
        #expect(text(state) == json)
        #expect(try Payload.decode(CameraState.self, from: Array(json.utf8)) == state)
        let blind = CameraState(brightness: 0, hand: false, pinch: .none, fps: 0, armed: false, arming: 0.5, problem: "unplugged")
        #expect(
            text(blind) == #"{"armed":false,"arming":0.5,"brightness":0,"fps":0,"hand":false,"pinch":"none","problem":"unplugged"}"#)
    }

    @Test func `a target is the contract's JSON, and a lamp that is off is at zero`() throws {
        #expect(text(Target(on: true, brightness: 57)) == #"{"brightness":57,"on":true}"#)
        #expect(Target(on: true, brightness: 57).level == 57)
        #expect(Target(on: false, brightness: 57).level == 0)
        #expect(try Payload.decode(Target.self, from: Array(#"{"on":false,"brightness":57}"#.utf8)) == Target(on: false, brightness: 57))
    }

    @Test func `a lamp's state is Home Assistant's JSON light schema, with either key left out`() throws {
        let cases: [(LampState, String)] = [
            (LampState(state: .on, brightness: 57), #"{"brightness":57,"state":"ON"}"#), (LampState(state: .off), #"{"state":"OFF"}"#),
            (LampState(state: nil, brightness: 1), #"{"brightness":1}"#), (LampState(state: nil), "{}"),
        ]
        for (state, json) in cases {
            #expect(text(state) == json)
            #expect(try Payload.decode(LampState.self, from: Array(json.utf8)) == state)
        }
    }

    @Test func `the bridge's state is the contract's JSON`() throws {
        let state = BridgeState(
            lamps: [.init(id: try Identifier("desk"), available: true, status: "ok")], accepted: 3, rejected: ["stale": 2, "duplicate": 1])
        let json =
            #"{"accepted":3,"lamps":[{"available":true,"id":"desk","status":"ok"}],"rejected":{"duplicate":1,"stale":2},"v":1}"#
        #expect(text(state) == json)
        #expect(try Payload.decode(BridgeState.self, from: Array(json.utf8)) == state)
    }

    @Test func `plain texts are the contract's words`() {
        #expect([Availability.online, .offline].map(\.rawValue) == ["online", "offline"])
        #expect([Switch.on, .off].map(\.rawValue) == ["ON", "OFF"])
        #expect(eventLifetime == 3 && schemaVersion == 1)
    }

    @Test func `unknown keys, another order and white space change nothing`() throws {
        let json = #"""
             { "v" : 1, "more" : [{"deep":null}], "ts":"2026-11-30T15:39:47.123Z", "id":"a-1",
               "hand":"left", "confidence":1, "event_type":"toggle", "été":"😀" }
            """#
        let event = try Payload.decode(ToggleEvent.self, from: Array(json.utf8))
        #expect(event == ToggleEvent(id: "a-1", ts: moment, hand: .left, confidence: 1))
    }

    @Test(
        arguments: [
            ("", .noJSON), ("null", .noJSON), ("[]", .noJSON), ("7", .noJSON), (#""toggle""#, .noJSON), ("{", .noJSON),
            (#"{"on":true,"brightness":5}}"#, .noJSON), (#"{"on":true,"brightness":5"#, .noJSON), ("ON", .noJSON),
            ("{}", .missing(key: "on")), (#"{"on":true}"#, .missing(key: "brightness")),
            (#"{"On":true,"brightness":5}"#, .missing(key: "on")),
            (#"{"on":1,"brightness":5}"#, .value(key: "on", wanted: "of another type")),
            (#"{"on":true,"brightness":null}"#, .value(key: "brightness", wanted: "of another type")),
            (#"{"on":true,"brightness":"5"}"#, .value(key: "brightness", wanted: "of another type")),
        ] as [(String, PayloadFault)])
    func `what is no payload is refused with what is wrong`(json: String, fault: PayloadFault) {
        #expect(throws: fault) { try Payload.decode(Target.self, from: Array(json.utf8)) }
    }

    @Test(arguments: ["5.5", "1e99", "-1e400", "99999999999999999999"])
    func `a brightness that is no whole number is refused`(number: String) {
        #expect(throws: PayloadFault.self) { try Payload.decode(Target.self, from: Array(#"{"on":true,"brightness":\#(number)}"#.utf8)) }
    }

    @Test func `a value beyond the contract's is refused and its key named`() {
        let good = text(ToggleEvent(id: "a-1", ts: moment, hand: .left, confidence: 1))
        for (key, from, to) in [("hand", "left", "Left"), ("ts", "2026-11-30", "2026-11-31")] {
            let bad = good.replacingOccurrences(of: from, with: to)
            #expect(throws: PayloadFault.value(key: key, wanted: "one of the contract's values")) {
                try Payload.decode(ToggleEvent.self, from: Array(bad.utf8))
            }
        }
    }

    @Test func `invalid UTF-8 and endless nesting are refused`() {
        #expect(throws: PayloadFault.self) { try Payload.decode(Target.self, from: [0xff, 0xfe, 0x00]) }
        #expect(throws: PayloadFault.self) {
            try Payload.decode(Target.self, from: Array(repeating: UInt8(ascii: "["), count: Payload.maximumLength))
        }
    }

    @Test func `4096 bytes are looked at, one more is not`() throws {
        let json = Array(#"{"on":true,"brightness":5}"#.utf8)
        let fitting = json + Array(repeating: UInt8(ascii: " "), count: Payload.maximumLength - json.count)
        #expect(try Payload.decode(Target.self, from: fitting) == Target(on: true, brightness: 5))
        #expect(throws: PayloadFault.tooLong(bytes: 4097)) { try Payload.decode(Target.self, from: fitting + [UInt8(ascii: " ")]) }
    }

    @Test func `every fault is worded`() {
        #expect(PayloadFault.tooLong(bytes: 5000).description == "5000 bytes are too long for a payload")
        #expect(PayloadFault.noJSON.description == "the payload is no JSON object")
        #expect(PayloadFault.missing(key: "on").description == "'on' is missing")
        #expect(PayloadFault.value(key: "hand", wanted: "of another type").description == "'hand' must be of another type")
    }

    @Test func `random changes to a payload are refused or read as something that can be written again`() throws {
        var random = SeededGenerator(seed: 3)
        let good = Payload.encode(BrightnessEvent(value: 57.3, phase: .changed, displacement: 0.12, id: "a-1", ts: moment))
        var (read, refused) = (0, 0)
        for _ in 0..<10_000 {
            var bytes = good
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: .min ... .max, using: &random)
            case 1: bytes.removeSubrange(Int.random(in: bytes.indices, using: &random)...)
            default: bytes.insert(.random(in: .min ... .max, using: &random), at: .random(in: bytes.indices, using: &random))
            }
            do {
                let event = try Payload.decode(BrightnessEvent.self, from: bytes)
                #expect(try Payload.decode(BrightnessEvent.self, from: Payload.encode(event)) == event)
                read += 1
            } catch {
                #expect(!error.description.isEmpty)
                refused += 1
            }
        }
        for _ in 0..<2_000 {
            #expect(throws: PayloadFault.self) {
                try Payload.decode(BrightnessEvent.self, from: random.bytes(.random(in: 0...64, using: &random)))
            }
        }
        #expect(read > 0 && refused > 0)
    }
}
