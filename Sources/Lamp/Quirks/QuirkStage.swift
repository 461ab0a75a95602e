import Cryptography
import HomeKit

/// Apple's manners with quirks: the one place where they are applied to what a controller sees of a connection.
struct QuirkStage: AccessoryManners {
    let quirks: Quirks
    let traits: AccessoryTraits

    private var requests: [AccessoryServer.Connection: Int] = [:]
    private var verifiedRequests: [AccessoryServer.Connection: Int] = [:]
    /// Whether the request at hand has written Brightness.
    private var isDimming = false
    private var isOff = true
    private var held: [AccessoryServer.Connection: AccessoryResponse] = [:]

    init(_ quirks: Quirks) {
        self.quirks = quirks
        var traits = AccessoryTraits()
        if let interval = quirks.milliseconds(.eventInterval) { traits.eventInterval = interval }
        if let limit = quirks.integer(.sessions) { (traits.connectionLimit, traits.refusesBeyondLimit) = (limit, true) }
        if let reading = quirks[.leadingZeros] { traits.leadingZeros = reading == "apple" ? .stripped : .asSent }
        if quirks.has(.zeroSalt) { traits.salt = [UInt8](repeating: 0, count: 16) }
        if let limit = quirks.integer(.idleClose) { traits.idleLimit = .seconds(limit) }
        traits.echoesEvents = quirks.has(.eventEcho)
        traits.wantsWholeRequests = quirks.has(.onePiece)
        traits.segment = quirks.integer(.segment)
        traits.subscriptionLimit = quirks.integer(.eventsMax)
        traits.brightnessStep = quirks.integer(.dimmerStep) ?? 1
        self.traits = traits
    }

    mutating func answer(_ occasion: AccessoryOccasion) -> AccessoryResponse? {
        guard let request = occasion.request else { return nil }
        requests[occasion.connection, default: 0] += 1
        isDimming = false
        if occasion.isVerified { verifiedRequests[occasion.connection, default: 0] += 1 }
        if quirks.has(.strictRequests), !isStrict(request) { return .status(400) }
        if request.path == "/pair-setup", let refusal = quirks[.pairSetup] {
            let codes: [String: UInt8] = ["unknown": 1, "backoff": 3, "max-peers": 4, "max-tries": 5, "paired": 6, "busy": 7]
            return codes[refusal].map { .pairingError(state: 2, code: $0) } ?? .status(Int(refusal) ?? 503)
        }
        if let limit = quirks.integer(.bare470), verifiedRequests[occasion.connection] ?? 0 > limit {
            return .bare(470)
        }
        if quirks.has(.noEvents), request.method == "PUT", request.text.contains("\"ev\":true") { return .status(400) }
        if quirks.has(.ignoresTrue), request.method == "PUT", request.text.contains("\"value\":true") { return .status(204) }
        return nil
    }

    mutating func settle(_ change: BulbChange, _ state: BulbState) -> BulbOutcome {
        var change = change
        isDimming = isDimming || change.brightness != nil
        if quirks.has(.zeroIsFull), change.brightness == 0, change.on == true { change.brightness = 100 }
        var outcome = BulbOutcome(change.applied(to: state))
        if let how = quirks[.brightnessNeedsOn], change.brightness != nil, change.on != true || how == "alone", !state.on {
            outcome.state.brightness = state.brightness
            if how != "ignored" { outcome.brightnessStatus = .notAllowedInCurrentState }
        }
        if let delay = quirks.milliseconds(.jumpBack), change.brightness != nil, change.on == true, state.on {
            outcome.later = (delay, BulbChange(brightness: 100))
        }
        isOff = !outcome.state.on
        return outcome
    }

