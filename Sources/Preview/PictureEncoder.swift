internal import CTurboJPEG
internal import Imaging

/// Encodes pictures as JPEG from the planes they come in, without a detour over RGB.
struct PictureEncoder: ~Copyable {
    private let handle: tjhandle
    /// Planes made anew where those of the picture cannot be used as they are.
    private var scratch: [UInt8] = []

    /// JPEG's own scale; 75 is libjpeg's default and hard to tell from the original at the size of a page.
    private static let quality: Int32 = 75

    init() {
        guard let handle = tjInitCompress() else { fatalError("out of memory") }
        self.handle = handle
    }

    deinit { tjDestroy(handle) }

    /// The picture as a JPEG file; nil only where libjpeg is out of memory.
    ///
    /// BT.709 is shown as the BT.601 that JPEG means: colours shift a little.
    mutating func encode(_ image: ImageBuffer) -> [UInt8]? {
        let layout = image.layout
        return image.withBytes { bytes -> [UInt8]? in
            guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return nil }
            if layout.format == .rgb24 {
                return compress {
                    tjCompress2(
                        $0, base, Int32(layout.width), Int32(layout.planes[0].stride), Int32(layout.height),
                        Int32(TJPF_RGB.rawValue), $1, $2, Int32(TJSAMP_420.rawValue), Self.quality, 0)
                }
            }
            if layout.encoding.fullRange, let subsampling = Self.subsampling(of: layout.format) {
                return compress(
                    planes: layout.planes.map { base + $0.offset }, strides: layout.planes.map { Int32($0.stride) }, layout, subsampling)
            }
            let planes = YUVPlanes(layout)
            scratch.removeAll(keepingCapacity: true)
            planes.write(bytes, to: &scratch)
            return scratch.withUnsafeBufferPointer { scratch -> [UInt8]? in
                guard let base = scratch.baseAddress else { return nil }
                return compress(
                    planes: planes.offsets.map { base + $0 }, strides: planes.strides.map(Int32.init), layout, planes.subsampling)
            }
        }
    }

    private func compress(planes: [UnsafePointer<UInt8>], strides: [Int32], _ layout: ImageLayout, _ subsampling: Int32) -> [UInt8]? {
        var planes = planes.map(Optional.some)
        return compress {
            tjCompressFromYUVPlanes(
                $0, &planes, Int32(layout.width), strides, Int32(layout.height), subsampling, $1, $2, Self.quality, 0)
        }
    }

    private func compress(
        _ body: (tjhandle, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<UInt>) -> Int32
    ) -> [UInt8]? {
        var (buffer, size): (UnsafeMutablePointer<UInt8>?, UInt) = (nil, 0)
        defer { tjFree(buffer) }
        guard body(handle, &buffer, &size) == 0, let buffer else { return nil }
        return Array(UnsafeBufferPointer(start: buffer, count: Int(size)))
    }

    private static func subsampling(of format: PixelFormat) -> Int32? {
        let value =
            switch format {
            case .gray: TJSAMP_GRAY
            case .planar(1, 1): TJSAMP_444
            case .planar(2, 1): TJSAMP_422
            case .planar(2, 2): TJSAMP_420
            case .planar(1, 2): TJSAMP_440
            case .planar(4, 1): TJSAMP_411
            default: nil as TJSAMP?
            }
        return value.map { Int32($0.rawValue) }
    }
}

/// Planes of a picture in full range and with chroma of half the width and height, or none where it is gray.
private struct YUVPlanes {
    let layout: ImageLayout
    let offsets: [Int]
    let strides: [Int]
    var subsampling: Int32 { Int32((layout.format == .gray ? TJSAMP_GRAY : TJSAMP_420).rawValue) }

    init(_ layout: ImageLayout) {
        self.layout = layout
        let (width, height) = ((layout.width + 1) / 2, (layout.height + 1) / 2)
        // libjpeg reads luma rows up to whole chroma samples.
        let luma = 2 * width * 2 * height
        offsets = layout.format == .gray ? [0] : [0, luma, luma + width * height]
        strides = layout.format == .gray ? [2 * width] : [2 * width, width, width]
    }

    func write(_ bytes: UnsafeRawBufferPointer, to planes: inout [UInt8]) {
        let (width, height) = ((layout.width + 1) / 2, (layout.height + 1) / 2)
        let (luma, chroma) = (Self.table(offset: 16, span: 219, layout), Self.table(offset: 16, span: 224, layout))
        for y in 0..<2 * height {
            for x in 0..<2 * width {
                planes.append(luma[Int(bytes[sample(0, min(x, layout.width - 1), min(y, layout.height - 1))])])
            }
        }
        guard layout.format != .gray else { return }
        for component in 1...2 {
            for y in 0..<height {
                for x in 0..<width { planes.append(chroma[Int(bytes[sample(component, 2 * x, 2 * y)])]) }
            }
        }
    }

    /// Where the sample of a component for a pixel lies: 0 is Y, 1 U, 2 V.
    private func sample(_ component: Int, _ x: Int, _ y: Int) -> Int {
        let plane = layout.planes[min(component, layout.planes.count - 1)]
        return switch layout.format {
        case .yuyv where component == 0: plane.offset + y * plane.stride + 2 * x
        case .yuyv: plane.offset + y * plane.stride + 4 * (x / 2) + (component == 1 ? 1 : 3)
        case .nv12 where component > 0: plane.offset + (y / 2) * plane.stride + 2 * (x / 2) + component - 1
        case .planar(let horizontal, let vertical) where component > 0:
            plane.offset + (y / vertical) * plane.stride + x / horizontal
        default: plane.offset + y * plane.stride + x
        }
    }

    /// From the picture's range of numbers to JPEG's.
    private static func table(offset: Double, span: Double, _ layout: ImageLayout) -> [UInt8] {
        (0...255).map { value in
            layout.encoding.fullRange ? UInt8(value) : UInt8(min(max((Double(value) - offset) * 255 / span, 0), 255).rounded())
        }
    }
}
