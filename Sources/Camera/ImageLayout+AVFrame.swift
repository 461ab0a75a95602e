import CFFmpeg
import Imaging

extension ImageLayout {
    /// The layout that holds a decoded frame as it is; `nil` for a pixel format that ``PixelFormat`` does not know.
    init?(_ frame: UnsafePointer<AVFrame>) {
        let (width, height) = (Int(frame.pointee.width), Int(frame.pointee.height))
        let pixels = AVPixelFormat(frame.pointee.format)
        guard width > 0, height > 0, let format = PixelFormat(pixels) else { return nil }
        let fullRange: Bool =
            switch pixels {
            // Formats whose name says so.
            case AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUVJ440P, AV_PIX_FMT_YUVJ411P: true
            case AV_PIX_FMT_RGB24: true
            default: frame.pointee.color_range == AVCOL_RANGE_JPEG
            }
        let bt709: Bool =
            switch frame.pointee.colorspace {
            case AVCOL_SPC_BT709, AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: true
            // Nothing said: players take BT.709 above the sizes of standard-definition television.
            case AVCOL_SPC_UNSPECIFIED: height > 576
            default: false
            }
        self.init(width: width, height: height, format: format, encoding: ColorEncoding(fullRange: fullRange, bt709: bt709))
    }

    /// Copies the frame's rows to their places.
    func copy(_ frame: UnsafePointer<AVFrame>, into memory: UnsafeMutableRawBufferPointer) {
        let (data, linesize) = (frame.pointee.data, frame.pointee.linesize)
        let sources = [(data.0, linesize.0), (data.1, linesize.1), (data.2, linesize.2)]
        for index in planes.indices {
            guard let source = sources[index].0 else { continue }
            copyPlane(index, from: source, stride: Int(sources[index].1), into: memory)
        }
    }
}

extension PixelFormat {
    init?(_ format: AVPixelFormat) {
        switch format {
        case AV_PIX_FMT_GRAY8: self = .gray
        case AV_PIX_FMT_RGB24: self = .rgb24
        case AV_PIX_FMT_YUYV422: self = .yuyv
        case AV_PIX_FMT_NV12: self = .nv12
        case AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P: self = .planar(horizontal: 2, vertical: 2)
        case AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUVJ422P: self = .planar(horizontal: 2, vertical: 1)
        case AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVJ444P: self = .planar(horizontal: 1, vertical: 1)
        case AV_PIX_FMT_YUV440P, AV_PIX_FMT_YUVJ440P: self = .planar(horizontal: 1, vertical: 2)
        case AV_PIX_FMT_YUV411P, AV_PIX_FMT_YUVJ411P: self = .planar(horizontal: 4, vertical: 1)
        case AV_PIX_FMT_YUV410P: self = .planar(horizontal: 4, vertical: 4)
        default: return nil
        }
    }
}
