/// How the samples of a picture lie in memory.
public enum PixelFormat: Hashable, Sendable {
    /// One byte of luma a pixel.
    case gray
    /// R, G, B bytes.
    case rgb24
    /// Y0 U Y1 V: two pixels share their chroma (V4L2 `YUYV`).
    case yuyv
    /// A plane of Y, then a plane of interleaved U V at half width and height.
    case nv12
    /// Three planes Y, U, V; chroma divided by these factors (4:2:0 is 2, 2; 4:2:2 is 2, 1; 4:4:4 is 1, 1).
    case planar(horizontal: Int, vertical: Int)
}

/// The meaning of luma and chroma numbers.
public struct ColorEncoding: Hashable, Sendable {
    /// 0…255 (JPEG) instead of 16…235.
    public var fullRange: Bool
    /// ITU-R BT.709 instead of BT.601.
    public var bt709: Bool

    public init(fullRange: Bool, bt709: Bool = false) {
        (self.fullRange, self.bt709) = (fullRange, bt709)
    }

    /// What JPEG and most webcams mean.
    public static let jpeg = ColorEncoding(fullRange: true)
}

/// Where one plane lies in a buffer.
public struct Plane: Hashable, Sendable {
    /// Bytes from the buffer's start.
    public var offset: Int
    /// Bytes from one row to the next.
    public var stride: Int

    public init(offset: Int, stride: Int) {
        (self.offset, self.stride) = (offset, stride)
    }
}

/// Size, format and planes of a picture.
public struct ImageLayout: Hashable, Sendable {
    /// Pixels stored.
    public var width: Int
    public var height: Int
    /// Pixels of the picture as it was captured.
    public let capturedWidth: Int
    public let capturedHeight: Int
    /// How many captured pixels a stored one stands for in each direction; a JPEG can be decoded to 1, 2, 4 or 8.
    public let reduction: Int
    public var format: PixelFormat
    public var encoding: ColorEncoding
    public var planes: [Plane]
    public var byteCount: Int

    /// The tight layout of a picture of `width` × `height` pixels: rows follow each other without padding, planes too.
    ///
    /// - Precondition: width, height and reduction are positive.
    public init(width: Int, height: Int, format: PixelFormat, encoding: ColorEncoding = .jpeg, reduction: Int = 1) {
        precondition(width > 0 && height > 0 && reduction > 0, "a picture has at least one pixel")
        func rounded(_ length: Int, by divisor: Int) -> Int { (length + divisor - 1) / divisor }
        (capturedWidth, capturedHeight, self.reduction) = (width, height, reduction)
        let (width, height) = (rounded(width, by: reduction), rounded(height, by: reduction))
        (self.width, self.height, self.format, self.encoding) = (width, height, format, encoding)
        planes = []
        byteCount = 0
        let rows: [(stride: Int, count: Int)] =
            switch format {
            case .gray: [(width, height)]
            case .rgb24: [(width * 3, height)]
            case .yuyv: [(rounded(width, by: 2) * 4, height)]
            case .nv12: [(width, height), (rounded(width, by: 2) * 2, rounded(height, by: 2))]
            case .planar(let horizontal, let vertical):
                [(width, height)]
                    + Array(repeating: (rounded(width, by: horizontal), rounded(height, by: vertical)), count: 2)
            }
        for (stride, count) in rows {
            planes.append(Plane(offset: byteCount, stride: stride))
            byteCount += stride * count
        }
    }
}

/// One picture in memory of its own, written once and then only read.
///
/// An ``ImagePool`` fills it again when nobody else refers to it any more.
public final class ImageBuffer: @unchecked Sendable {
    public let layout: ImageLayout
    private let memory: UnsafeMutableRawBufferPointer

    /// A picture filled by `fill`, in freshly allocated memory.
    public convenience init(layout: ImageLayout, fill: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows {
        self.init(layout: layout)
        try self.fill(fill)
    }

    /// A picture that is yet to be filled.
    init(layout: ImageLayout) {
        self.layout = layout
        memory = UnsafeMutableRawBufferPointer.allocate(byteCount: layout.byteCount, alignment: 64)
    }

    deinit { memory.deallocate() }

    /// For the only owner.
    func fill(_ body: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows { try body(memory) }

    /// Pixels of the picture as it was captured, in which all places in it are given; ``layout`` may hold fewer.
    public var width: Int { layout.capturedWidth }
    public var height: Int { layout.capturedHeight }

    /// Lends the bytes; the pointer must not leave `body`.
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(memory))
    }
}

/// A picture and when it was captured.
public struct Frame: Sendable {
    public var image: ImageBuffer
    /// Seconds on the source's own steady clock (V4L2: CLOCK_MONOTONIC; a clip: time from its first frame). Never wall-clock time.
    public var time: Double
    /// Counts up by one a frame as the source numbers them; a gap is a frame lost before it reached us.
    public var sequence: UInt64

    public init(image: ImageBuffer, time: Double, sequence: UInt64) {
        (self.image, self.time, self.sequence) = (image, time, sequence)
    }
}
