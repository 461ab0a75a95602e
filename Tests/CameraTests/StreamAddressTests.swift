import Testing

@testable import Camera

struct StreamAddressTests {
    @Test(arguments: [
        ("rtsp://camera/stream", "rtsp://camera/…"), ("RTSP://anna:hush@camera:554/hush?token=hush#hush", "rtsp://camera:554/…"),
        ("http://anna:hu@sh@10.0.0.7:8080/video.mjpg", "http://10.0.0.7:8080/…"), ("https://[fe80::1]:443?hush", "https://[fe80::1]:443/…"),
    ])
    func `an address shows its host and nothing else`(text: String, shown: String) throws {
        let address = try StreamAddress(text)
        #expect(address.url == text)
        var dumped = ""
        dump(SourceSpecification.stream(address), to: &dumped)
        for form in ["\(address)", String(reflecting: address), dumped, "\(CameraError.streamEnded(address: address))"] {
            #expect(form.contains(shown) && !form.contains("hu"))
        }
    }

    @Test func `credentials become part of the address, whatever is in them`() throws {
        let plain = try StreamAddress("rtsp://camera:554/a?b")
        #expect(plain.signed(username: "anna", password: "p:/@ü%").url == "rtsp://anna:p%3A%2F%40%C3%BC%25@camera:554/a?b")
        #expect(try StreamAddress("http://old:one@camera").signed(username: "a", password: "b").url == "http://a:b@camera")
        #expect("\(plain.signed(username: "anna", password: "hush"))" == "rtsp://camera:554/…")
    }
}

struct StreamClockTests {
    @Test func `a camera's own times are laid over the steady clock, whatever the network does`() {
        var clock = StreamClock()
        // Taken every 40 ms; they arrive in threes.
        let times = (0..<300).map { index in
            clock.time(presentation: 7 + 0.04 * Double(index), arrival: 1000 + 0.04 * Double((index / 3 + 1) * 3))
        }
        let steps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(steps.dropFirst(3).allSatisfy { abs($0 - 0.04) < 0.001 })
        #expect(times.enumerated().allSatisfy { $1 <= 1000 + 0.04 * Double(($0 / 3 + 1) * 3) + 0.001 })
    }

    @Test func `frames without times are taken as they come, and a clock that was set anew is followed`() {
        var clock = StreamClock()
        let frames: [(presentation: Double?, arrival: Double)] = [
            (nil, 10), (500, 10.04), (500.04, 10.09), (3, 10.12), (3.04, 10.17), (3.04, 10.2),
        ]
        let times = frames.map { clock.time(presentation: $0.presentation, arrival: $0.arrival) }
        for (time, expected) in zip(times, [10, 10.04, 10.08, 10.12, 10.16, 10.16]) { #expect(abs(time - expected) < 0.001) }
        // Never back, never twice.
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }
}
