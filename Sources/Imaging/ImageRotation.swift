/// How far a picture must be turned clockwise to stand upright.
public enum Rotation: Int, Hashable, Sendable, CaseIterable {
    case none = 0
    case quarter = 90
    case half = 180
    case threeQuarters = 270

    /// The nearest quarter of any number of degrees.
    public init(degrees: Int) { self = Self.allCases[((degrees + 45) % 360 + 360) % 360 / 90] }

    /// One turn after another.
    public static func + (first: Rotation, second: Rotation) -> Rotation { Rotation(degrees: first.rawValue + second.rawValue) }

    /// Width and height change places.
    public var isSideways: Bool { self == .quarter || self == .threeQuarters }
}

extension ImageBuffer {
    /// A copy that is turned clockwise, in memory of the pool; the picture itself where there is nothing to turn.
    ///
    /// Keeps the format as far as there is one for the turned picture: what shares its chroma from left to right shares it from top to
    /// bottom then, and YUYV becomes planes.
    public func turned(_ rotation: Rotation, pool: ImagePool) -> ImageBuffer {
        if rotation == .none { return self }
        let (width, height) = rotation.isSideways ? (self.height, self.width) : (self.width, self.height)
        let target = ImageLayout(
            width: width, height: height, format: turnedFormat(rotation), encoding: layout.encoding, reduction: layout.reduction)
        let parts = self.parts
        return withBytes { source in
            pool.image(layout: target) { memory in
                guard let source = source.baseAddress, let memory = memory.baseAddress else { return }
                for (part, plane) in zip(parts, target.planes) {
                    part.turn(rotation, from: source, to: memory + plane.offset)
                }
            }
        }
    }

    private func turnedFormat(_ rotation: Rotation) -> PixelFormat {
        switch layout.format {
        case .gray, .rgb24, .nv12: layout.format
        case .yuyv: rotation.isSideways ? .planar(horizontal: 1, vertical: 2) : .planar(horizontal: 2, vertical: 1)
        case .planar(let horizontal, let vertical):
            rotation.isSideways ? .planar(horizontal: vertical, vertical: horizontal) : layout.format
        }
    }

    /// What each plane of the turned picture is made of.
    private var parts: [Samples] {
        let (width, height, planes) = (layout.width, layout.height, layout.planes)
        func samples(_ plane: Int, at offset: Int = 0, _ width: Int, _ height: Int, size: Int = 1, step: Int = 1) -> Samples {
            Samples(
                offset: planes[plane].offset + offset, stride: planes[plane].stride, width: width, height: height, size: size, step: step)
        }
        switch layout.format {
        case .gray: return [samples(0, width, height)]
        case .rgb24: return [samples(0, width, height, size: 3, step: 3)]
        case .nv12: return [samples(0, width, height), samples(1, (width + 1) / 2, (height + 1) / 2, size: 2, step: 2)]
        case .yuyv:
            let half = (width + 1) / 2
            return [samples(0, width, height, step: 2), samples(0, at: 1, half, height, step: 4), samples(0, at: 3, half, height, step: 4)]
        case .planar(let horizontal, let vertical):
            let (columns, rows) = ((width + horizontal - 1) / horizontal, (height + vertical - 1) / vertical)
            return [samples(0, width, height), samples(1, columns, rows), samples(2, columns, rows)]
        }
    }
}

/// A grid of samples that are turned together.
private struct Samples {
    /// Bytes from the picture's start to the first, and from row to row.
    var offset: Int
    var stride: Int
    var width: Int
    var height: Int
    /// Bytes of one, and from one to the next.
    var size: Int
    var step: Int

    /// Writes the turned grid, rows without padding.
    func turn(_ rotation: Rotation, from picture: UnsafeRawPointer, to target: UnsafeMutableRawPointer) {
        let first = picture + offset
        let (bottom, right) = ((height - 1) * stride, (width - 1) * step)
        switch rotation {
        case .none: copy(first, rows: height, every: stride, columns: width, every: step, to: target)
        case .quarter: copy(first + bottom, rows: width, every: step, columns: height, every: -stride, to: target)
        case .half: copy(first + bottom + right, rows: height, every: -stride, columns: width, every: -step, to: target)
        case .threeQuarters: copy(first + right, rows: width, every: -step, columns: height, every: stride, to: target)
        }
    }

    private func copy(
        _ first: UnsafeRawPointer, rows: Int, every rowStep: Int, columns: Int, every columnStep: Int, to target: UnsafeMutableRawPointer
    ) {
        var target = target
        for row in 0..<rows {
            var source = first + row * rowStep
            switch size {
            case 1:
                for column in 0..<columns {
                    target.storeBytes(of: source.load(as: UInt8.self), toByteOffset: column, as: UInt8.self)
                    source += columnStep
                }
            case 2:
                for column in 0..<columns {
                    target.storeBytes(of: source.loadUnaligned(as: UInt16.self), toByteOffset: 2 * column, as: UInt16.self)
                    source += columnStep
                }
            default:
                for column in 0..<columns {
                    (target + column * size).copyMemory(from: source, byteCount: size)
                    source += columnStep
                }
            }
            target += columns * size
        }
    }
}
