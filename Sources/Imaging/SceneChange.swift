/// Notices whether anything has changed in a fixed camera's picture, at a small part of a detector's cost.
///
/// Compares a coarse grid of brightness with that of the picture last taken as the reference; slow changes add up until they count.
public struct SceneChange: Sendable {
    private static let columns = 48
    private static let rows = 36
    /// Levels of 255 by which a cell must differ. A cell is the mean of nine samples, so a sensor's noise of 8 levels stays at 2.7.
    private static let threshold = 10
    /// Cells that must differ: the smallest hand that is recognised (a palm of 5 % of the width) covers a dozen.
    private static let minimumCells = 4

    private var reference: [UInt8] = []
    private var current = [UInt8](repeating: 0, count: columns * rows)

    public init() {}

    /// Whether `image` differs from the reference, which it then becomes; the first picture always does.
    public mutating func differs(_ image: ImageBuffer) -> Bool {
        measure(image)
        guard reference.count == current.count else {
            reference = current
            return true
        }
        var differing = 0
        for index in current.indices where abs(Int(current[index]) - Int(reference[index])) > Self.threshold { differing += 1 }
        guard differing >= Self.minimumCells else { return false }
        swap(&reference, &current)
        return true
    }

    /// Makes the next picture count as changed.
    public mutating func forget() { reference.removeAll() }

    private mutating func measure(_ image: ImageBuffer) {
        let layout = image.layout
        let plane = layout.brightness
        image.withBytes { bytes in
            for row in 0..<Self.rows {
                for column in 0..<Self.columns {
                    var sum = 0
                    for (dy, dx) in Self.samples {
                        let y = (row * 6 + dy) * layout.height / (Self.rows * 6)
                        let x = (column * 6 + dx) * layout.width / (Self.columns * 6)
                        sum += Int(bytes[plane.offset + y * plane.stride + x * plane.step])
                    }
                    current[row * Self.columns + column] = UInt8(sum / Self.samples.count)
                }
            }
        }
    }

    /// Where in a cell, in sixths of it.
    private static let samples = [(1, 1), (1, 3), (1, 5), (3, 1), (3, 3), (3, 5), (5, 1), (5, 3), (5, 5)]
}
