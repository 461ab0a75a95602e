import CTurboJPEG
import Imaging

/// Decodes JPEG pictures to planes of luma and chroma, without converting colours.
struct JPEGDecoder: ~Copyable {
    private var handle: tjhandle

    /// An 8K picture; a header that asks for more is broken.
    private static let largestPicture = 7680 * 4320

    init() { handle = Self.newHandle() }

    deinit { tjDestroy(handle) }

    private static func newHandle() -> tjhandle {
        guard let handle = tjInitDecompress() else { fatalError("out of memory") }
        return handle
    }

    /// The picture, in memory of the pool; `nil` if the data are cut short, broken, or of no format that ``PixelFormat`` knows.
    ///
    /// What libjpeg warns of without losing picture, as stray bytes between segments, is accepted: many cameras send them.
    mutating func decode(_ bytes: UnsafeRawBufferPointer, pool: ImagePool) -> ImageBuffer? {
        guard let picture = Self.picture(in: bytes) else { return nil }
        if let image = decode(picture: picture, pool: pool) { return image }
        // TurboJPEG leaves a handle amid the header that it failed on, and from then on refuses good pictures too.
        tjDestroy(handle)
        handle = Self.newHandle()
        return nil
    }

    private func decode(picture: UnsafeRawBufferPointer, pool: ImagePool) -> ImageBuffer? {
        guard let start = picture.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
        let size = UInt(picture.count)
        var (width, height, subsampling, colorspace): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        guard tjDecompressHeader3(handle, start, size, &width, &height, &subsampling, &colorspace) == 0 || !isDamaged,
            let layout = Self.layout(width: Int(width), height: Int(height), subsampling: subsampling)
        else { return nil }
        var whole = false
        let image = pool.image(layout: layout) { memory in
            guard let base = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            var planes: [UnsafeMutablePointer<UInt8>?] = layout.planes.map { base + $0.offset }
            var strides = layout.planes.map { Int32($0.stride) }
            let code = tjDecompressToYUVPlanes(handle, start, size, &planes, width, &strides, height, 0)
            whole = code == 0 || !isDamaged
        }
        return whole ? image : nil
    }

    /// Whether the last failure lost picture.
    private var isDamaged: Bool {
        guard tjGetErrorCode(handle) == Int32(TJERR_WARNING.rawValue), let message = tjGetErrorStr2(handle) else { return true }
        let text = String(cString: message)
        // libjpeg's own, untranslated words (its jerror.h): data that end early, and codes that mean nothing.
        return text.contains("remature end") || text.contains("bad Huffman code")
    }

    /// The bytes from the marker that starts a picture to the one that ends it; cameras pad behind that.
    static func picture(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard bytes.count >= 4, bytes[0] == 0xFF, bytes[1] == 0xD8 else { return nil }
        var end = bytes.count
        while end >= 4 {
            if bytes[end - 1] == 0xD9, bytes[end - 2] == 0xFF { return UnsafeRawBufferPointer(rebasing: bytes[..<end]) }
            end -= 1
        }
        return nil
    }

    /// TurboJPEG writes rows rounded up to whole chroma samples, so a picture of odd width has a longer stride than its width.
    private static func layout(width: Int, height: Int, subsampling: Int32) -> ImageLayout? {
        guard width > 0, height > 0, width * height <= largestPicture else { return nil }
        let format: PixelFormat
        switch subsampling {
        case Int32(TJSAMP_GRAY.rawValue): format = .gray
        case Int32(TJSAMP_444.rawValue): format = .planar(horizontal: 1, vertical: 1)
        case Int32(TJSAMP_422.rawValue): format = .planar(horizontal: 2, vertical: 1)
        case Int32(TJSAMP_420.rawValue): format = .planar(horizontal: 2, vertical: 2)
        case Int32(TJSAMP_440.rawValue): format = .planar(horizontal: 1, vertical: 2)
        case Int32(TJSAMP_411.rawValue): format = .planar(horizontal: 4, vertical: 1)
        default: return nil
        }
        var layout = ImageLayout(width: width, height: height, format: format, encoding: .jpeg)
        layout.byteCount = 0
        for index in layout.planes.indices {
            let stride = Int(tjPlaneWidth(Int32(index), Int32(width), subsampling))
            layout.planes[index] = Plane(offset: layout.byteCount, stride: stride)
            layout.byteCount += stride * Int(tjPlaneHeight(Int32(index), Int32(height), subsampling))
        }
        return layout
    }
}
