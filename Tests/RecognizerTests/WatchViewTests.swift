import Contract
import Testing

@testable import Recognizer

struct WatchViewTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func view() throws -> WatchView {
        var view = WatchView(camera: try Identifier("desk"))
        view.brokerTrouble = nil
        return view
    }

    private let toggle = #"{"event_type":"toggle","id":"a-1","ts":"2026-11-30T15:39:47.123Z","hand":"right","confidence":0.97,"v":1}"#

    private func step(_ value: Double, _ phase: String) -> String {
        #"{"value":\#(value),"phase":"\#(phase)","displacement":0.1,"id":"a-2","ts":"2026-11-30T15:39:47.123Z","v":1}"#
    }

    @Test func `events and changes are lines, the rest is not`() throws {
        var view = try view()
        #expect(view.received(.availability, bytes("online"), at: "10:00:00") == "10:00:00  online")
        #expect(view.received(.availability, bytes("online"), at: "10:00:01") == nil)
        #expect(view.received(.toggle, bytes(toggle), at: "10:00:02") == "10:00:02  toggle      right hand, 97 % sure")
        #expect(view.received(.brightness, bytes(step(57.3, "began")), at: "10:00:03") == "10:00:03  brightness  57 % began")
        let state = #"{"brightness":57,"hand":true,"pinch":"open","fps":29.9,"armed":true,"arming":1}"#
        #expect(view.received(.state, bytes(state), at: "10:00:04") == "10:00:04  state       open, 29.9 frames/s")
        #expect(view.received(.state, bytes(state), at: "10:00:05") == nil)
        #expect(view.received(.target, bytes(#"{"on":false,"brightness":40}"#), at: "10:00:06") == "10:00:06  lamp        off")
    }

    @Test func `the steps of a slide take one line on the screen`() throws {
        var view = try view()
        _ = view.received(.toggle, bytes(toggle), at: "10:00:00")
        for (value, phase) in [(50.0, "began"), (55, "changed"), (60, "changed"), (61, "ended")] {
            _ = view.received(.brightness, bytes(step(value, phase)), at: "10:00:01")
        }
        let lines = view.screen(width: 80)
        #expect(lines.filter { $0.contains("brightness  ") && $0.contains("10:00:01") } == ["10:00:01  brightness  61 % ended"])
    }

    @Test func `the screen is always as high, never wider than the terminal, and rubbish cannot steer it`() throws {
        var view = try view()
        let height = view.screen(width: 80).count
        for leaf in Topics.CameraLeaf.allCases {
            for text in ["", "\u{1B}[2J", "{}", "[", String(repeating: "x", count: 9000)] {
                _ = view.received(leaf, bytes(text), at: "10:00:00")
            }
        }
        let state = #"{"brightness":57,"hand":true,"pinch":"open","fps":29.9,"armed":true,"arming":1,"problem":"\u001b[2J gone"}"#
        _ = view.received(.state, bytes(state), at: "10:00:00")
        for _ in 0..<30 { _ = view.received(.toggle, bytes(toggle), at: "10:00:00") }
        for width in [20, 80] {
            let lines = view.screen(width: width)
            #expect(lines.count == height)
            #expect(lines.allSatisfy { $0.count <= width && !$0.contains("\u{1B}") })
        }
    }
}
