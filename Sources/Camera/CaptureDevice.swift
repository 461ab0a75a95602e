import CV4L2
import Glibc
import Imaging

/// Owns a device that streams: its descriptor, its format and its mapped buffers.
///
/// Acquired whole or not at all; everything is given back when it goes.
struct CaptureDevice: ~Copyable {
    /// What the device agreed to.
    let mode: NegotiatedMode
    private let buffers: MappedBuffers

    /// A filled buffer, lent until it is given back.
    struct Filled {
        var index: UInt32
        var byteCount: Int
        /// The driver says that data are missing.
        var isDamaged: Bool
        /// Seconds.
        var stamp: Double
        var isMonotonic: Bool
        var sequence: UInt32
    }

    /// What became of the wishes for its controls.
    let controls: [ControlOutcome]

    /// Opens the device, agrees on a mode and starts streaming.
    ///
    /// - Parameters:
    ///   - camera: Which camera it has to be; nil for whichever it is.
    ///   - choosing: Is told the mode that will be asked for.
    init(
        path: String, camera: CameraIdentity?, request: CaptureRequest, experience: ModeExperience, choosing: (CaptureMode) -> Void
    ) throws(CameraError) {
        let device = try VideoDevice(path: path)
        let mode = try NegotiatedMode(device, camera: camera, request: request, experience: experience, choosing: choosing)
        let controls = device.apply(request.controls)
        let buffers = try MappedBuffers(device, count: 4)
        for index in 0..<buffers.count { try buffers.enqueue(UInt32(index)) }
        var type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        try buffers.device.control(cv4l2_streamon, &type, at: .startStreaming)
        (self.mode, self.controls) = (mode, controls)
        self.buffers = buffers
    }

    deinit {
        var type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        _ = cv4l2_ioctl(buffers.device.descriptor, cv4l2_streamoff, &type)
    }

    /// Waits until a buffer may be filled; false when the time is over.
    func wait(milliseconds: Int32) throws(CameraError) -> Bool {
        let result = cv4l2_wait(buffers.device.descriptor, milliseconds)
        if result < 0 { throw CameraError(errno: -result, path: buffers.device.path, at: .wait) }
        return result > 0
    }

    /// Takes the oldest filled buffer; `nil` if there is none.
    func dequeue() throws(CameraError) -> Filled? {
        var buffer = MappedBuffers.description()
        let result = cv4l2_ioctl(buffers.device.descriptor, cv4l2_dqbuf, &buffer)
        if result == -EAGAIN { return nil }
        if result < 0 { throw CameraError(errno: -result, path: buffers.device.path, at: .dequeue) }
        return Filled(
            index: buffer.index, byteCount: Int(buffer.bytesused), isDamaged: buffer.flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0,
            stamp: Double(buffer.timestamp.tv_sec) + Double(buffer.timestamp.tv_usec) / 1e6,
            isMonotonic: buffer.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK) == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC),
            sequence: buffer.sequence)
    }

    /// Lends the bytes of a filled buffer and then gives it back to the driver, whatever became of it.
    func consume<Result>(_ filled: Filled, _ body: (UnsafeRawBufferPointer) -> Result) throws(CameraError) -> Result {
        let result = body(buffers.bytes(of: filled))
        try buffers.enqueue(filled.index)
        return result
    }
}

/// What a device was brought to agree to.
struct NegotiatedMode: Hashable {
    let card: String
    let identity: CameraIdentity
    /// What it offers, and which of it was asked for.
    let offered: [CaptureMode]
    let chosen: CaptureMode
    let format: FourCC
    let width: Int
    let height: Int
    /// `nil` where the driver does not say.
    let framesPerSecond: Double?
    /// How to read the buffers; `nil` for JPEG.
    let raw: RawLayout?

