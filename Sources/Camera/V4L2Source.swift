import Glibc
public import Imaging

/// A camera that streams through V4L2.
///
/// Motion JPEG is decoded straight from the driver's buffer into memory of the pool; uncompressed frames are copied there once. Broken frames
/// are skipped and counted, and every buffer goes back to the driver.
public final class V4L2Source: FrameSource {
    /// What was wished; compare ``format``.
    public let request: CaptureRequest
    public let format: SourceFormat
    public private(set) var counters = SourceCounters()

    private let path: String
    private let stallTimeout: Double
    private let pool: ImagePool
    private let interruption: Interruption
    private let device: CaptureDevice
    private var jpeg = JPEGDecoder()
    private var clock = DeviceClock()
    private var sequence = DeviceSequence()

    /// How soon an interruption is noticed.
    private static let waitSlice: Int32 = 100

    /// Opens the device, agrees on a mode and starts streaming.
    ///
    /// - Parameters:
    ///   - path: A device (`/dev/video0`) or a link to one (`/dev/v4l/by-id/…`).
    ///   - stallTimeout: Seconds without a frame after which ``nextFrame()`` throws ``CameraError/stalled(device:seconds:)``.
    ///   - pool: Where the frames' memory comes from.
    public init(
        path: String, request: CaptureRequest = CaptureRequest(), stallTimeout: Double = 3, pool: ImagePool = ImagePool(),
        interruption: Interruption = Interruption()
    ) throws(CameraError) {
        (self.path, self.request, self.stallTimeout) = (path, request, stallTimeout)
        (self.pool, self.interruption) = (pool, interruption)
        device = try CaptureDevice(path: path, request: request)
        let mode = device.mode
        format = SourceFormat(
            path: path, name: mode.card, codec: mode.format.description, width: mode.width, height: mode.height,
            framesPerSecond: mode.framesPerSecond)
    }

    public func nextFrame() throws(CameraError) -> Frame? {
        let start = Self.now()
        while !interruption.isInterrupted {
            if try device.wait(milliseconds: Self.waitSlice) {
                if let filled = try device.dequeue() {
                    if let frame = try frame(from: filled) { return frame }
                } else {
                    // Ready and yet empty: without a pause, a driver that says so for ever would take a whole core.
                    usleep(2_000)
                }
            }
            let waited = Self.now() - start
            if waited >= stallTimeout { throw .stalled(device: path, seconds: waited) }
        }
        return nil
    }

    /// The frame in a filled buffer; `nil` if it was skipped and counted.
    private func frame(from filled: CaptureDevice.Filled) throws(CameraError) -> Frame? {
        let number = sequence.number(of: filled.sequence)
        counters.missing = sequence.missing
        let verdict = clock.judge(stamp: filled.stamp, isMonotonic: filled.isMonotonic, arrival: Self.now())
        let image = try device.consume(filled) { bytes -> ImageBuffer? in
            guard verdict != .duplicate, !filled.isDamaged else { return nil }
            return device.mode.raw.map { $0.image(of: bytes, pool: pool) } ?? jpeg.decode(bytes, pool: pool)
        }
        guard case .use(let time, let repaired) = verdict else {
            counters.duplicates += 1
            return nil
        }
        guard let image else {
            counters.corrupt += 1
            return nil
        }
        if repaired { counters.repairedTimes += 1 }
        counters.delivered += 1
        return Frame(image: image, time: time, sequence: number)
    }

    /// Seconds of CLOCK_MONOTONIC, the clock of the driver's timestamps.
    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
