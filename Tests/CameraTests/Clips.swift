import Camera
import Foundation
import Imaging
import TestSupport

/// The path of a clip or still that ships with the project's tests.
func clip(_ name: String) -> String { "\(Paths.root)/Tests/Clips/\(name)" }

let ffmpegIsInstalled = Paths.installed("ffmpeg") != nil

/// Runs the `ffmpeg` program, an independent user of the same formats.
func ffmpeg(_ arguments: [String]) async throws {
    let process = try ChildProcess("ffmpeg", ["-v", "error", "-y"] + arguments)
    guard try await process.wait(within: .seconds(60)) == .exited(0) else {
        throw FFmpegFailed(arguments: arguments, message: process.errorLines.joined(separator: "\n"))
    }
}

struct FFmpegFailed: Error {
    var arguments: [String]
    var message: String
}

/// A folder of one test's own.
struct TemporaryFolder: ~Copyable {
    let path: String

    init() throws { path = try Paths.temporaryFolder() }
    deinit { Paths.remove(path) }

    /// Writes a file and returns its path.
    func file(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
        let path = "\(path)/\(name)"
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }
}

func contents(_ path: String) throws -> [UInt8] { try [UInt8](Data(contentsOf: URL(filePath: path))) }

extension ImageBuffer {
    var bytes: [UInt8] { withBytes { [UInt8]($0) } }
}

extension FrameSource {
    func allFrames() throws(CameraError) -> [Frame] {
        var frames: [Frame] = []
        while let frame = try nextFrame() { frames.append(frame) }
        return frames
    }
}
