/// Notices whether what one region of the picture shows has moved, at a hundredth of an inference's cost.
public struct RegionChange: Sendable {
    private static let side = 32
    /// Samples of a cell along each side.
    private static let density = 3

    private var reference = [Int32](repeating: 0, count: side * side)
    private var current = [Int32](repeating: 0, count: side * side)
    private var map: AffineMap?

    public init() {}

    /// Takes what the region shows now, `map` leading from the unit square to it, as the reference.
    public mutating func remember(_ image: ImageBuffer, through map: AffineMap) {
        self.map = map
        Self.measure(image, through: map, into: &reference)
    }

    /// The third-largest change of brightness among the region's 1,024 cells since ``remember(_:through:)``, in levels of 255; nil before it.
    ///
    /// The third, because a single cell may be a pixel's noise.
    public mutating func difference(_ image: ImageBuffer) -> Double? {
        guard let map else { return nil }
        Self.measure(image, through: map, into: &current)
        var largest: (Int32, Int32, Int32) = (0, 0, 0)
        for index in current.indices {
            let change = abs(current[index] &- reference[index])
            guard change > largest.2 else { continue }
            largest.2 = change
            if largest.2 > largest.1 { swap(&largest.1, &largest.2) }
            if largest.1 > largest.0 { swap(&largest.0, &largest.1) }
        }
        return Double(largest.2) / Double(Self.density * Self.density)
    }

    /// Sums of the cells' samples; what lies outside the picture counts as black.
    private static func measure(_ image: ImageBuffer, through map: AffineMap, into cells: inout [Int32]) {
        let plane = image.layout.brightness
        let steps = side * density
        let scaled = map.scaledDomain(width: steps, height: steps)
        let layout = image.layout
        let stored = 1 / Float(layout.reduction)
        let (width, height) = (Float(layout.width), Float(layout.height))
        image.withBytes { bytes in
            for cell in cells.indices { cells[cell] = 0 }
            for row in 0..<steps {
                let cellRow = row / density * side
                for column in 0..<steps {
                    let point = scaled(SIMD2(Float(column) + 0.5, Float(row) + 0.5)) * stored
                    guard point.x >= 0, point.y >= 0, point.x < width, point.y < height else { continue }
                    cells[cellRow + column / density] &+= Int32(
                        bytes[plane.offset + Int(point.y) * plane.stride + Int(point.x) * plane.step])
                }
            }
        }
    }
}

extension ImageLayout {
    /// Where brightness lies in memory: luma, or of RGB the green, which carries most of it.
    var brightness: (offset: Int, stride: Int, step: Int) {
        switch format {
        case .gray, .nv12, .planar: (planes[0].offset, planes[0].stride, 1)
        case .yuyv: (planes[0].offset, planes[0].stride, 2)
        case .rgb24: (planes[0].offset + 1, planes[0].stride, 3)
        }
    }
}
