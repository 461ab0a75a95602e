public import Contract
internal import FoundationEssentials
public import Gestures
public import HTTPServer
public import Imaging
public import ServiceKit
public import Settings
internal import Synchronization

/// The page that shows what the recognizer sees and does, and lets a person tune it.
///
/// Whoever recognises tells it what happened; each of these calls returns at once, and costs next to nothing while nobody watches.
public final class Preview: Service {
    /// What the page may do to the recognizer; called on the server's thread, and must return at once.
    public struct Control: Sendable {
        public var apply: @Sendable (GestureSettings) -> Void
        public var enable: @Sendable (Bool) -> Void
        /// A profile was saved or chosen; its settings are applied as well.
        public var choose: @Sendable (Identifier) -> Void

        public init(
            apply: @escaping @Sendable (GestureSettings) -> Void, enable: @escaping @Sendable (Bool) -> Void,
            choose: @escaping @Sendable (Identifier) -> Void = { _ in }
        ) {
            (self.apply, self.enable, self.choose) = (apply, enable, choose)
        }
    }

    /// Most browsers that may watch at a time; each takes two of the server's connections.
    static let watchers = 12

    private static let remembered = 40

    private struct State {
        var status: StatusMessage
        var target: TargetMessage?
        /// The latest events, for who begins to watch.
        var published: [PublishedMessage] = []
        var control: Control?
    }

    private let state: Mutex<State>
    private let pictures: PictureStream
    /// A second of frames, so that a watcher that stumbles misses none of its plot.
    private let events = HTTPBroadcast(capacity: 64, limit: Preview.watchers)
    private let tuning: Tuning
    private let token: String?

    public init(settings: Settings, metrics: Metrics, version: String) {
        let status = StatusMessage(
            camera: settings.camera.id.rawValue, version: version, brokerTrouble: "not connected yet", cameraTrouble: "not opened yet",
            mirrored: settings.camera.isMirrored)
        state = Mutex(State(status: status))
        pictures = PictureStream(framesPerSecond: settings.preview.framesPerSecond, watchers: Self.watchers)
        tuning = Tuning(settings.gestures, profile: settings.profile?.rawValue, profiles: settings.profiles)
        token = settings.preview.http.token?.revealed
        for (stream, broadcast) in [("picture", pictures.broadcast), ("events", events)] {
            metrics.gauge("handkit_preview_watchers", "Clients that watch a stream of the page.", ["stream": stream]) {
                Double(broadcast.watcherCount)
            }
        }
        metrics.counter("handkit_preview_pictures_total", "Pictures encoded for watchers.") { [pictures] in Double(pictures.encoded) }
        metrics.counter("handkit_preview_pictures_dropped_total", "Pictures that encoding or watchers were too slow for.") { [pictures] in
            Double(pictures.dropped)
        }
    }

    /// Gives the page hold of the recognizer; until then it only shows.
    public func connect(_ control: Control) { state.withLock { $0.control = control } }

    /// Somebody chose a profile elsewhere.
    public func chosen(_ profile: Identifier, _ settings: GestureSettings) {
        tuning.adopt(settings, profile: profile)
        events.send(event("settings", tuning.form.values))
    }

    /// Encodes pictures for those who watch, until it is cancelled or asked to end.
    public func run() async throws {
        try await cancelledByShutdown { await self.pictures.run() }
    }

    // MARK: What happens

    /// Whether somebody watches the picture itself now.
    public var isPictureWatched: Bool { pictures.broadcast.isWatched }

    public func saw(_ image: ImageBuffer, _ moment: Moment) {
        pictures.show(image, moment)
        if events.isWatched { events.send(event("frame", FrameMessage(moment))) }
    }

    public func published(topic: String, payload: [UInt8], sent: Bool) {
        let message = PublishedMessage(topic: topic, payload: String(decoding: payload, as: UTF8.self), sent: sent)
        state.withLock { state in
            if state.published.count == Self.remembered { state.published.removeFirst() }
            state.published.append(message)
        }
        if events.isWatched { events.send(event("published", message)) }
    }

    public func lampIs(_ target: Target) {
        let message = TargetMessage(on: target.on, brightness: target.brightness)
        state.withLock { $0.target = message }
        events.send(event("target", message))
    }

    public func enabled(_ isEnabled: Bool) { change { $0.enabled = isEnabled } }

    /// - Parameter trouble: Nil when connected.
    public func broker(trouble: String?) { change { $0.brokerTrouble = trouble } }

