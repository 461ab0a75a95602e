public import Camera
public import HandTracking
public import Inference
public import ServiceKit

extension CameraError: UserFacingFailure {
    public var reports: [FailureReport] { [report] }

    private var report: FailureReport {
        switch self {
        case .emptySource:
            return FailureReport("the source is empty", at: "--source", remedy: "give auto, a device, an address or a clip's path")
        case .unsupportedScheme(let scheme):
            return FailureReport(
                "sources of the kind '\(scheme)://' are not supported", remedy: "give auto, a device, rtsp:// or http://, or a clip's path")
        case .noCamera:
            return FailureReport("no camera is plugged in", at: "/dev/video*", remedy: "plug one in, or give a clip with --source")
        case .noSuchDevice(let path):
            return FailureReport("there is no such camera", at: path, remedy: "'handkit-recognizer cameras' lists what there is")
        case .permissionDenied(let path, let group, _):
            return FailureReport("this user may not open the camera", at: path, remedy: Self.permissionRemedy(group))
        case .badAddress:
            return FailureReport("the address of the camera names no host", at: "camera.source", remedy: "write it as rtsp://host/path")
        case .busy(let device, let operation, let holders):
            let names = holders.map(\.description).joined(separator: ", ")
            return FailureReport(
                "another program holds the camera (at \(operation.rawValue))", at: device,
                remedy: holders.isEmpty ? "end it: 'sudo fuser \(device)' names it" : "end \(names)")
        case .noBandwidth(let device, let mode):
            let what = mode.map { "\($0.format) \($0.width)x\($0.height)" } ?? "this mode"
            return FailureReport(
                "USB has no bandwidth left for \(what)", at: device, remedy: "ask for a smaller picture or use another port")
        case .otherCamera(let path, let expected, let found):
            return FailureReport(
                "this is another camera (\(found)), and '\(expected)' is not there", at: path,
                remedy: "plug that one in, or name this one and start anew")
        case .ambiguousCamera(let name, let paths):
            return FailureReport(
                "several cameras are '\(name)': \(paths.joined(separator: ", "))", remedy: "name one by its place, /dev/v4l/by-path/…")
        case .unreachable(let address, let reason):
            return FailureReport("the camera cannot be reached: \(reason)", at: "\(address)", remedy: "check address and network")
        case .unauthorized(let address):
            return FailureReport(
                "the camera does not accept the credentials", at: "\(address)", remedy: "set camera.username and camera.password")
        case .streamEnded(let address):
            return FailureReport("the camera ended its stream", at: "\(address)", remedy: "check that it still works")
        case .unplugged(let device):
            return FailureReport("the camera was unplugged", at: device, remedy: "plug it in again")
        case .notACaptureDevice(let path):
            return FailureReport("this device captures no video", at: path, remedy: "'handkit-recognizer cameras' lists those that do")
        case .noUsableFormat(let device, let offered):
            return FailureReport(
                "the camera offers no format that can be read, only \(offered.joined(separator: ", "))", at: device,
                remedy: "use another camera")
        case .stalled(let device, let seconds):
            return FailureReport("no frame came for \(Int(seconds)) s", at: device, remedy: "unplug it and plug it in again if this stays")
        case .onlyBrokenFrames(let device, let frames, let seconds):
            return FailureReport(
                "none of the \(frames) frames of \(Int(seconds)) s could be read", at: device,
                remedy: "use another cable or port, or set camera.format to another")
        case .device(let path, let operation, let code):
            return FailureReport("\(operation.rawValue) failed: \(systemMessage(code))", at: path)
        case .unreadableClip(let path, let code):
            return FailureReport("the clip cannot be read: \(systemMessage(code))", at: path, remedy: "check the path")
        case .emptyClip(let path):
            return FailureReport("the clip holds no frame", at: path, remedy: "give another file")
        case .notAClip(let path, let reason):
            return FailureReport("this is no clip (\(reason))", at: path, remedy: "give a video file such as AVI or MP4")
        case .noVideo(let path):
            return FailureReport("the file holds no video", at: path, remedy: "give a video file such as AVI or MP4")
        case .unsupportedCodec(let path, let codec):
            return FailureReport("this system's FFmpeg cannot decode '\(codec)'", at: path, remedy: "convert the clip to H.264 or MJPEG")
        case .unsupportedPixelFormat(let path, let format):
            return FailureReport("pixels of the kind '\(format)' are not supported", at: path, remedy: "convert the clip to yuv420p")
        case .damagedClip(let path, let frames, let reason):
            return FailureReport("the clip is damaged after \(frames) frames (\(reason))", at: path, remedy: "copy it anew")
        }
    }

    private static func permissionRemedy(_ group: DeviceGroup?) -> String {
        guard let group else { return "run as a user that may read it" }
        let name = group.name ?? "\(group.id)"
        return "join its group: 'sudo usermod -aG \(name) $USER' and log in again; in a container add group \(group.id)"
    }
}

extension InferenceError: UserFacingFailure {
    public var reports: [FailureReport] {
        switch self {
        case .missingModel(let path):
            [FailureReport("the model is missing", at: path, remedy: "run deploy/setup, or set camera.models to the folder that holds it")]
        case .unreadableModel(let path, let reason):
            [FailureReport("OpenVINO cannot read the model: \(reason)", at: path, remedy: "run deploy/setup to get it anew")]
        case .unsupportedModel(let path, let reason):
            [FailureReport("this is not a hand model: \(reason)", at: path, remedy: "run deploy/setup to get it anew")]
        case .failed(let operation, let reason):
            [FailureReport("OpenVINO could not \(operation): \(reason)", remedy: "run deploy/setup to get the runtime anew")]
        }
    }
}

extension HandTrackingError: UserFacingFailure {
    public var reports: [FailureReport] {
        switch self {
        case .unexpectedTensors(let model, let expected, let actual):
            [FailureReport("the \(model) model has tensors \(actual) instead of \(expected)", remedy: "run deploy/setup to get it anew")]
        }
    }
}

/// A camera was named on the command line that cannot exist.
struct WatchFailure: UserFacingFailure {
    var camera: String
    var exitCode: ExitCode { .wrongUsage }
    var reports: [FailureReport] {
        [FailureReport("'\(camera)' is no camera's id", at: "--camera", remedy: "ids are made of a-z, 0-9, _ and -")]
    }
}
