/// A format and size that a device offers, with the rates it promises there.
public struct CaptureMode: Hashable, Sendable {
    public var format: FourCC
    /// Pixels.
    public var width: Int
    /// Pixels.
    public var height: Int
    /// Frames a second; empty where the driver does not say.
    public var rates: [Double]
    /// Converted from another format by libv4lconvert, at a cost.
    public var isEmulated: Bool

    /// Whether pictures can be made of it.
    public var isReadable: Bool { format.isJPEG || format.isRaw }

    public init(format: FourCC, width: Int, height: Int, rates: [Double] = [], isEmulated: Bool = false) {
        (self.format, self.width, self.height, self.rates, self.isEmulated) = (format, width, height, rates, isEmulated)
    }
}

/// What is wished of a camera; it delivers what it can.
public struct CaptureRequest: Hashable, Sendable {
    /// Which coding of the frames is wished.
    public enum Encoding: String, Hashable, Sendable, CaseIterable {
        /// Uncompressed where it reaches the wished rate, else Motion JPEG.
        case auto
        case mjpeg, yuyv, nv12, grey
    }

    /// Pixels.
    public var width: Int
    /// Pixels.
    public var height: Int
    /// Frames a second.
    public var framesPerSecond: Double
    public var encoding: Encoding
    public var controls: [ControlWish]

    public init(
        width: Int = 640, height: Int = 480, framesPerSecond: Double = 30, encoding: Encoding = .auto, controls: [ControlWish] = []
    ) {
        (self.width, self.height, self.framesPerSecond) = (width, height, framesPerSecond)
        (self.encoding, self.controls) = (encoding, controls)
    }

    /// The mode that serves the request best: first the nearest size, there the first of these that applies.
    ///
    /// 1. an uncompressed format of the device's own that reaches the wished rate (NV12, YUYV, YU12: least memory first),
    /// 2. Motion JPEG, where it is faster,
    /// 3. the fastest uncompressed one, then gray, then one that libv4lconvert makes.
    ///
    /// - Parameter experience: What this camera was like so far, which counts more than what it promises.
    /// - Returns: `nil` if no mode has a format that can be read, or none of the wished encoding.
    public func choose(from modes: [CaptureMode], after experience: ModeExperience = ModeExperience()) -> CaptureMode? {
        let readable = modes.filter { admits($0.format) && $0.width > 0 && $0.height > 0 }
        let affordable = readable.filter { !experience.isTooMuch($0) }
        // Where nothing is left, the port may have more room by now.
        let admitted = affordable.isEmpty ? readable : affordable
        guard let nearest = admitted.map(distance).min() else { return nil }
        let candidates = admitted.filter { distance($0) == nearest }
        return candidates.min { preference($0, experience) < preference($1, experience) }
    }

    private func admits(_ format: FourCC) -> Bool {
        switch encoding {
        case .auto: format.isJPEG || format.isRaw
        case .mjpeg: format.isJPEG
        case .yuyv: format == .yuyv
        case .nv12: format == .nv12
        case .grey: format == .grey
        }
    }

    /// How far a mode's size is from the wished one; too small counts double, since pixels that are missing cannot be dropped.
    private func distance(_ mode: CaptureMode) -> Int {
        func part(_ actual: Int, _ wished: Int) -> Int { actual < wished ? 2 * (wished - actual) : actual - wished }
        return part(mode.width, width) + part(mode.height, height)
    }

    private func preference(_ mode: CaptureMode, _ experience: ModeExperience) -> (Int, Double, Int) {
        let rate = min(experience.achieved(mode) ?? reachableRate(mode), framesPerSecond)
        // 29.97 serves who asks for 30.
        let fastEnough = rate >= framesPerSecond * 0.99
        let order: [FourCC] = [.nv12, .yuyv, .yu12, .mjpg, .jpeg, .grey]
        let position = order.firstIndex(of: mode.format) ?? order.count
        let colour = mode.format != .grey || encoding == .grey
        return (mode.isEmulated ? 2 : colour ? 0 : 1, fastEnough ? -framesPerSecond : -rate, position)
    }

    /// The highest promised rate; where the driver promises nothing, what USB 2 can carry.
    private func reachableRate(_ mode: CaptureMode) -> Double {
        if let promised = mode.rates.max() { return promised }
        if mode.format.isJPEG { return framesPerSecond }
        // 24.5 MB/s is the most that USB 2 reserves for one isochronous stream (3 × 1,024 bytes in each of 8,000 microframes).
        let bytes = mode.format == .yuyv ? 2 * mode.width * mode.height : mode.width * mode.height * 3 / 2
        return 24.5e6 / Double(bytes)
    }
}

/// What one camera's modes turned out to be.
public struct ModeExperience: Hashable, Sendable {
    private struct Key: Hashable {
        var format: FourCC
        var width: Int
        var height: Int

        init(_ mode: CaptureMode) { (format, width, height) = (mode.format, mode.width, mode.height) }
    }

    private var rates: [Key: Double] = [:]
    private var tooMuch: Set<Key> = []

    public init() {}

    /// A mode delivered this many frames a second.
    public mutating func achieved(_ rate: Double, in mode: CaptureMode) { rates[Key(mode)] = rate }

    /// USB had no room for a mode.
    public mutating func noBandwidth(for mode: CaptureMode) { tooMuch.insert(Key(mode)) }

    func achieved(_ mode: CaptureMode) -> Double? { rates[Key(mode)] }

    /// A mode that USB had no room for, or a larger one of the same format, or what is made from such.
    func isTooMuch(_ mode: CaptureMode) -> Bool {
        tooMuch.contains { ($0.format == mode.format || mode.isEmulated) && mode.width * mode.height >= $0.width * $0.height }
    }
}

extension FourCC {
    var isJPEG: Bool { self == .mjpg || self == .jpeg }
    var isRaw: Bool { [.yuyv, .nv12, .yu12, .grey].contains(self) }
}
