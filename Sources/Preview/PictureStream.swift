internal import Glibc
internal import HTTPServer
internal import Imaging
internal import ServiceKit
internal import Synchronization

/// Pictures with their hands as a multipart stream (`multipart/x-mixed-replace`), which browsers and players show as it is.
///
/// Nothing is encoded unless somebody watches. Encoding happens on a thread of its own that yields to recognition, the newest picture first.
final class PictureStream: Sendable {
    static let contentType = "multipart/x-mixed-replace; boundary=frame"
    /// A picture is over for the reader when the boundary after it has come, so each brings its own.
    private static let boundary = Array("--frame\r\n".utf8)

    let broadcast: HTTPBroadcast
    private let mailbox = Mailbox<(image: ImageBuffer, moment: Moment)>()
    private let lastTime = Mutex(-Double.infinity)
    private let interval: Double
    private let encodedCount = Atomic(0)

    init(framesPerSecond: Double, watchers: Int) {
        broadcast = HTTPBroadcast(capacity: 1, limit: watchers)
        // A little less than the interval, so that 15 of 30 frames a second are every second one however they jitter.
        interval = 0.75 / framesPerSecond
    }

    var encoded: Int { encodedCount.load(ordering: .relaxed) }
    /// Pictures that came faster than they were encoded, and those that slow watchers did not get.
    var dropped: Int { mailbox.replacedCount + broadcast.droppedCount }

    /// Returns at once.
    func show(_ image: ImageBuffer, _ moment: Moment) {
        guard broadcast.isWatched else { return }
        let isDue = lastTime.withLock { last in
            guard moment.time < last || moment.time - last >= interval else { return false }
            last = moment.time
            return true
        }
        if isDue { mailbox.put((image, moment)) }
    }

    func join() -> HTTPStream? { broadcast.join(greeting: [Self.boundary]) }

    /// Encodes until it is cancelled.
    func run() async {
        let encoder = EncodingThread()
        while let (image, moment) = await mailbox.take() {
            guard broadcast.isWatched, let part = await encoder.part(image, moment) else { continue }
            encodedCount.add(1, ordering: .relaxed)
            broadcast.send(part)
        }
    }

    private actor EncodingThread {
        private let executor = ThreadExecutor(name: "preview")
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
        private var encoder = PictureEncoder()
        private var isNice = false

        func part(_ image: ImageBuffer, _ moment: Moment) -> [UInt8]? {
            if !isNice {
                // On Linux a niceness is a thread's own, and 0 names the calling one.
                setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
                isNice = true
            }
            guard let picture = encoder.encode(image) else { return nil }
            let overlay = json(OverlayMessage(moment, width: image.width, height: image.height))
            return Array("Content-Type: image/jpeg\r\nContent-Length: \(picture.count)\r\nX-Overlay: ".utf8) + overlay
                + Array("\r\n\r\n".utf8) + picture + Array("\r\n".utf8) + PictureStream.boundary
        }
    }
}
