import Synchronization

/// Pictures that are used again and again, so that a steady stream of frames allocates nothing.
public final class ImagePool: Sendable {
    private let state = Mutex(State())
    private let capacity: Int

    private struct State {
        /// Of one layout; those that nobody else refers to are free.
        var pictures: [ImageBuffer] = []
    }

    /// Keeps at most `capacity` pictures; those that more are needed at a time are freed after use.
    public init(capacity: Int = 4) {
        self.capacity = capacity
        state.withLock { $0.pictures.reserveCapacity(capacity) }
    }

    /// A picture filled by `fill`, in memory that an earlier picture of the same layout left behind where there is some.
    public func image(layout: ImageLayout, fill: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows -> ImageBuffer {
        let image = take(layout) ?? ImageBuffer(layout: layout)
        try image.fill(fill)
        return image
    }

    /// A picture that nobody refers to from now on but the caller and this pool, or, where the pool is full, a new one.
    private func take(_ layout: ImageLayout) -> ImageBuffer? {
        state.withLock { state in
            if let first = state.pictures.first, first.layout != layout { state.pictures.removeAll(keepingCapacity: true) }
            for index in state.pictures.indices where isKnownUniquelyReferenced(&state.pictures[index]) {
                // What the last reader read is read before anything is written.
                atomicMemoryFence(ordering: .acquiring)
                return state.pictures[index]
            }
            guard state.pictures.count < capacity else { return nil }
            let image = ImageBuffer(layout: layout)
            state.pictures.append(image)
            return image
        }
    }
}
