internal import Camera
internal import ServiceKit
internal import Settings

extension SourceSpecification {
    init(_ camera: Settings.Camera) throws(CameraError) {
        switch camera.source {
        case .automatic: self = .automatic
        case .device(let path): self = .device(path: path)
        case .serial(let serial): self = .serial(serial)
        case .file(let path): self = .clip(path: path)
        case .stream(let address): try self.init(address.revealed, username: camera.username, password: camera.password)
        }
    }

    /// - Parameter text: As on the command line; the credentials are those of a camera in the network.
    init(_ text: String, username: String?, password: Secret?) throws(CameraError) {
        try self.init(text)
        if case .stream(let address) = self, let username {
            self = .stream(address.signed(username: username, password: password?.revealed ?? ""))
        }
    }
}

extension CaptureRequest {
    init(_ camera: Settings.Camera) {
        let encoding: Encoding =
            switch camera.format {
            case .auto: .auto
            case .mjpeg: .mjpeg
            case .yuyv: .yuyv
            case .nv12: .nv12
            case .grey: .grey
            }
        var controls: [ControlWish] =
            switch camera.exposure {
            // The default, which a camera without the control serves as well.
            case .rate: [.slowsInDimLight(false, isExplicit: false)]
            case .picture: [.slowsInDimLight(true, isExplicit: true)]
            case .keep: []
            }
        switch camera.powerLine {
        case .keep: break
        case .off: controls.append(.powerLine(0))
        case .hertz50: controls.append(.powerLine(1))
        case .hertz60: controls.append(.powerLine(2))
        case .auto: controls.append(.powerLine(3))
        }
        controls += camera.controls.map { ControlWish($0.name, $0.value) }
        self.init(
            width: camera.width, height: camera.height, framesPerSecond: camera.framesPerSecond, encoding: encoding, controls: controls)
    }
}
