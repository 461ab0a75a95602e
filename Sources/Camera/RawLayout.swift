import CV4L2
import Imaging

/// How a device's uncompressed frames lie in its buffers, and the layout they are copied to.
struct RawLayout: Hashable {
    /// Tight, ours.
    let layout: ImageLayout
    /// Where the planes lie in the device's buffer.
    let source: [Plane]
    /// Bytes of a whole frame in the device's buffer.
    let byteCount: Int

    /// `nil` for a format that is not uncompressed or not known, and for a row length that cannot hold a row.
    init?(format: FourCC, width: Int, height: Int, bytesPerLine: Int, encoding: ColorEncoding) {
        guard width > 0, height > 0 else { return nil }
        let pixels: PixelFormat
        switch format {
        case .yuyv: pixels = .yuyv
        case .nv12: pixels = .nv12
        case .yu12: pixels = .planar(horizontal: 2, vertical: 2)
        case .grey: pixels = .gray
        default: return nil
        }
        layout = ImageLayout(width: width, height: height, format: pixels, encoding: encoding)
        let first = bytesPerLine > 0 ? bytesPerLine : layout.planes[0].stride
        guard first >= layout.planes[0].stride else { return nil }
        var offset = 0
        var planes: [Plane] = []
        for index in layout.planes.indices {
            // V4L2: the chroma rows of YU12 are half as long as the luma rows with their padding; those of NV12 as long.
            let stride = index == 0 || format == .nv12 ? max(first, layout.planes[index].stride) : (first + 1) / 2
            planes.append(Plane(offset: offset, stride: stride))
            offset += stride * layout.rows(ofPlane: index)
        }
        source = planes
        byteCount = offset
    }

    /// A copy of the frame in the pool's memory; `nil` if it is cut short.
    func image(of bytes: UnsafeRawBufferPointer, pool: ImagePool) -> ImageBuffer? {
        guard bytes.count >= byteCount, let base = bytes.baseAddress else { return nil }
        return pool.image(layout: layout) { memory in
            for (index, plane) in source.enumerated() {
                layout.copyPlane(index, from: base + plane.offset, stride: plane.stride, into: memory)
            }
        }
    }
}

extension ColorEncoding {
    /// The meaning of an uncompressed format's numbers, by V4L2's rules for what a driver leaves at "default".
    init(_ format: v4l2_pix_format) {
        let isJPEG = format.colorspace == V4L2_COLORSPACE_JPEG.rawValue
        let fullRange =
            switch format.quantization {
            case V4L2_QUANTIZATION_FULL_RANGE.rawValue: true
            case V4L2_QUANTIZATION_LIM_RANGE.rawValue: false
            default: isJPEG
            }
        let bt709 =
            switch format.ycbcr_enc {
            case V4L2_YCBCR_ENC_DEFAULT.rawValue: format.colorspace == V4L2_COLORSPACE_REC709.rawValue
            default: format.ycbcr_enc == V4L2_YCBCR_ENC_709.rawValue
            }
        self.init(fullRange: fullRange, bt709: bt709)
    }
}

extension ImageLayout {
    func rows(ofPlane index: Int) -> Int {
        let end = index + 1 < planes.count ? planes[index + 1].offset : byteCount
        return (end - planes[index].offset) / planes[index].stride
    }

    /// Copies the rows of a plane to their places; `stride` is negative where they are stored bottom up.
    func copyPlane(_ index: Int, from source: UnsafeRawPointer, stride: Int, into memory: UnsafeMutableRawBufferPointer) {
        let plane = planes[index]
        let rows = rows(ofPlane: index)
        let target = UnsafeMutableRawBufferPointer(rebasing: memory[plane.offset...].prefix(rows * plane.stride))
        if stride == plane.stride {
            target.copyMemory(from: UnsafeRawBufferPointer(start: source, count: rows * stride))
            return
        }
        for row in 0..<rows {
            UnsafeMutableRawBufferPointer(rebasing: target[(row * plane.stride)...].prefix(plane.stride))
                .copyMemory(from: UnsafeRawBufferPointer(start: source + row * stride, count: plane.stride))
        }
    }
}
