public import Gestures
internal import ServiceKit

extension GestureSettings {
    mutating func read(_ section: ConfigurationSection) {
        var sections: [Substring: ConfigurationSection] = [:]
        func subsection(_ path: Substring) -> ConfigurationSection {
            if let known = sections[path] { return known }
            let dot = path.lastIndex(of: ".")
            let parent = dot.map { subsection(path[..<$0]) } ?? section
            let made = parent.section(String(dot.map { path[path.index(after: $0)...] } ?? path))
            sections[path] = made
            return made
        }
        for field in GestureField.all {
            let dot = field.key.lastIndex(of: ".") ?? field.key.startIndex
            let name = String(field.key[field.key.index(after: dot)...])
            let value = subsection(field.key[..<dot]).optional(name, expected: field.expectation) { field.value(of: $0) }
            if let value { _ = field.set(value, in: &self) }
        }
        for fault in faults {
            let dot = fault.key.lastIndex(of: ".") ?? fault.key.startIndex
            subsection(fault.key[..<dot]).report(
                String(fault.key[fault.key.index(after: dot)...]), .wrongValue(fault.value, expected: fault.expected))
        }
    }

    /// Values that are right by themselves and do not fit each other.
    public var faults: [(key: String, value: String, expected: String)] {
        var faults: [(key: String, value: String, expected: String)] = []
        let closed = max(pinch.close, pinch.certainClose)
        if pinch.open <= closed {
            faults.append(("pinch.open", "\(pinch.open)", "larger than \(closed), up to which the fingers count as closed"))
        }
        if pinch.certainReach < pinch.reach {
            faults.append(
                ("pinch.certain_reach", "\(pinch.certainReach)", "no smaller than gestures.pinch.reach, which is \(pinch.reach)"))
        }
        if slide.stopSpeed >= slide.startSpeed {
            faults.append(
                ("slide.stop_speed", "\(slide.stopSpeed)", "smaller than gestures.slide.start_speed, which is \(slide.startSpeed)"))
        }
        if hands.zone.right <= hands.zone.left {
            faults.append(
                ("hands.zone.right", "\(hands.zone.right)", "larger than gestures.hands.zone.left, which is \(hands.zone.left)"))
        }
        if hands.zone.bottom <= hands.zone.top {
            faults.append(
                ("hands.zone.bottom", "\(hands.zone.bottom)", "larger than gestures.hands.zone.top, which is \(hands.zone.top)"))
        }
        return faults
    }
}
