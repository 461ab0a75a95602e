/// Why a source could not be opened or stopped delivering; facts only, the words for a person are the program's.
public enum CameraError: Error, Hashable, Sendable {
    /// The source's text is empty.
    case emptySource
    /// A URL whose scheme no source understands.
    case unsupportedScheme(String)
    /// An address of a camera in the network without a host. The text is left out, for it may hold a password.
    case badAddress
    /// `auto` found no device that captures video.
    case noCamera

    /// The path of a device does not exist.
    case noSuchDevice(path: String)
    /// The device may not be opened: by its file's mode (EACCES; its group is the one to join), or by a container's rule (EPERM).
    case permissionDenied(path: String, group: DeviceGroup?, errno: Int32)
    /// Another process holds the device (EBUSY), noticed at this operation; with those that have it open, as far as they can be seen.
    case busy(device: String, at: DeviceOperation, holders: [DeviceHolder])
    /// USB has no bandwidth left for this mode (ENOSPC): a smaller picture, a lower rate or another port helps.
    case noBandwidth(device: String, mode: CaptureMode?)
    /// The camera that was used is not there, and another that is has not been taken for it.
    case otherCamera(path: String, expected: String, found: String)
    /// Several cameras are what the name says.
    case ambiguousCamera(name: String, paths: [String])
    /// The device went away (ENODEV).
    case unplugged(device: String)
    /// The file is no device that captures video: a metadata node, an output, or no V4L2 device at all.
    case notACaptureDevice(path: String)
    /// The device offers no format that can be read, only these four-character codes.
    case noUsableFormat(device: String, offered: [String])
    /// No frame came for this long.
    case stalled(device: String, seconds: Double)
    /// The camera sends frames and none of them could be read for this long.
    case onlyBrokenFrames(device: String, frames: Int, seconds: Double)
    /// Any other failure of the device.
    case device(path: String, at: DeviceOperation, errno: Int32)

    /// A camera in the network cannot be reached or sends nothing that is a video.
    case unreachable(address: StreamAddress, reason: String)
    /// A camera in the network wants other credentials.
    case unauthorized(address: StreamAddress)
    /// A camera in the network ended its stream.
    case streamEnded(address: StreamAddress)

    /// The clip cannot be opened or read.
    case unreadableClip(path: String, errno: Int32)
    /// The file is empty, or holds no frame that can be decoded.
    case emptyClip(path: String)
    /// The file is no recording in a format known to libavformat.
    case notAClip(path: String, reason: String)
    /// The recording holds no video stream.
    case noVideo(path: String)
    /// libavcodec has no decoder for this codec.
    case unsupportedCodec(path: String, codec: String)
    /// The decoder's pixel format is none of those that are passed on (8 bits: planar YUV, gray, NV12, YUYV, RGB).
    case unsupportedPixelFormat(path: String, format: String)
    /// Reading or decoding failed after this many good frames.
    case damagedClip(path: String, deliveredFrames: Int, reason: String)
}

extension CameraError {
    /// No frame for a while: because none came, or because none that came could be read.
    static func silence(of device: String, seconds: Double, brokenFrames: Int) -> CameraError {
        brokenFrames > 0
            ? .onlyBrokenFrames(device: device, frames: brokenFrames, seconds: seconds) : .stalled(device: device, seconds: seconds)
    }
}

/// A program that has a device open.
public struct DeviceHolder: Hashable, Sendable, CustomStringConvertible {
    public var process: Int
    public var name: String

    public init(process: Int, name: String) {
        (self.process, self.name) = (process, name)
    }

    public var description: String { "\(name) (\(process))" }
}

/// The group that owns a device's file.
public struct DeviceGroup: Hashable, Sendable {
    /// Its number, which is what a container needs.
    public var id: UInt32
    /// Its name, where this system knows one.
    public var name: String?

    public init(id: UInt32, name: String?) {
        (self.id, self.name) = (id, name)
    }
}

/// The step at which a device failed.
public enum DeviceOperation: String, Hashable, Sendable, CaseIterable {
    case open
    case queryCapabilities = "VIDIOC_QUERYCAP"
    case setFormat = "VIDIOC_S_FMT"
    case setRate = "VIDIOC_S_PARM"
    case requestBuffers = "VIDIOC_REQBUFS"
    case queryBuffer = "VIDIOC_QUERYBUF"
    case setControl = "VIDIOC_S_CTRL"
    case map = "mmap"
    case enqueue = "VIDIOC_QBUF"
    case startStreaming = "VIDIOC_STREAMON"
    case wait = "poll"
    case dequeue = "VIDIOC_DQBUF"
}
