import CV4L2
import Glibc

/// Owns an open V4L2 device and says what it is and offers.
struct VideoDevice: ~Copyable {
    let path: String
    let descriptor: Int32

    /// - Throws: What `open` means for this path, with the owning group where it was refused.
    init(path: String) throws(CameraError) {
        let result = cv4l2_open(path)
        if result < 0 { throw CameraError(errno: -result, path: path, at: .open, group: DeviceGroup(ofFile: path)) }
        (self.path, descriptor) = (path, result)
    }

    deinit { cv4l2_close(descriptor) }

    /// Performs an ioctl and classifies its failure.
    func control(_ request: UInt, _ argument: UnsafeMutableRawPointer, at operation: DeviceOperation) throws(CameraError) {
        let result = cv4l2_ioctl(descriptor, request, argument)
        if result < 0 { throw CameraError(errno: -result, path: path, at: operation) }
    }

    /// What the device says of itself.
    struct Capabilities: Hashable {
        var driver: String
        var card: String
        var bus: String
        /// Of this node, not of the whole device: a webcam's second node carries metadata only.
        var capturesVideo: Bool
        var streams: Bool
    }

    func capabilities() throws(CameraError) -> Capabilities {
        var answer = v4l2_capability()
        try control(cv4l2_querycap, &answer, at: .queryCapabilities)
        let flags = answer.capabilities & UInt32(V4L2_CAP_DEVICE_CAPS) != 0 ? answer.device_caps : answer.capabilities
        return Capabilities(
            driver: string(answer.driver), card: string(answer.card), bus: string(answer.bus_info),
            capturesVideo: flags & UInt32(V4L2_CAP_VIDEO_CAPTURE) != 0, streams: flags & UInt32(V4L2_CAP_STREAMING) != 0)
    }

    /// Which camera it is: what sysfs says of USB's, what the driver says of others.
    func identity(_ capabilities: Capabilities) -> CameraIdentity {
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFCHR {
            let node = "/sys/dev/char/\(cv4l2_major(UInt(status.st_rdev))):\(cv4l2_minor(UInt(status.st_rdev)))"
            if let identity = CameraIdentity(usbNode: node) { return identity }
        }
        return CameraIdentity(model: "\(capabilities.driver) \(capabilities.card)", port: capabilities.bus)
    }

    /// All modes with their rates; where a driver takes any size, those of `sizes` that it takes.
    func modes(sizes: [(width: Int, height: Int)]) -> [CaptureMode] {
        enumerate { index in
            var description = v4l2_fmtdesc()
            (description.index, description.type) = (index, V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue)
            return cv4l2_ioctl(descriptor, cv4l2_enum_fmt, &description) < 0 ? nil : description
        }.flatMap { description in
            self.sizes(of: description.pixelformat, among: sizes).map { size in
                CaptureMode(
                    format: FourCC(code: description.pixelformat), width: size.width, height: size.height,
                    rates: rates(of: description.pixelformat, width: size.width, height: size.height),
                    isEmulated: description.flags & UInt32(V4L2_FMT_FLAG_EMULATED) != 0)
            }
        }
    }

    private func sizes(of format: UInt32, among wished: [(width: Int, height: Int)]) -> [(width: Int, height: Int)] {
        let offered = enumerate { index in
            var size = v4l2_frmsizeenum()
            (size.index, size.pixel_format) = (index, format)
            return cv4l2_ioctl(descriptor, cv4l2_enum_framesizes, &size) < 0 ? nil : size
        }
        // A driver that lists no sizes decides when it is asked.
        guard let first = offered.first else { return wished }
        if first.type == V4L2_FRMSIZE_TYPE_DISCRETE.rawValue {
            return offered.map { (Int($0.discrete.width), Int($0.discrete.height)) }
        }
        let range = first.stepwise
        func fits(_ value: Int, _ low: UInt32, _ high: UInt32, _ step: UInt32) -> Bool {
            value >= Int(low) && value <= Int(high) && (value - Int(low)) % max(1, Int(step)) == 0
        }
        let fitting = wished.filter {
            fits($0.width, range.min_width, range.max_width, range.step_width)
                && fits($0.height, range.min_height, range.max_height, range.step_height)
        }
        return fitting.isEmpty ? [(Int(range.max_width), Int(range.max_height))] : fitting
    }

    private func rates(of format: UInt32, width: Int, height: Int) -> [Double] {
        enumerate { index in
            var interval = v4l2_frmivalenum()
            (interval.index, interval.pixel_format) = (index, format)
            (interval.width, interval.height) = (UInt32(clamping: width), UInt32(clamping: height))
            return cv4l2_ioctl(descriptor, cv4l2_enum_frameintervals, &interval) < 0 ? nil : interval
        }.compactMap { interval in
            // A range's shortest interval is its highest rate.
            let fraction = interval.type == V4L2_FRMIVAL_TYPE_DISCRETE.rawValue ? interval.discrete : interval.stepwise.min
            return fraction.numerator > 0 && fraction.denominator > 0 ? Double(fraction.denominator) / Double(fraction.numerator) : nil
        }
    }

    /// Asks for index after index until the driver has no more; bounded, because a broken driver has more for ever.
    private func enumerate<Item>(_ item: (UInt32) -> Item?) -> [Item] {
        var items: [Item] = []
        while items.count < 128, let next = item(UInt32(items.count)) { items.append(next) }
        return items
    }
}

/// The text in a C array of characters.
func string<Characters>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
