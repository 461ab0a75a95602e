internal import Camera
internal import ServiceKit

/// What is said of a camera that works.
struct CameraLog {
    var logger: Logger

    /// What was asked for beside what it grants, in one line.
    func opened(_ format: SourceFormat, request: CaptureRequest) {
        let size = "\(format.width)x\(format.height)"
        let rate = format.framesPerSecond.map { "\($0.rounded(2))" } ?? "not said"
        guard let camera = format.camera else {
            return logger.info(
                "camera opened", ["path": format.path, "name": format.name, "codec": format.codec, "size": size, "fps": rate])
        }
        logger.info(
            "camera opened",
            [
                "path": format.path, "name": format.name, "model": camera.identity.model, "serial": camera.identity.serial ?? "none",
                "codec": format.codec, "size": size, "fps": rate,
                "asked": "\(request.encoding.rawValue) \(request.width)x\(request.height) \(request.framesPerSecond.rounded(2))",
            ])
        for outcome in camera.controls { adjusted(outcome) }
    }

    private func adjusted(_ outcome: ControlOutcome) {
        let level: Logger.Level = outcome.wish.isExplicit ? .warning : .debug
        let reason: String
        switch outcome.result {
        case .set: return logger.info("camera adjusted", ["control": outcome.name, "value": outcome.wish.value])
        case .unchanged: return
        case .missing(let offered):
            reason =
                offered.isEmpty ? "the camera has no controls" : "the camera has none of that name, only \(offered.joined(separator: ", "))"
        case .outOfRange(let range): reason = "it has to be from \(range.lowerBound) to \(range.upperBound)"
        case .refused(let code): reason = systemMessage(code)
        }
        logger.log(
            level, "camera not adjusted", ["control": outcome.name, "value": outcome.wish.value, "reason": reason])
    }

    func judged(_ verdict: RateCheck.Verdict) {
        switch verdict {
        case .slow(let rate, let expected):
            logger.warning(
                "the camera is slow, so that fast gestures may be missed",
                [
                    "fps": rate.rounded(1), "expected": expected.rounded(1),
                    "remedy": "more light, 'exposure: rate', a smaller picture or another port",
                ])
        case .recovered(let rate): logger.notice("the camera is fast enough again", ["fps": rate.rounded(1)])
        }
    }

    func closed(_ ending: CaptureSession.Ending, dropped: Int) {
        let counters = ending.counters
        logger.info(
            "camera closed",
            [
                "frames": counters.delivered, "dropped": dropped, "corrupt": counters.corrupt, "duplicates": counters.duplicates,
                "missing": counters.missing,
            ])
        if let rate = ending.slowRate {
            logger.notice("the camera is slower than it promised; opening it in another mode", ["fps": rate.rounded(1)])
        }
    }
}
