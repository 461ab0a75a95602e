import Contract
import TestSupport
import Testing

struct TopicsTests {
    private static let allAddresses: [Topics.Address] = {
        guard let id = try? Identifier("desk-1_x") else { return [] }
        return Topics.CameraLeaf.allCases.map { .camera(id, $0) } + Topics.LampLeaf.allCases.map { .lamp(id, $0) }
            + Topics.BridgeLeaf.allCases.map { .bridge(id, $0) } + Topics.Request.allCases.map { .request($0) }
            + Topics.Request.allCases.map { .response($0) } + Topics.CameraRequest.allCases.map { .cameraRequest($0) }
    }()

    private func topic(_ address: Topics.Address, in topics: Topics) -> String {
        switch address {
        case .camera(let id, let leaf): topics.camera(id, leaf)
        case .lamp(let id, let leaf): topics.lamp(id, leaf)
        case .bridge(let id, let leaf): topics.bridge(id, leaf)
        case .cameraRequest(let request): topics.cameraRequest(request)
        case .request(let request): topics.request(request)
        case .response(let request): topics.response(to: request)
        }
    }

    @Test func `every topic is as the contract names it`() throws {
        let topics = try Topics()
        #expect(
            Self.allAddresses.map { topic($0, in: topics) } == [
                "handkit/camera/desk-1_x/toggle", "handkit/camera/desk-1_x/brightness", "handkit/camera/desk-1_x/state",
                "handkit/camera/desk-1_x/availability", "handkit/camera/desk-1_x/target", "handkit/camera/desk-1_x/fingers",
                "handkit/camera/desk-1_x/enabled", "handkit/camera/desk-1_x/enabled/set", "handkit/camera/desk-1_x/armed",
                "handkit/camera/desk-1_x/armed/set", "handkit/camera/desk-1_x/profile", "handkit/camera/desk-1_x/profile/set",
                "handkit/camera/desk-1_x/crash", "handkit/camera/desk-1_x/instance",
                "handkit/lamp/desk-1_x/state", "handkit/lamp/desk-1_x/set",
                "handkit/lamp/desk-1_x/availability", "handkit/bridge/desk-1_x/availability", "handkit/bridge/desk-1_x/state",
                "handkit/bridge/desk-1_x/crash", "handkit/bridge/desk-1_x/instance",
                "handkit/bridge/request/lamps", "handkit/bridge/request/identify", "handkit/bridge/request/refresh",
                "handkit/bridge/request/health", "handkit/bridge/response/lamps", "handkit/bridge/response/identify",
                "handkit/bridge/response/refresh", "handkit/bridge/response/health", "handkit/camera/request/refresh",
            ])
    }

    @Test(arguments: ["handkit", "home/first floor/handkit", "häuschen", "h\u{e4}/a\u{308}", "😀", "camera", "camera/x"])
    func `every topic is read back into its parts, whatever the base`(base: String) throws {
        let topics = try Topics(base: base)
        for address in Self.allAddresses { #expect(topics.address(of: topic(address, in: topics)) == address) }
    }

    @Test(
        arguments: [
            "", "handkit", "handkit/", "handkit/camera", "handkit/camera/x", "handkit/camera//toggle", "handkit/camera/x/",
            "handkit/camera/x/toggle/", "handkit/camera/x/toggle/set", "handkit/camera/x/enabled/", "handkit/camera/x/enabled/set/",
            "handkit/camera/X/toggle", "handkit/camera/+/toggle", "handkit/camera/x/Toggle", "handkit/lamp/x/toggle",
            "handkit/camera/x/set", "handkit/bridge/x/set", "handkit/cameras/x/toggle", "/handkit/camera/x/toggle",
            "handkit2/camera/x/toggle", "other/camera/x/toggle", "handkit//camera/x/toggle", "homeassistant/status", "$SYS/broker/uptime",
        ])
    func `a topic of anybody else is none of the contract's`(topic: String) throws {
        #expect(try Topics().address(of: topic) == nil)
    }

    @Test func `a base is refused for its own reason`() {
        #expect(throws: Topics.Fault.empty) { try Topics(base: "") }
        #expect(throws: Topics.Fault.tooLong(length: 129)) { try Topics(base: String(repeating: "b", count: 129)) }
        #expect(throws: Topics.Fault.tooLong(length: 130)) { try Topics(base: String(repeating: "é", count: 65)) }
        #expect(throws: Topics.Fault.reserved) { try Topics(base: "$SYS") }
        for base in ["/handkit", "handkit/", "home//handkit", "/"] {
            #expect(throws: Topics.Fault.emptyLevel) { try Topics(base: base) }
        }
    }

    @Test(arguments: ["+", "#", "\0", "\u{1}", "\n", "\t", "\u{1f}", "\u{7f}", "\u{80}", "\u{9f}"] as [Character])
    func `a base holds no wildcard and no control character, anywhere`(character: Character) {
        for base in ["\(character)", "home\(character)", "\(character)home", "a/\(character)/b"] {
            #expect(throws: Topics.Fault.illegal(character: character)) { try Topics(base: base) }
        }
    }

    @Test(arguments: ["+\u{301}", "#\u{fe0f}", "a\u{200d}+", "home\r\n", "#\u{20e3}"])
    func `a combining mark does not hide a wildcard or a control character`(base: String) {
        #expect(throws: Topics.Fault.self) { try Topics(base: base) }
    }

    @Test func `a combining mark does not hide an empty level or a reserved start`() {
        #expect(throws: Topics.Fault.reserved) { try Topics(base: "$\u{301}SYS") }
        #expect(throws: Topics.Fault.emptyLevel) { try Topics(base: "a//\u{301}b") }
    }

    @Test func `a base of 128 bytes is accepted`() throws {
        #expect(try Topics(base: String(repeating: "b", count: 128)).base.utf8.count == 128)
    }

    @Test func `random topics are either left alone or are the very topic that their parts make`() throws {
        var random = SeededGenerator(seed: 7)
        let topics = try Topics()
        let pieces = ["handkit", "camera", "lamp", "bridge", "x", "toggle", "state", "set", "enabled", "", "\u{301}", "+", "É", "/"]
        var known = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...6, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined(
                separator: "/")
            if let address = topics.address(of: text) {
                #expect(Array(topic(address, in: topics).utf8) == Array(text.utf8))
                known += 1
            }
        }
        #expect(known > 0)
    }
}