    public func cameraOpened(source: String, rotation: Int) {
        change { ($0.cameraTrouble, $0.source, $0.rotation) = (nil, source, rotation) }
    }

    public func cameraClosed(trouble: String) { change { $0.cameraTrouble = trouble } }

    private func change(_ body: (inout StatusMessage) -> Void) {
        let changed = state.withLock { state -> StatusMessage? in
            let before = state.status
            body(&state.status)
            return state.status == before ? nil : state.status
        }
        if let changed { events.send(event("status", changed)) }
    }

    // MARK: HTTP

    /// Answers every path of the page; on the server's thread.
    public func respond(to request: HTTPRequest) -> HTTPResponse {
        switch (request.method, request.path) {
        case ("GET", "/"), ("HEAD", "/"):
            // The token goes from the address bar, where it would be seen and kept in the history, to a cookie.
            guard request.query.contains(where: { $0.name == "token" }) else { return PageFile.index.response }
            let response = HTTPResponse(status: 303, headers: [.init("Location", "/")])
            guard let token else { return response }
            return response.with("Set-Cookie", "\(HTTPAccess.cookie)=\(token); Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000")
        case ("GET", "/stream.mjpg"):
            return pictures.join().map { .stream($0, type: PictureStream.contentType) } ?? Self.full
        case ("GET", "/events"):
            return events.join(greeting: greeting).map { .stream($0, type: "text/event-stream") } ?? Self.full
        case ("GET", "/settings"):
            return answer(tuning.form)
        case ("POST", _):
            return change(request)
        case ("GET", let path), ("HEAD", let path):
            return PageFile(path: path)?.response ?? .text("there is no such page", status: 404)
        default:
            return .text("only GET and POST", status: 405).with("Allow", "GET, HEAD, POST")
        }
    }

    private static let full = HTTPResponse.text("too many browsers watch", status: 503)

    private var greeting: [[UInt8]] {
        let state = state.withLock { $0 }
        return [event("status", state.status)] + (state.target.map { [event("target", $0)] } ?? [])
            + state.published.map { event("earlier", $0) }
    }

    private func answer(_ value: some Encodable, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, type: "application/json", json(value))
    }

    // MARK: Changes

    private struct Name: Decodable {
        var name: String
    }

    private struct Enabled: Decodable {
        var enabled: Bool
    }

    private struct Problems: Encodable {
        var problems: [Tuning.Problem]
    }

    private func change(_ request: HTTPRequest) -> HTTPResponse {
        guard request.value(of: "Content-Type")?.hasPrefix("application/json") == true else {
            return .text("the body has to be application/json", status: 415)
        }
        guard let control = state.withLock({ $0.control }) else { return .text("the recognizer is still starting", status: 503) }
        switch request.path {
        case "/settings":
            guard let values = decode([String: Tuning.Scalar].self, request) else { return Self.unreadable }
            let problems = tuning.change(values)
            guard problems.isEmpty else { return answer(Problems(problems: problems), status: 422) }
            return applied(control)
        case "/settings/reset":
            tuning.reset()
            return applied(control)
        case "/profiles", "/profiles/use":
            guard let name = decode(Name.self, request)?.name else { return Self.unreadable }
            guard let id = try? Identifier(name) else {
                let problem = Tuning.Problem(key: "name", expected: "1 to 64 of the characters a-z, 0-9, _ and -")
                return answer(Problems(problems: [problem]), status: 422)
            }
            do {
                if request.path == "/profiles" { try tuning.save(as: id) } else { try tuning.use(id) }
            } catch {
                return answer(Problems(problems: [.init(key: "name", expected: FailureReport.line(for: error))]), status: 422)
            }
            control.choose(id)
            return applied(control)
        case "/enabled":
            guard let wish = decode(Enabled.self, request) else { return Self.unreadable }
            control.enable(wish.enabled)
            return HTTPResponse(status: 204)
        default:
            return .text("there is no such page", status: 404)
        }
    }

    private static let unreadable = HTTPResponse.text("the body is not the JSON that is wanted here", status: 400)

    private func applied(_ control: Control) -> HTTPResponse {
        control.apply(tuning.settings)
        let form = tuning.form
        events.send(event("settings", form.values))
        return answer(form)
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ request: HTTPRequest) -> Value? {
        try? JSONDecoder().decode(type, from: Data(request.body))
    }
}
