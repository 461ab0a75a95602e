import CEmulatedCamera
import CV4L2
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Camera

/// A camera in a file, played by a libv4l2 plugin of the project's own; see `Tests/Peers/EmulatedCamera`.
final class EmulatedCamera: @unchecked Sendable {
    /// One frame that the camera plays.
    struct Take {
        var bytes: [UInt8]
        var flags: UInt32 = 0
        var sequenceStep: UInt32 = 1
        var stamp: emulated_stamp = EMULATED_STAMP_NOW
    }

    let path: String
    private let memory: UnsafeMutableRawBufferPointer

    /// - Parameters:
    ///   - modes: What it offers; the first is what it grants to a wish for others.
    ///   - configure: Anything else that the header says.
    init(
        at path: String, name: String = "Emulated Camera", port: String = "file", modes: [CaptureMode], takes: [Take] = [],
        configure: (inout emulated_camera) -> Void = { _ in }
    ) throws {
        func rounded(_ size: Int) -> Int { (size + 4095) / 4096 * 4096 }
        var header = emulated_camera()
        withUnsafeMutableBytes(of: &header.magic) { $0.copyBytes(from: EMULATED_CAMERA_MAGIC.utf8) }
        withUnsafeMutableBytes(of: &header.card) { $0.copyBytes(from: name.utf8.prefix(31)) }
        withUnsafeMutableBytes(of: &header.bus) { $0.copyBytes(from: port.utf8.prefix(31)) }
        header.capabilities = UInt32(V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING)
        header.granted_rate = 30
        header.mode_count = UInt32(modes.count)
        withUnsafeMutableBytes(of: &header.modes) { bytes in
            let slots = bytes.assumingMemoryBound(to: emulated_mode.self)
            for (index, mode) in modes.enumerated() {
                slots[index] = emulated_mode(
                    format: mode.format.code, width: UInt32(mode.width), height: UInt32(mode.height), rate: UInt32(mode.rates.max() ?? 0))
            }
        }
        header.buffer_offset = UInt32(rounded(MemoryLayout<emulated_camera>.size))
        let largest = modes.map { $0.width * $0.height * 2 + $0.height * 64 }.max() ?? 0
        header.buffer_size = UInt32(rounded(max(largest, takes.map(\.bytes.count).max() ?? 0)))
        var offset = Int(header.buffer_offset) + 8 * Int(header.buffer_size)
        header.frame_count = UInt32(takes.count)
        withUnsafeMutableBytes(of: &header.frames) { bytes in
            let slots = bytes.assumingMemoryBound(to: emulated_frame.self)
            for (index, take) in takes.enumerated() {
                slots[index] = emulated_frame(
                    offset: UInt32(offset), length: UInt32(take.bytes.count), flags: take.flags, sequence_step: take.sequenceStep,
                    stamp: take.stamp.rawValue)
                offset += take.bytes.count
            }
        }
        configure(&header)
        var file = withUnsafeBytes(of: header) { [UInt8]($0) }
        file += [UInt8](repeating: 0, count: offset - takes.reduce(0) { $0 + $1.bytes.count } - file.count)
        file += takes.flatMap(\.bytes)
        try Data(file).write(to: URL(filePath: path))
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        memory = UnsafeMutableRawBufferPointer(
            start: mmap(nil, file.count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), count: file.count)
        self.path = path
    }

    deinit { munmap(memory.baseAddress, memory.count) }

    /// The header as it stands, with what was done to the camera.
    var state: emulated_camera { memory.load(as: emulated_camera.self) }

    /// Whether all that was opened was closed, and nothing streams.
    var isReleased: Bool { state.opened > 0 && state.opened == state.closed && state.streaming == 0 }
}

extension EmulatedCamera {
    /// Whether this process may put its plugin in the place of libv4l2's for one thread; that takes CAP_SYS_ADMIN.
    static let isAvailable: Bool = {
        let code = Mutex(Int32(-1))
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            code.withLock { $0 = emulated_camera_enter("/tmp") }
            done.signal()
        }
        done.wait()
        return code.withLock { $0 == 0 }
    }()

    /// The folder of the compiled plugin, beside the tests' own program.
    private static let plugin = Task {
        let folder = Paths.program("emulated-camera")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let compiler = try #require(["cc", "clang", "gcc"].compactMap(Paths.installed).first)
        let compilation = try ChildProcess(
            compiler,
            ["-shared", "-fPIC", "-Wall", "-Werror", "-o", "\(folder)/plugin.so", "\(Paths.root)/Tests/Peers/EmulatedCamera/plugin.c"])
        let ending = try await compilation.wait(within: .seconds(60))
        try #require(ending == .exited(0), "\(compilation.errorLines)")
        return folder
    }

    /// Runs `body` on a thread of its own, where libv4l2 knows emulated cameras.
    static func onCameraThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let folder = try await plugin.value
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let code = emulated_camera_enter(folder)
                        if code < 0 { throw SystemCallFailure("mount", code: -code) }
                        return try body()
                    })
            }
        }
    }
}
