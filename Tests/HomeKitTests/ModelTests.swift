import TestSupport
import Testing

@testable import HomeKit

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

@Suite struct `Types` {
    @Test(arguments: [
        "25", "00000025", "025", "00000025-0000-1000-8000-0026BB765291", "00000025-0000-1000-8000-0026bb765291",
    ])
    func `short and full forms are equal`(text: String) {
        #expect(HAPType(text) == .on)
        #expect(HAPType(text).rawValue == "25")
    }

    @Test func `a maker's own type stays whole`() {
        #expect(HAPType("f0000001-0000-1000-8000-0026bb765292").rawValue == "F0000001-0000-1000-8000-0026BB765292")
        #expect(HAPType("") == HAPType("0"))
    }
}

@Suite struct `JSON texts` {
    @Test func `keeps identifiers of 64 bits`() throws {
        let json = try JSON(parsing: bytes(#"{"aid":18446744073709551615,"iid":9007199254740993}"#))
        #expect(json["aid"]?.uint64 == .max)
        #expect(json["iid"]?.uint64 == 9_007_199_254_740_993)
    }

    @Test func `reads every kind of value`() throws {
        #expect(
            try JSON(parsing: bytes(#" { "a" : [ 1 , -2.5e1 , true , false , null , "x" ] } "#))
                == .object(["a": .array([.integer(1), .number(-25), .bool(true), .bool(false), .null, .string("x")])]))
        #expect(try JSON(parsing: bytes(#""\u00e9\n\"\\\/\ud83d\ude00\ud83d""#)) == .string("é\n\"\\/😀\u{FFFD}"))
    }

    @Test func `forgives commas before a closing bracket and what C leaves at the end`() throws {
        #expect(try JSON(parsing: bytes("{\"a\":[1,2,],}\r\n\0")) == .object(["a": .array([.integer(1), .integer(2)])]))
    }

    @Test(arguments: [
        "", "{", "[", "{\"a\"", "{\"a\":", "{\"a\":1", "[1", "[,]", "{,}", "[1 2]", "{\"a\" 1}", "tru", "\"", "\"\\", "\"\\u12", "\"\\x\"",
        "-", "1.2.3", "1e999", "+1", "{}x", "[1}", "nan", "{a:1}",
    ])
    func `refuses what is none`(text: String) {
        #expect(throws: JSON.Fault.self) { try JSON(parsing: bytes(text)) }
    }

    @Test func `refuses nesting that would exhaust the stack`() {
        #expect(throws: JSON.Fault.self) { try JSON(parsing: [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)) }
    }

    @Test(arguments: 1...8)
    func `random changes never crash what reads accessories`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<600 {
            let body = random.mutated(bytes(`Accessory database`.database))
            for accessory in (try? [Accessory](json: body)) ?? [] { #expect(accessory.services.count < 100) }
            let list = random.mutated(bytes(#"{"characteristics":[{"aid":1,"iid":9,"value":true,"status":0},]}"#))
            let id = CharacteristicID(accessory: 1, instance: 9)
            if let readings = try? CharacteristicsPayload.readings(list, for: [id]) { #expect(readings.map(\.id) == [id]) }
            if let statuses = try? CharacteristicsPayload.statuses(list, for: [id], step: .write) { #expect(statuses.count == 1) }
        }
    }
}

@Suite struct `Accessory database` {
    static let database = #"""
        {"accessories":[{"aid":1,"services":[
        {"iid":1,"type":"3E","characteristics":[{"iid":3,"type":"23","perms":["pr"],"format":"string","value":"Gateway"},
        {"iid":4,"type":"20","value":"Maker"},{"iid":5,"type":"21","value":"M1"},{"type":"30"},{"iid":6},7,null]}]},
        {"aid":18446744073709551615,"services":[
        {"iid":1,"type":"0000003E-0000-1000-8000-0026BB765291","characteristics":[{"iid":2,"type":"23","value":"Bulb"}]},
        {"iid":8,"type":"00000043-0000-1000-8000-0026bb765291","characteristics":[
        {"iid":9,"type":"00000025-0000-1000-8000-0026BB765291","perms":["pr","pw","ev"],"format":"bool","value":1},
        {"iid":9007199254740993,"type":"8","perms":["pr","pw"],"format":"int","unit":"percentage",
        "minValue":5,"maxValue":80.5,"minStep":5,"value":40}]},
        {"iid":20,"type":"43","characteristics":[{"iid":21,"type":"8"}]},
        {"iid":30,"type":"43","characteristics":[{"iid":31,"type":"25"}]}]},
        {"services":[]},"nonsense"]}
        """#

    @Test func `is read with whole identifiers, leaving out what cannot be used`() throws {
        let accessories = try [Accessory](json: bytes(Self.database))
        #expect(accessories.map(\.id) == [1, .max])
        #expect(accessories[0].service(.accessoryInformation)?.characteristics.map(\.id.instance) == [3, 4, 5])
        #expect(accessories[0].information(.model) == "M1")
    }

    @Test func `yields its bulbs with everything needed to switch and dim them`() throws {
        let bulbs = Lightbulb.all(in: try [Accessory](json: bytes(Self.database)))
        #expect(bulbs.count == 2)
        let bulb = try #require(bulbs.first)
        #expect(bulb.name == "Bulb")
        #expect(bulb.on == CharacteristicID(accessory: .max, instance: 9))
        #expect(bulb.onCanNotify)
        let brightness = try #require(bulb.brightness)
        #expect(brightness.id == CharacteristicID(accessory: .max, instance: 9_007_199_254_740_993))
        #expect(brightness.scale == BrightnessScale(minimum: 5, maximum: 80.5, step: 5))
        #expect(!brightness.canNotify)
        #expect(bulbs[1].brightness == nil)
    }

    @Test(arguments: ["", "[]", "{}", #"{"accessories":{}}"#, "<html>"])
    func `is refused when it is none`(text: String) {
        #expect(throws: HAPError.self) { try [Accessory](json: bytes(text)) }
    }
}

@Suite struct `Characteristics` {
    let on = CharacteristicID(accessory: 1, instance: 9)
    let brightness = CharacteristicID(accessory: 1, instance: 10)

    private func results(_ text: String) throws -> [HAPStatus] {
        try CharacteristicsPayload.readings(bytes(text), for: [on, brightness]).map { reading in
            switch reading.result {
            case .success: .success
            case .failure(let failure): failure.status
            }
        }
    }

    private func statuses(_ text: String) throws -> [HAPStatus] {
        try CharacteristicsPayload.statuses(bytes(text), for: [on, brightness], step: .write).map(\.status)
    }

    @Test func `readings come in the order asked for, each with its own result`() throws {
        let body = #"{"characteristics":[{"aid":1,"iid":10,"status":-70402},{"aid":1,"iid":9,"value":true,"status":0}]}"#
        let readings = try CharacteristicsPayload.readings(bytes(body), for: [on, brightness])
        #expect(readings.map(\.id) == [on, brightness])
        #expect(readings[0].value?.bool == true)
        #expect(readings[1].result == .failure(CharacteristicFailure(status: .cannotCommunicate)))
    }

    @Test func `statuses count whatever their sign, in an item or for all`() throws {
        #expect(
            try results(#"{"characteristics":[{"aid":1,"iid":9,"status":70402},{"aid":1,"iid":10,"value":3}]}"#) == [
                .cannotCommunicate, .success,
            ])
        #expect(try results(#"{"status":70410}"#) == [.invalidValue, .invalidValue])
        #expect(try statuses(#"{"status":-70410}"#) == [.invalidValue, .invalidValue])
        #expect(try statuses(#"{"characteristics":[{"aid":1,"iid":9},{"aid":1,"iid":10,"status":"x"},]}"#) == [.success, .notReported])
    }

    @Test func `a value that the accessory leaves out is a failure, not a guess`() throws {
        #expect(try results(#"{"characteristics":[true,{"aid":1},{"aid":1,"iid":9,"status":0}]}"#) == [.notReported, .notReported])
    }

    @Test func `an accessory that lists nothing but what it refuses has taken the rest`() throws {
        #expect(try statuses(#"{"characteristics":[{"aid":1,"iid":10,"status":-70410}]}"#) == [.success, .invalidValue])
        #expect(try statuses(#"{"characteristics":[]}"#) == [.success, .success])
    }

    @Test(arguments: ["", "{}", "{\"status\":0}"])
    func `an answer to a write that says nothing against it is success for all`(body: String) throws {
        #expect(try statuses(body) == [.success, .success])
    }

    @Test(arguments: ["[]", "7", "<html>"])
    func `an answer to a write that is none is no success`(body: String) {
        #expect(throws: HAPError.self) { try statuses(body) }
    }

    @Test func `numbers are read from a text too`() {
        #expect(CharacteristicValue.string("57").number == 57)
        #expect(CharacteristicValue.string("nan").number == nil)
        #expect(CharacteristicValue.string("bright").number == nil)
        #expect(CharacteristicValue.bool(true).number == nil)
    }

    @Test func `truth is read as true, false, 1 or 0 and written as a number`() {
        for truth in [CharacteristicValue.integer(1), .number(1), .string("1"), .string("true")] { #expect(truth.bool == true) }
        for untruth in [CharacteristicValue.integer(0), .number(0), .string("0"), .string("false")] { #expect(untruth.bool == false) }
        for neither in [CharacteristicValue.integer(2), .number(0.5), .string("on"), .null] { #expect(neither.bool == nil) }
        #expect(CharacteristicValue.bool(true).json == "1")
        #expect(CharacteristicValue.bool(false).json == "0")
    }

    @Test func `texts are escaped`() throws {
        let text = "a\"b\\c\u{1}\nü"
        #expect(try JSON(parsing: bytes(CharacteristicValue.string(text).json)) == .string(text))
    }
}
