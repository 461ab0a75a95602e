import Synchronization

/// Memory for pictures, used again and again, so that a steady stream of frames allocates nothing.
public final class ImagePool: Sendable {
    private let state: Mutex<State>

    private struct State: ~Copyable {
        var free: [UnsafeMutableRawBufferPointer] = []
        var byteCount = 0

        deinit { free.forEach { $0.deallocate() } }
    }

    /// Keeps at most `capacity` unused pictures; more than that are freed when they come back.
    public init(capacity: Int = 4) {
        self.capacity = capacity
        state = Mutex(State())
    }

    private let capacity: Int

    /// A picture filled by `fill`, in memory that an earlier picture of the same size left behind where there is some.
    public func image(layout: ImageLayout, fill: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows -> ImageBuffer {
        let memory = take(layout.byteCount)
        do {
            try fill(memory)
        } catch {
            give(memory)
            throw error
        }
        return ImageBuffer(layout: layout, memory: memory) { [self] in give($0) }
    }

    private func take(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
        let reused = state.withLock { state -> UInt? in
            guard state.byteCount == byteCount, let memory = state.free.popLast() else { return nil }
            return UInt(bitPattern: memory.baseAddress)
        }
        if let reused { return UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(bitPattern: reused), count: byteCount) }
        return .allocate(byteCount: byteCount, alignment: 64)
    }

    private func give(_ memory: UnsafeMutableRawBufferPointer) {
        let (address, count) = (UInt(bitPattern: memory.baseAddress), memory.count)
        state.withLock { state in
            let memory = UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(bitPattern: address), count: count)
            if state.byteCount != count {
                state.free.forEach { $0.deallocate() }
                state.free.removeAll()
                state.byteCount = count
            }
            if state.free.count < capacity { state.free.append(memory) } else { memory.deallocate() }
        }
    }
}
