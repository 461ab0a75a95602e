public import Imaging
import Synchronization

/// Something that yields pictures one after another: a camera or a recorded clip.
///
/// A source belongs to one thread at a time, which it blocks while it waits; give it a thread of its own, never one of the cooperative pool's.
public protocol FrameSource: AnyObject {
    /// What the source delivers, as negotiated, not as wished.
    var format: SourceFormat { get }

    /// What went wrong so far without ending the stream.
    var counters: SourceCounters { get }

    /// Blocks until the next picture.
    ///
    /// - Returns: `nil` at the end of a clip, and on any source soon (a tenth of a second for a camera) after its ``Interruption`` was raised.
    /// - Throws: What ended the stream; the source is of no use afterwards, except after ``CameraError/stalled(device:seconds:)`` and
    ///   ``CameraError/onlyBrokenFrames(device:frames:seconds:)``, when the next call waits anew.
    func nextFrame() throws(CameraError) -> Frame?
}

/// Facts about a source's stream.
public struct SourceFormat: Hashable, Sendable {
    /// The device path or clip path.
    public var path: String
    /// The camera's own name or the clip's container ("HD Pro Webcam C920", "avi").
    public var name: String
    /// The codec or four-character code of what is delivered before decoding ("mjpeg", "h264", "YUYV").
    public var codec: String
    /// Pixels.
    public var width: Int
    /// Pixels.
    public var height: Int
    /// Frames a second as promised by the driver or the container, where they promise anything.
    public var framesPerSecond: Double?
    /// Degrees (0, 90, 180 or 270) by which the picture must be turned clockwise to stand upright, from a clip's display matrix.
    ///
    /// Frames are delivered as stored.
    public var rotation: Int
    /// Of a V4L2 device.
    public var camera: CameraFacts?

    public init(
        path: String, name: String, codec: String, width: Int, height: Int, framesPerSecond: Double? = nil, rotation: Int = 0,
        camera: CameraFacts? = nil
    ) {
        (self.path, self.name, self.codec) = (path, name, codec)
        (self.width, self.height, self.framesPerSecond, self.rotation) = (width, height, framesPerSecond, rotation)
        self.camera = camera
    }
}

/// What opening a V4L2 device found out.
public struct CameraFacts: Hashable, Sendable {
    public var identity: CameraIdentity
    public var offered: [CaptureMode]
    /// The mode that was asked for; what was granted is in the ``SourceFormat``.
    public var chosen: CaptureMode
    public var controls: [ControlOutcome]

    public init(identity: CameraIdentity, offered: [CaptureMode], chosen: CaptureMode, controls: [ControlOutcome] = []) {
        (self.identity, self.offered, self.chosen, self.controls) = (identity, offered, chosen, controls)
    }
}

/// Frames of a source that were lost or mended.
public struct SourceCounters: Hashable, Sendable {
    /// Frames handed out.
    public var delivered = 0
    /// Frames skipped because their data were cut short or broken.
    public var corrupt = 0
    /// Frames dropped because a camera delivered the same moment twice.
    public var duplicates = 0
    /// Frames whose time was missing or ran backwards and was replaced.
    public var repairedTimes = 0
    /// Frames that the source numbered or announced but that never arrived: a camera's gaps in sequence, a clip shorter than its header says.
    public var missing = 0

    public init() {}
}

/// Ends a source's waiting from another thread.
public final class Interruption: Sendable {
    private let raised = Atomic(false)

    public init() {}

    /// Makes every source that was given this object return `nil` from its current and later calls.
    public func interrupt() { raised.store(true, ordering: .releasing) }

    /// Whether ``interrupt()`` was called.
    public var isInterrupted: Bool { raised.load(ordering: .acquiring) }
}

/// How small a picture its reader is content with, told to the source that decodes it.
public final class PictureDemand: Sendable {
    private let value = Atomic(1)

    public init() {}

    /// 1, 2, 4 or 8: how many times smaller than captured a picture may be in each direction. Counts from the next picture that is
    /// decoded, and only where decoding it smaller saves work: a camera's Motion JPEG.
    public var reduction: Int {
        get { value.load(ordering: .relaxed) }
        set { value.store(newValue, ordering: .relaxed) }
    }
}
