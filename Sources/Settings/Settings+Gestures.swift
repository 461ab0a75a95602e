internal import Gestures
internal import ServiceKit

extension GestureSettings {
    mutating func read(_ section: ConfigurationSection) {
        pinch.read(section.section("pinch"))
        slide.read(section.section("slide"))
        hands.read(section.section("hands"))
        arming.read(section.section("arming"))
    }
}

extension PinchSettings {
    fileprivate mutating func read(_ section: ConfigurationSection) {
        close = section.number("close", default: close, in: 0.01...5)
        certainClose = section.number("certain_close", default: certainClose, in: 0.01...5)
        open = section.number("open", default: open, in: 0.01...5)
        let closed = max(close, certainClose)
        if open <= closed {
            section.report("open", .wrongValue("\(open)", expected: "larger than \(closed), up to which the fingers count as closed"))
        }
        reach = section.number("reach", default: reach, in: 0...5)
        certainReach = section.number("certain_reach", default: certainReach, in: 0...5)
        if certainReach < reach {
            let expected = "no smaller than gestures.pinch.reach, which is \(reach)"
            section.report("certain_reach", .wrongValue("\(certainReach)", expected: expected))
        }
        sudden = section.number("sudden", default: sudden, in: 0...1000)
        dwell = section.seconds("dwell_ms", default: dwell)
        doubtfulDwell = section.seconds("doubtful_dwell_ms", default: doubtfulDwell)
        wideOpen = section.number("wide_open", default: wideOpen, in: 0.01...5)
        release = section.seconds("release_ms", default: release)
        doubtfulRelease = section.seconds("doubtful_release_ms", default: doubtfulRelease)
        seenOpen = section.seconds("seen_open_ms", default: seenOpen)
        lost = section.seconds("lost_ms", default: lost)
    }
}

extension SlideSettings {
    fileprivate mutating func read(_ section: ConfigurationSection) {
        direction = section.choice("direction", default: direction)
        gain = section.number("gain", default: gain, in: 1...1000)
        reach = section.number("reach", default: reach, in: 0...5)
        restSpace = section.number("rest_space", default: restSpace, in: 0...5)
        restTime = section.seconds("rest_time_ms", default: restTime)
        driftTime = section.seconds("drift_time_ms", default: driftTime)
        startTravel = section.number("start_travel", default: startTravel, in: 0...5)
        startSpeed = section.number("start_speed", default: startSpeed, in: 0.01...50)
        stopSpeed = section.number("stop_speed", default: stopSpeed, in: 0.01...50)
        if stopSpeed >= startSpeed {
            let expected = "smaller than gestures.slide.start_speed, which is \(startSpeed)"
            section.report("stop_speed", .wrongValue("\(stopSpeed)", expected: expected))
        }
        stopTime = section.seconds("stop_time_ms", default: stopTime)
        sideways = section.number("sideways", default: sideways, in: 0...100)
        wholeHand = section.number("whole_hand", default: wholeHand, in: 0...1)
        steadiness = section.number("steadiness", default: steadiness, in: 0...5)
    }
}

extension HandSettings {
    fileprivate mutating func read(_ section: ConfigurationSection) {
        choice = section.choice("choice", default: choice)
        maximum = section.integer("maximum", default: maximum, in: 1...4, unit: "hands")
        presence = section.number("presence", default: presence, in: 0...1)
        settle = section.seconds("settle_ms", default: settle)
        lock = section.seconds("lock_ms", default: lock)
        zone.read(section.section("zone"))
    }
}

extension HandSettings.Zone {
    fileprivate mutating func read(_ section: ConfigurationSection) {
        left = section.number("left", default: left, in: 0...1)
        top = section.number("top", default: top, in: 0...1)
        right = section.number("right", default: right, in: 0...1)
        bottom = section.number("bottom", default: bottom, in: 0...1)
        if right <= left {
            section.report("right", .wrongValue("\(right)", expected: "larger than gestures.hands.zone.left, which is \(left)"))
        }
        if bottom <= top {
            section.report("bottom", .wrongValue("\(bottom)", expected: "larger than gestures.hands.zone.top, which is \(top)"))
        }
    }
}

extension ArmingSettings {
    fileprivate mutating func read(_ section: ConfigurationSection) {
        mode = section.choice("mode", default: mode)
        hold = section.seconds("hold_ms", default: hold)
        duration = section.seconds("duration_ms", default: duration, to: 3_600_000)
    }
}

extension ConfigurationSection {
    /// A time that the file gives in milliseconds and the gestures take in seconds.
    fileprivate func seconds(_ key: String, default fallback: Double, to limit: Int = 10_000) -> Double {
        let milliseconds = integer(key, default: Int((fallback * 1000).rounded()), in: 0...limit, unit: "milliseconds")
        return Double(milliseconds) / 1000
    }
}
