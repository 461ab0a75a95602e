internal import CTurboJPEG
public import Imaging

/// Decodes JPEG pictures to planes of luma and chroma, as small as is wanted and without converting colours.
///
/// For one thread at a time; ``decode(_:reduction:pool:)`` allocates nothing while pictures of one kind come.
public struct JPEGDecoder: ~Copyable {
    private var handle: tjhandle
    /// That of the latest picture, which the next most likely has too.
    private var latest: (header: Header, reduction: Int, layout: ImageLayout)?

    /// An 8K picture; a header that asks for more is broken.
    private static let largestPicture = 7680 * 4320

    private struct Header: Equatable {
        var width: Int32 = 0
        var height: Int32 = 0
        var subsampling: Int32 = 0
    }

    public init() { handle = Self.newHandle() }

    deinit { tjDestroy(handle) }

    private static func newHandle() -> tjhandle {
        guard let handle = tjInitDecompress() else { fatalError("out of memory") }
        return handle
    }

    /// The picture, in memory of the pool; `nil` if the data are cut short, broken, or of no format that ``PixelFormat`` knows.
    ///
    /// What libjpeg warns of without losing picture, as stray bytes between segments, is accepted: many cameras send them.
    ///
    /// - Parameter reduction: 1, 2, 4 or 8: how many times smaller than captured it is decoded in each direction. The inverse cosine
    ///   transform then makes fewer pixels of each block; only the entropy coding is decoded whole.
    public mutating func decode(_ bytes: UnsafeRawBufferPointer, reduction: Int = 1, pool: ImagePool) -> ImageBuffer? {
        guard let picture = Self.picture(in: bytes) else { return nil }
        if let image = decode(picture: picture, reduction: reduction, pool: pool) { return image }
        // TurboJPEG leaves a handle amid the header that it failed on, and from then on refuses good pictures too.
        tjDestroy(handle)
        handle = Self.newHandle()
        return nil
    }

    private mutating func decode(picture: UnsafeRawBufferPointer, reduction: Int, pool: ImagePool) -> ImageBuffer? {
        guard let start = picture.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
        let size = UInt(picture.count)
        var header = Header()
        var colorspace: Int32 = 0
        guard tjDecompressHeader3(handle, start, size, &header.width, &header.height, &header.subsampling, &colorspace) == 0 || !isDamaged,
            let layout = layout(of: header, reduction: reduction)
        else { return nil }
        var whole = false
        let image = pool.image(layout: layout) { memory in
            guard let base = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            // Planes that a gray picture lacks are not looked at.
            func plane(_ index: Int) -> Plane { layout.planes[min(index, layout.planes.count - 1)] }
            var planes: [3 of UnsafeMutablePointer<UInt8>?] = .init { base + plane($0).offset }
            var strides: [3 of Int32] = .init { Int32(plane($0).stride) }
            let code = withUnsafeMutablePointer(to: &planes) { planes in
                withUnsafeMutablePointer(to: &strides) { strides in
                    tjDecompressToYUVPlanes(
                        handle, start, size, UnsafeMutableRawPointer(planes).assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self),
                        Int32(layout.width), UnsafeMutableRawPointer(strides).assumingMemoryBound(to: Int32.self), Int32(layout.height), 0)
                }
            }
            whole = code == 0 || !isDamaged
        }
        return whole ? image : nil
    }

    private mutating func layout(of header: Header, reduction: Int) -> ImageLayout? {
        if let latest, latest.header == header, latest.reduction == reduction { return latest.layout }
        guard let layout = Self.layout(header, reduction: reduction) else { return nil }
        latest = (header, reduction, layout)
        return layout
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
    private static func layout(_ header: Header, reduction: Int) -> ImageLayout? {
        let (width, height) = (Int(header.width), Int(header.height))
        guard width > 0, height > 0, width * height <= largestPicture else { return nil }
        let format: PixelFormat
        switch header.subsampling {
        case Int32(TJSAMP_GRAY.rawValue): format = .gray
        case Int32(TJSAMP_444.rawValue): format = .planar(horizontal: 1, vertical: 1)
        case Int32(TJSAMP_422.rawValue): format = .planar(horizontal: 2, vertical: 1)
        case Int32(TJSAMP_420.rawValue): format = .planar(horizontal: 2, vertical: 2)
        case Int32(TJSAMP_440.rawValue): format = .planar(horizontal: 1, vertical: 2)
        case Int32(TJSAMP_411.rawValue): format = .planar(horizontal: 4, vertical: 1)
        default: return nil
        }
        var layout = ImageLayout(width: width, height: height, format: format, encoding: .jpeg, reduction: reduction)
        layout.byteCount = 0
        for index in layout.planes.indices {
            let stride = Int(tjPlaneWidth(Int32(index), Int32(layout.width), header.subsampling))
            layout.planes[index] = Plane(offset: layout.byteCount, stride: stride)
            layout.byteCount += stride * Int(tjPlaneHeight(Int32(index), Int32(layout.height), header.subsampling))
        }
        return layout
    }
}
