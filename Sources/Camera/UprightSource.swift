public import Imaging

/// Turns the pictures of another source, so that whatever looks at them sees them upright.
public final class UprightSource: FrameSource {
    public let format: SourceFormat
    private let source: any FrameSource
    private let rotation: Rotation
    private let pool: ImagePool

    /// - Parameter rotation: How the source's pictures have to be turned, beside what the source itself says of them.
    public init(_ source: any FrameSource, rotation: Rotation, pool: ImagePool = ImagePool()) {
        let stored = source.format
        self.rotation = rotation + Rotation(degrees: stored.rotation)
        var format = stored
        format.rotation = 0
        if self.rotation.isSideways { (format.width, format.height) = (stored.height, stored.width) }
        (self.source, self.format, self.pool) = (source, format, pool)
    }

    public var counters: SourceCounters { source.counters }

    public func nextFrame() throws(CameraError) -> Frame? {
        guard var frame = try source.nextFrame() else { return nil }
        frame.image = frame.image.turned(rotation, pool: pool)
        return frame
    }
}
