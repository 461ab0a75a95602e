import Testing

@testable import Camera

struct CaptureRequestTests {
    private static func mode(_ format: FourCC, _ width: Int, _ height: Int, _ rates: Double..., emulated: Bool = false) -> CaptureMode {
        CaptureMode(format: format, width: width, height: height, rates: rates, isEmulated: emulated)
    }

    /// What a USB 2 webcam offers.
    static let webcam = [
        mode(.yuyv, 640, 480, 30, 15), mode(.yuyv, 1280, 720, 10, 5), mode(.mjpg, 640, 480, 30, 15), mode(.mjpg, 1280, 720, 30),
        mode(.yu12, 640, 480, 30, emulated: true), mode(.yu12, 1280, 720, 30, emulated: true),
    ]

    static let cases: [(name: String, request: CaptureRequest, modes: [CaptureMode], chosen: CaptureMode?)] = [
        ("uncompressed where it is fast enough", .init(), webcam, mode(.yuyv, 640, 480, 30, 15)),
        ("compressed where it is not", .init(width: 1280, height: 720), webcam, mode(.mjpg, 1280, 720, 30)),
        (
            "uncompressed where the wish is slow", .init(width: 1280, height: 720, framesPerSecond: 10), webcam,
            mode(.yuyv, 1280, 720, 10, 5)
        ),
        ("NV12 before YUYV", .init(), webcam + [mode(.nv12, 640, 480, 30)], mode(.nv12, 640, 480, 30)),
        ("29.97 serves who asks for 30", .init(), [mode(.mjpg, 640, 480, 30), mode(.yuyv, 640, 480, 29.97)], mode(.yuyv, 640, 480, 29.97)),
        ("the encoding that was asked for", .init(encoding: .mjpeg), webcam, mode(.mjpg, 640, 480, 30, 15)),
        ("no such encoding", .init(encoding: .nv12), webcam, nil),
        ("the nearest size", .init(width: 1920, height: 1080), webcam, mode(.mjpg, 1280, 720, 30)),
        ("size before rate", .init(), [mode(.mjpg, 1280, 720, 60), mode(.yuyv, 640, 480, 5)], mode(.yuyv, 640, 480, 5)),
        ("rates unsaid, small", .init(), [mode(.mjpg, 640, 480), mode(.yuyv, 640, 480)], mode(.yuyv, 640, 480)),
        (
            "rates unsaid, more than USB 2 carries", .init(width: 1280, height: 720), [mode(.yuyv, 1280, 720), mode(.mjpg, 1280, 720)],
            mode(.mjpg, 1280, 720)
        ),
        ("colour before gray", .init(), [mode(.grey, 640, 480, 30), mode(.yuyv, 640, 480, 15)], mode(.yuyv, 640, 480, 15)),
        ("gray where there is no colour", .init(), [mode(.grey, 640, 480, 30)], mode(.grey, 640, 480, 30)),
        (
            "converted where nothing else can be read", .init(), [mode("pRAA", 640, 480, 30), mode(.yu12, 640, 480, 30, emulated: true)],
            mode(.yu12, 640, 480, 30, emulated: true)
        ),
        ("nothing that can be read", .init(), [mode("H264", 640, 480, 30)], nil),
        ("nothing", .init(), [], nil),
    ]

    @Test(arguments: cases.indices) func `a request chooses its mode`(index: Int) {
        let (name, request, modes, chosen) = Self.cases[index]
        #expect(request.choose(from: modes) == chosen, "\(name)")
        #expect(request.choose(from: modes.reversed()) == chosen, "\(name), listed the other way round")
    }

    @Test func `a four-character code is V4L2's number`() {
        #expect(FourCC.mjpg.code == 0x4750_4A4D)
        #expect(FourCC(code: 0x5659_5559).description == "YUYV")
        #expect(FourCC(code: 0x5659_5559) == .yuyv)
    }
}