    /// Asks the device for the mode that serves the request best and reads back what it grants.
    ///
    /// - Parameter choosing: Is told what will be asked for.
    fileprivate init(
        _ device: borrowing VideoDevice, camera: CameraIdentity?, request: CaptureRequest, experience: ModeExperience,
        choosing: (CaptureMode) -> Void
    ) throws(CameraError) {
        let capabilities = try device.capabilities()
        guard capabilities.capturesVideo, capabilities.streams else { throw .notACaptureDevice(path: device.path) }
        identity = device.identity(capabilities)
        // Between the search and now another may have taken the number.
        if let camera, camera != identity {
            throw .otherCamera(path: device.path, expected: camera.model, found: capabilities.card)
        }
        let modes = device.modes(sizes: [(request.width, request.height)])
        guard let chosen = request.choose(from: modes, after: experience) else {
            throw .noUsableFormat(device: device.path, offered: Set(modes.map(\.format.description)).sorted())
        }
        choosing(chosen)
        (offered, self.chosen) = (modes, chosen)
        var wanted = v4l2_format()
        wanted.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        wanted.fmt.pix.width = UInt32(clamping: chosen.width)
        wanted.fmt.pix.height = UInt32(clamping: chosen.height)
        wanted.fmt.pix.pixelformat = chosen.format.code
        wanted.fmt.pix.field = V4L2_FIELD_ANY.rawValue
        try device.control(cv4l2_s_fmt, &wanted, at: .setFormat)
        let granted = wanted.fmt.pix
        (card, format) = (capabilities.card, FourCC(code: granted.pixelformat))
        (width, height) = (Int(granted.width), Int(granted.height))
        raw = RawLayout(
            format: format, width: width, height: height, bytesPerLine: Int(granted.bytesperline), encoding: ColorEncoding(granted))
        guard raw != nil || format.isJPEG else { throw .noUsableFormat(device: device.path, offered: [format.description]) }
        framesPerSecond = try Self.setRate(device, request.framesPerSecond)
    }

    /// Asks for a rate and returns the one granted; a driver that has no rate to set keeps its own.
    private static func setRate(_ device: borrowing VideoDevice, _ rate: Double) throws(CameraError) -> Double? {
        var parameters = v4l2_streamparm()
        parameters.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        parameters.parm.capture.timeperframe = v4l2_fract(numerator: 1000, denominator: UInt32(max(1, rate * 1000)))
        do throws(CameraError) {
            try device.control(cv4l2_s_parm, &parameters, at: .setRate)
        } catch .device(_, _, let number) where number == ENOTTY || number == EINVAL {
            return nil
        }
        let granted = parameters.parm.capture.timeperframe
        return granted.numerator > 0 && granted.denominator > 0 ? Double(granted.denominator) / Double(granted.numerator) : nil
    }
}

/// Owns a device together with the buffers mapped from it, which go before it does.
private struct MappedBuffers: ~Copyable {
    let device: VideoDevice
    private let memory: [UnsafeRawBufferPointer]

    init(_ device: consuming VideoDevice, count: UInt32) throws(CameraError) {
        var request = v4l2_requestbuffers()
        (request.count, request.type, request.memory) = (count, V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue, V4L2_MEMORY_MMAP.rawValue)
        try device.control(cv4l2_reqbufs, &request, at: .requestBuffers)
        var memory: [UnsafeRawBufferPointer] = []
        do throws(CameraError) {
            for index in 0..<request.count { memory.append(try Self.map(device, index)) }
            if memory.isEmpty { throw CameraError.device(path: device.path, at: .requestBuffers, errno: ENOMEM) }
        } catch {
            Self.unmap(memory)
            throw error
        }
        self.device = device
        self.memory = memory
    }

    deinit { Self.unmap(memory) }

    var count: Int { memory.count }

    /// What is in a filled buffer, as far as it is ours.
    func bytes(of filled: CaptureDevice.Filled) -> UnsafeRawBufferPointer {
        guard filled.index < memory.count else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: memory[Int(filled.index)].prefix(filled.byteCount))
    }

    func enqueue(_ index: UInt32) throws(CameraError) {
        var buffer = Self.description(index)
        try device.control(cv4l2_qbuf, &buffer, at: .enqueue)
    }

    static func description(_ index: UInt32 = 0) -> v4l2_buffer {
        var buffer = v4l2_buffer()
        (buffer.index, buffer.type, buffer.memory) = (index, V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue, V4L2_MEMORY_MMAP.rawValue)
        return buffer
    }

    private static func map(_ device: borrowing VideoDevice, _ index: UInt32) throws(CameraError) -> UnsafeRawBufferPointer {
        var buffer = description(index)
        try device.control(cv4l2_querybuf, &buffer, at: .queryBuffer)
        var start: UnsafeMutableRawPointer?
        let result = cv4l2_map(device.descriptor, Int(buffer.length), buffer.m.offset, &start)
        if result < 0 { throw CameraError(errno: -result, path: device.path, at: .map) }
        return UnsafeRawBufferPointer(start: start, count: Int(buffer.length))
    }

    private static func unmap(_ memory: [UnsafeRawBufferPointer]) {
        for buffer in memory { cv4l2_unmap(UnsafeMutableRawPointer(mutating: buffer.baseAddress), buffer.count) }
    }
}
