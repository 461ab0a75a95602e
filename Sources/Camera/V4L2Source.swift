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
    private let demand: PictureDemand
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
    ///   - camera: Which camera it has to be; nil for whichever it is.
    ///   - experience: What its modes turned out to be so far.
    ///   - stallTimeout: Seconds without a frame after which ``nextFrame()`` throws ``CameraError/stalled(device:seconds:)``, or
    ///     ``CameraError/onlyBrokenFrames(device:frames:seconds:)`` if what came could not be read.
    ///   - pool: Where the frames' memory comes from.
    ///   - demand: How small Motion JPEG may be decoded.
    public init(
        path: String, camera: CameraIdentity? = nil, request: CaptureRequest = CaptureRequest(),
        experience: ModeExperience = ModeExperience(), stallTimeout: Double = 3, pool: ImagePool = ImagePool(),
        interruption: Interruption = Interruption(), demand: PictureDemand = PictureDemand()
    ) throws(CameraError) {
        (self.path, self.request, self.stallTimeout) = (path, request, stallTimeout)
        (self.pool, self.interruption, self.demand) = (pool, interruption, demand)
        var chosen: CaptureMode?
        do throws(CameraError) {
            device = try CaptureDevice(path: path, camera: camera, request: request, experience: experience) { chosen = $0 }
        } catch {
            throw error.explained(mode: chosen)
        }
        let mode = device.mode
        format = SourceFormat(
            path: path, name: mode.card, codec: mode.format.description, width: mode.width, height: mode.height,
            framesPerSecond: mode.framesPerSecond,
            camera: CameraFacts(identity: mode.identity, offered: mode.offered, chosen: mode.chosen, controls: device.controls))
    }

    public func nextFrame() throws(CameraError) -> Frame? {
        let start = steadyNow()
        let corruptBefore = counters.corrupt
        while !interruption.isInterrupted {
            if try device.wait(milliseconds: Self.waitSlice) {
                if let filled = try device.dequeue() {
                    if let frame = try frame(from: filled) { return frame }
                } else {
                    // Ready and yet empty: without a pause, a driver that says so for ever would take a whole core.
                    usleep(2_000)
                }
            }
            let waited = steadyNow() - start
            if waited >= stallTimeout { throw .silence(of: path, seconds: waited, brokenFrames: counters.corrupt - corruptBefore) }
        }
        return nil
    }

    /// The frame in a filled buffer; `nil` if it was skipped and counted.
    private func frame(from filled: CaptureDevice.Filled) throws(CameraError) -> Frame? {
        let number = sequence.number(of: filled.sequence)
        counters.missing = sequence.missing
        let verdict = clock.judge(stamp: filled.stamp, isMonotonic: filled.isMonotonic, arrival: steadyNow())
        let image = try device.consume(filled) { bytes -> ImageBuffer? in
            guard verdict != .duplicate, !filled.isDamaged else { return nil }
            return device.mode.raw.map { $0.image(of: bytes, pool: pool) } ?? jpeg.decode(bytes, reduction: demand.reduction, pool: pool)
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
}
