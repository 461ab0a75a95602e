import Camera
import FoundationEssentials
import Gestures
import Imaging
import Recognizer
import Settings
import TestSupport
import Testing

/// What a person meant in a clip.
private struct Label: Decodable {
    var events: [Event]
    var brightness: [Slide]

    struct Event: Decodable {
        var t: Double
    }

    struct Slide: Decodable {
        var t_start: Double
        var t_end: Double
        var dx: Double
    }

    init(_ name: String) throws {
        self = try JSONDecoder().decode(Label.self, from: Data(contentsOf: URL(filePath: "\(Paths.root)/Tests/Clips/\(name).json")))
    }
}

/// What the real models and gestures made of a clip of the repository.
private struct Recognised {
    var toggles: [Double] = []
    /// Of each slide when it began and ended, and how far the brightness went.
    var slides: [(began: Double, ended: Double, from: Double, to: Double)] = []
    var last = 50.0

    /// - Parameters:
    ///   - path: Of the clip, where it is not among the tests' own.
    ///   - step: Only every so many frames of the clip are shown.
    ///   - isDoubled: Each is shown twice, the second time half a frame later.
    init(_ name: String, settings: Settings? = nil, path: String? = nil, step: Int = 1, isDoubled: Bool = false) throws {
        var settings = settings ?? Settings()
        settings.camera.models = settings.camera.models ?? "\(Paths.prefix)/models"
        var recognition = try Recognition(settings: settings, startBrightness: 50)
        let source = UprightSource(
            try ClipSource(path: path ?? "\(Paths.root)/Tests/Clips/\(name).avi"), rotation: Rotation(degrees: settings.camera.rotation))
        var (number, time) = (0, 0.0)
        while let frame = try source.nextFrame() {
            defer { number += 1 }
            guard number.isMultiple(of: step) else { continue }
            time = frame.time
            take(try recognition.observe(frame))
            guard isDoubled else { continue }
            time += 1.0 / 60
            take(try recognition.observe(Frame(image: frame.image, time: time, sequence: frame.sequence)))
        }
        take(recognition.interrupt(at: time))
    }

    private mutating func take(_ observation: Recognition.Observation) {
        for event in observation.events {
            switch event {
            case .toggle: toggles.append(observation.time)
            case .brightness(let value, .began, _): slides.append((observation.time, .infinity, last, value))
            case .brightness(let value, _, _): (slides[slides.count - 1].ended, slides[slides.count - 1].to) = (observation.time, value)
            }
            if case .brightness(let value, _, _) = event { last = value }
        }
    }
}

struct ClipRecognitionTests {
    @Test(arguments: ["pinch_hold_release_pinch", "lost_while_pinched"])
    func `every pinch of a clip toggles once, within a quarter of a second`(name: String) throws {
        let (label, recognised) = (try Label(name), try Recognised(name))
        #expect(recognised.toggles.count == label.events.count)
        for (time, event) in zip(recognised.toggles, label.events) { #expect(abs(time - event.t) <= 0.25) }
    }

    @Test func `every slide of a clip moves the brightness the right way by its length, and back`() throws {
        let (label, recognised) = (try Label("slide_return"), try Recognised("slide_return"))
        #expect(recognised.toggles.isEmpty)
        #expect(recognised.slides.count == label.brightness.count)
        for (slide, wanted) in zip(recognised.slides, label.brightness) {
            #expect(slide.began > wanted.t_start - 0.25 && slide.began < wanted.t_end)
            // The camera is no mirror: falling x brightens.
            let way = slide.to - slide.from
            #expect(abs(way + 100 * wanted.dx) < 3)
        }
        #expect(abs(recognised.last - 50) < 2)
    }

    @Test(
        arguments: ["pinch_hold_release_pinch", "lost_while_pinched", "slide_return", "fist_negative"], [1, 2, 3])
    func `a clip gives the same events at 60, 15 and 10 frames a second as at 30`(name: String, step: Int) throws {
        let reference = try Recognised(name)
        let other = try Recognised(name, step: step, isDoubled: step == 1)
        #expect(other.toggles.count == reference.toggles.count)
        // A frame more or less, and the dwell in whole frames.
        for (time, wanted) in zip(other.toggles, reference.toggles) { #expect(abs(time - wanted) <= 0.12) }
        #expect(other.slides.count == reference.slides.count)
        for (slide, wanted) in zip(other.slides, reference.slides) { #expect(abs(slide.to - wanted.to) < 2) }
        #expect(abs(other.last - reference.last) < 2)
    }

    @Test(arguments: ["fist_negative", "empty_room"])
    func `a clip without a gesture gives no event`(name: String) throws {
        let recognised = try Recognised(name)
        #expect(recognised.toggles.isEmpty && recognised.slides.isEmpty)
    }

    @Test func `a mirror turns the slides round`() throws {
        var settings = Settings()
        settings.camera.isMirrored = true
        let recognised = try Recognised("slide_return", settings: settings)
        let first = try #require(recognised.slides.first)
        #expect(first.to > first.from + 15)
    }
}

/// The same clips as a camera that hangs askew would have recorded them.
@Suite(.enabled(if: Paths.installed("ffmpeg") != nil, "turning a clip takes the program ffmpeg"))
struct TurnedClipTests {
    /// Records a clip turned counterclockwise, so that `rotation` stands it upright.
    private static func turned(_ name: String, by rotation: Int, in folder: String) async throws -> String {
        let path = "\(folder)/turned.avi"
        let filter = [90: "transpose=cclock", 180: "hflip,vflip", 270: "transpose=clock"][rotation] ?? "null"
        let process = try ChildProcess(
            "ffmpeg",
            ["-v", "error", "-y", "-i", "\(Paths.root)/Tests/Clips/\(name).avi", "-vf", filter, "-c:v", "mjpeg", "-q:v", "2", path])
        try #require(await process.wait(within: .seconds(120)) == .exited(0), "\(process.errorLines)")
        return path
    }

    @Test(arguments: [90, 180, 270])
    func `slides of a turned camera go the right way, and pinches are seen`(rotation: Int) async throws {
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        var settings = Settings()
        settings.camera.rotation = rotation
        let (slides, pinches) = (try Label("slide_return"), try Label("pinch_hold_release_pinch"))
        let slid = try Recognised("slide_return", settings: settings, path: try await Self.turned("slide_return", by: rotation, in: folder))
        #expect(slid.slides.count == slides.brightness.count && slid.toggles.isEmpty)
        for (slide, wanted) in zip(slid.slides, slides.brightness) { #expect(abs(slide.to - slide.from + 100 * wanted.dx) < 4) }
        let path = try await Self.turned("pinch_hold_release_pinch", by: rotation, in: folder)
        let pinched = try Recognised("pinch_hold_release_pinch", settings: settings, path: path)
        #expect(pinched.toggles.count == pinches.events.count && pinched.slides.isEmpty)
    }
}