    mutating func deliver(_ response: AccessoryResponse, _ occasion: AccessoryOccasion) -> [AccessoryDelivery] {
        guard let request = occasion.request else { return [.send(written(response, occasion))] }
        if quirks.has(.unpairingHangsUp), request.path == "/pairings" { return [.close] }
        let count = requests[occasion.connection] ?? 0
        if let limit = quirks.integer(.muteAfter), count > limit { return [] }
        if let limit = quirks.integer(.dropAfter), count > limit { return [.close] }
        var answer = response
        if quirks.has(.staleAnswers), occasion.isVerified {
            guard let former = held.updateValue(response, forKey: occasion.connection) else { return [] }
            answer = former
        }
        var deliveries: [AccessoryDelivery] = []
        if let delay = quirks.milliseconds(.delay) { deliveries.append(.pause(delay)) }
        if let lag = quirks.milliseconds(.dimmerLag), isDimming { deliveries.append(.pause(lag)) }
        deliveries.append(.send(written(answer, occasion)))
        return deliveries + (quirks.integer(.closeAfter) == count ? [.close] : [])
    }

    mutating func closed(_ connection: AccessoryServer.Connection) {
        requests[connection] = nil
        verifiedRequests[connection] = nil
        held[connection] = nil
    }

    // MARK: How it is written

    private func written(_ response: AccessoryResponse, _ occasion: AccessoryOccasion) -> AccessoryResponse {
        var response = response
        if quirks.has(.noState) { response = response.withoutState }
        if let status = quirks.integer(.refusalStatus), response.isPairingError { response.status = status }
        if response.content == .json, !response.body.isEmpty {
            let text = String(decoding: response.body, as: UTF8.self)
            response.body = Array(misspelt(silenced(misjudged(text), occasion), occasion).utf8)
        }
        if let framing = quirks[.framing], response.framing != .none {
            response.framing = framing == "chunked" && !response.body.isEmpty ? .chunked : .contentLength
        }
        response.hasLowerCaseHeaders = quirks.has(.lowerCaseHeaders)
        // Not after pairing messages: what follows the last of them in the clear would pass for an encrypted frame.
        if quirks.has(.newlineAfterBody), response.content == .json, !response.body.isEmpty { response.tail = [0x0D, 0x0A] }
        return response
    }

    private func silenced(_ text: String, _ occasion: AccessoryOccasion) -> String {
        guard quirks.has(.silentWhileOff), isOff, occasion.request?.path == "/characteristics", occasion.request?.method == "GET" else {
            return text
        }
        // The instance number of Brightness, where no other quirk changes it.
        return text.replacing(/"iid":52,"value":[0-9]+/, with: "\"iid\":52,\"value\":null")
    }

    private func misjudged(_ text: String) -> String {
        guard let how = quirks[.status], let status = text.firstRange(of: "\"status\":-") else { return text }
        switch how {
        case "positive": return text.replacing("\"status\":-", with: "\"status\":")
        case "true": return text.replacing("\"characteristics\":[", with: "\"characteristics\":[true,")
        case "top-level": return "{" + text[status.lowerBound...].prefix { $0 != "}" && $0 != "," } + "}"
        default:
            var rest = text[...]
            var kept = ""
            while let place = rest.firstRange(of: ",\"status\":") {
                kept += rest[..<place.lowerBound]
                rest = rest[place.upperBound...].drop { $0 == "-" || $0.isNumber }
            }
            return kept + rest
        }
    }

    private func misspelt(_ text: String, _ occasion: AccessoryOccasion) -> String {
        switch quirks[.badJSON] {
        case "comma": text.replacing("}]}", with: "},],}")
        case "garbage": "{\"characteristics\":[{\"aid\":1,\"iid\":\u{0}\(text.count)"
        case "early" where ["meta", "perms", "type", "ev"].contains { occasion.request?.query[$0] == "1" }:
            text.replacing(",\"value\":", with: "},\"value\":")
        default: text
        }
    }

    // MARK: Strictness

    private func isStrict(_ request: AccessoryRequest) -> Bool {
        guard let host = request.header("host"), !host.contains(" ") else { return false }
        let hasPort = host.hasPrefix("[") ? !host.hasSuffix("]") : host.contains(":")
        let names = request.headers.map { $0.name.lowercased() }
        let wanted = request.body.isEmpty ? ["host"] : ["host", "content-length", "content-type"]
        let isTight = request.header("content-type") != AccessoryResponse.Content.json.rawValue || !request.text.contains(" ")
        return !hasPort && (names == wanted || (request.body.isEmpty && names == ["host", "content-length", "content-type"])) && isTight
    }
}

extension AccessoryRequest {
    fileprivate var text: String { String(decoding: body, as: UTF8.self) }
}
