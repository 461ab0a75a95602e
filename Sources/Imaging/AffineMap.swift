/// An affine map of the plane: `x' = a·x + b·y + c`, `y' = d·x + e·y + f`.
public struct AffineMap: Hashable, Sendable {
    public var a: Float
    public var b: Float
    public var c: Float
    public var d: Float
    public var e: Float
    public var f: Float

    public init(a: Float, b: Float, c: Float, d: Float, e: Float, f: Float) {
        (self.a, self.b, self.c, self.d, self.e, self.f) = (a, b, c, d, e, f)
    }

    /// Maps the unit square's corners (0, 0), (1, 0) and (0, 1) to `origin`, `origin + right` and `origin + down`.
    public init(origin: SIMD2<Float>, right: SIMD2<Float>, down: SIMD2<Float>) {
        self.init(a: right.x, b: down.x, c: origin.x, d: right.y, e: down.y, f: origin.y)
    }

    public func callAsFunction(_ point: SIMD2<Float>) -> SIMD2<Float> {
        SIMD2(a * point.x + b * point.y + c, d * point.x + e * point.y + f)
    }

    /// The same map for a domain whose unit is `1 / width` and `1 / height` of this one's.
    public func scaledDomain(width: Int, height: Int) -> AffineMap {
        let (w, h) = (Float(width), Float(height))
        return AffineMap(a: a / w, b: b / h, c: c, d: d / w, e: e / h, f: f)
    }

    /// The same map to a grid whose every sample stands for `reduction` × `reduction` of this one's and lies in their middle.
    func reducedRange(by reduction: Int) -> AffineMap {
        guard reduction != 1 else { return self }
        let scale = 1 / Float(reduction)
        let middle = Float(reduction - 1) / 2
        return AffineMap(a: a * scale, b: b * scale, c: (c - middle) * scale, d: d * scale, e: e * scale, f: (f - middle) * scale)
    }
}
