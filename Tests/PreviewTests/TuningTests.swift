import Contract
import FoundationEssentials
import Gestures
import HTTPServer
import ServiceKit
import Settings
import Synchronization
import TestSupport
import Testing

@testable import Preview

/// The page's requests, without a socket.
struct TuningTests {
    private final class Recognizer: Sendable {
        let settings = Mutex<GestureSettings?>(nil)
        let isEnabled = Mutex<Bool?>(nil)

        var control: Preview.Control {
            .init(apply: { [self] new in settings.withLock { $0 = new } }, enable: { [self] on in isEnabled.withLock { $0 = on } })
        }
    }

    private func preview(folder: String = "/nonexistent", token: String? = nil) -> Preview {
        var settings = Settings()
        settings.profiles = GestureProfiles(folder: folder)
        settings.preview.http.token = token.map { Secret($0) }
        return Preview(settings: settings, metrics: Metrics(), version: "1")
    }

    private func post(_ path: String, _ body: String, type: String = "application/json") -> HTTPRequest {
        HTTPRequest(method: "POST", path: path, headers: [.init("Content-Type", type)], body: Array(body.utf8))
    }

    private func text(_ response: HTTPResponse) -> String {
        guard case .bytes(let bytes) = response.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `a change is applied at once, as a whole`() {
        let (preview, recognizer) = (preview(), Recognizer())
        preview.connect(recognizer.control)
        let response = preview.respond(to: post("/settings", #"{"pinch.close":0.2,"slide.direction":"reversed","pinch.dwell_ms":70}"#))
        #expect(response.status == 200)
        let applied = recognizer.settings.withLock { $0 }
        #expect(applied?.pinch.close == 0.2 && applied?.slide.direction == .reversed && applied?.pinch.dwell == 0.07)
    }

    @Test(arguments: [
        #"{"pinch.close":9}"#, #"{"pinch.close":0.2,"pinch.open":0.1}"#, #"{"pinch.shut":1}"#, #"{"hands.choice":"both"}"#,
        #"{"hands.maximum":1.5}"#, #"{"pinch.close":"0.2"}"#,
    ])
    func `a change of which anything is wrong changes nothing and names the key`(body: String) {
        let (preview, recognizer) = (preview(), Recognizer())
        preview.connect(recognizer.control)
        let response = preview.respond(to: post("/settings", body))
        #expect(response.status == 422)
        #expect(text(response).contains(#"{"problems":[{"expected":"#))
        #expect(recognizer.settings.withLock { $0 } == nil)
    }

    @Test(arguments: ["", "[]", "{", #"{"pinch.close":null}"#, #"{"pinch.close":[1]}"#, "\u{0}"])
    func `a body that is no such JSON is refused`(body: String) {
        let preview = preview()
        preview.connect(Recognizer().control)
        #expect(preview.respond(to: post("/settings", body)).status == 400)
    }

    @Test func `what a form of another page could send is refused`() {
        let preview = preview()
        preview.connect(Recognizer().control)
        #expect(preview.respond(to: post("/settings", "{}", type: "text/plain")).status == 415)
        #expect(preview.respond(to: post("/settings", "{}", type: "application/x-www-form-urlencoded")).status == 415)
    }

    @Test func `a profile is saved, listed and used, and a bad name goes nowhere`() throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        let (preview, recognizer) = (preview(folder: folder), Recognizer())
        preview.connect(recognizer.control)
        _ = preview.respond(to: post("/settings", #"{"pinch.close":0.21}"#))
        #expect(preview.respond(to: post("/profiles", #"{"name":"anna"}"#)).status == 200)
        _ = preview.respond(to: post("/settings/reset", "{}"))
        #expect(recognizer.settings.withLock { $0?.pinch.close } == GestureSettings().pinch.close)
        #expect(preview.respond(to: post("/profiles/use", #"{"name":"anna"}"#)).status == 200)
        #expect(recognizer.settings.withLock { $0?.pinch.close } == 0.21)
        let form = text(preview.respond(to: HTTPRequest(method: "GET", path: "/settings")))
        #expect(form.contains(#""profiles":["anna","default","handkit"]"#) && form.contains(#""profile":"anna""#))
        for name in ["", "../anna", "a/b", "Anna", ".."] {
            #expect(preview.respond(to: post("/profiles", #"{"name":"\#(name)"}"#)).status == 422, "\(name)")
        }
        #expect(preview.respond(to: post("/profiles/use", #"{"name":"bob"}"#)).status == 422)
    }

    @Test func `the button pauses and goes on`() {
        let (preview, recognizer) = (preview(), Recognizer())
        #expect(preview.respond(to: post("/enabled", #"{"enabled":false}"#)).status == 503)
        preview.connect(recognizer.control)
        #expect(preview.respond(to: post("/enabled", #"{"enabled":false}"#)).status == 204)
        #expect(recognizer.isEnabled.withLock { $0 } == false)
    }

    @Test func `a token in the address moves to a cookie that only this page gets`() throws {
        let response = preview(token: "long-enough").respond(
            to: HTTPRequest(method: "GET", path: "/", query: [.init("token", "long-enough")]))
        #expect(response.status == 303)
        let cookie = try #require(response.headers.first { $0.name == "Set-Cookie" }?.value)
        #expect(cookie.hasPrefix("handkit_token=long-enough;") && cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
    }

    @Test func `every file of the page is there and may load nothing from elsewhere`() throws {
        let preview = preview()
        let page = text(preview.respond(to: HTTPRequest(method: "GET", path: "/")))
        for path in ["/page.css", "/page.js", "/picture.js", "/plot.js", "/tuning.js", "/icon.svg"] {
            let response = preview.respond(to: HTTPRequest(method: "GET", path: path))
            #expect(response.status == 200 && !text(response).isEmpty)
            #expect(response.headers.contains { $0.name == "Content-Security-Policy" && $0.value.hasPrefix("default-src 'none'") })
        }
        #expect(!page.contains("http://") && !page.contains("https://") && !page.contains("style="))
        #expect(preview.respond(to: HTTPRequest(method: "GET", path: "/../handkit.yaml")).status == 404)
        #expect(preview.respond(to: HTTPRequest(method: "DELETE", path: "/")).status == 405)
    }
}
