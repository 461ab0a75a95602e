import CV4L2
import Glibc

/// Something of a camera that can be adjusted: a whole number in a range.
public struct CameraControl: Hashable, Sendable {
    /// The driver's number for it.
    var id: UInt32
    /// As `v4l2-ctl -l` writes it ("power_line_frequency").
    public var name: String
    public var range: ClosedRange<Int>
    public var value: Int
    /// It can be read only, or not adjusted while another control is as it is.
    public var isLocked: Bool
}

/// How a control shall be set.
public struct ControlWish: Hashable, Sendable {
    /// Its names, of which a driver knows one.
    public var names: [String]
    public var value: Int
    /// A wish that a person wrote down, and is told of where it cannot be met.
    public var isExplicit: Bool

    public init(_ name: String, _ value: Int) {
        (names, self.value, isExplicit) = ([name], value, true)
    }

    private init(names: [String], _ value: Int, isExplicit: Bool) {
        (self.names, self.value, self.isExplicit) = (names, value, isExplicit)
    }

    /// Whether the camera may take longer over a picture in dim light than its rate allows. The name changed with Linux 5.15.
    public static func slowsInDimLight(_ isAllowed: Bool, isExplicit: Bool) -> ControlWish {
        ControlWish(names: ["exposure_dynamic_framerate", "exposure_auto_priority"], isAllowed ? 1 : 0, isExplicit: isExplicit)
    }

    /// What lamps flicker with, in V4L2's numbers: 0 nothing, 1 50 Hz, 2 60 Hz, 3 the camera finds out.
    public static func powerLine(_ value: Int) -> ControlWish {
        ControlWish(names: ["power_line_frequency"], value, isExplicit: true)
    }
}

/// What became of a wish.
public struct ControlOutcome: Hashable, Sendable {
    public enum Result: Hashable, Sendable {
        case set
        /// It was so already.
        case unchanged
        /// The camera has no such control, only these.
        case missing(offered: [String])
        case outOfRange(ClosedRange<Int>)
        case refused(errno: Int32)
    }

    /// The name the camera knows it by, or the first wished.
    public var name: String
    public var wish: ControlWish
    public var result: Result
}

extension VideoDevice {
    /// All numbers, switches and menus that the driver lists.
    func controls() -> [CameraControl] {
        var controls: [CameraControl] = []
        var next = UInt32(V4L2_CTRL_FLAG_NEXT_CTRL)
        // Bounded, because a broken driver has more for ever.
        for _ in 0..<256 {
            var query = v4l2_queryctrl()
            query.id = next
            guard cv4l2_ioctl(descriptor, cv4l2_queryctrl, &query) == 0 else { break }
            next = query.id | UInt32(V4L2_CTRL_FLAG_NEXT_CTRL)
            let isNumber = [V4L2_CTRL_TYPE_INTEGER, V4L2_CTRL_TYPE_BOOLEAN, V4L2_CTRL_TYPE_MENU].contains { $0.rawValue == query.type }
            guard isNumber, query.flags & UInt32(V4L2_CTRL_FLAG_DISABLED) == 0, query.minimum <= query.maximum else { continue }
            var current = v4l2_control(id: query.id, value: query.default_value)
            _ = cv4l2_ioctl(descriptor, cv4l2_g_ctrl, &current)
            let locked = UInt32(V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_INACTIVE)
            controls.append(
                CameraControl(
                    id: query.id, name: Self.controlName(string(query.name)), range: Int(query.minimum)...Int(query.maximum),
                    value: Int(current.value), isLocked: query.flags & locked != 0))
        }
        return controls
    }

    /// Sets what is wished, as far as the camera has it; nothing of it keeps pictures from coming.
    func apply(_ wishes: [ControlWish]) -> [ControlOutcome] {
        guard !wishes.isEmpty else { return [] }
        let known = controls()
        return wishes.map { wish in
            guard let control = known.first(where: { wish.names.contains($0.name) }) else {
                return ControlOutcome(name: wish.names[0], wish: wish, result: .missing(offered: known.map(\.name)))
            }
            func outcome(_ result: ControlOutcome.Result) -> ControlOutcome {
                ControlOutcome(name: control.name, wish: wish, result: result)
            }
            guard control.range.contains(wish.value), let value = Int32(exactly: wish.value) else {
                return outcome(.outOfRange(control.range))
            }
            if control.value == wish.value { return outcome(.unchanged) }
            var setting = v4l2_control(id: control.id, value: value)
            let code = cv4l2_ioctl(descriptor, cv4l2_s_ctrl, &setting)
            return outcome(code < 0 ? .refused(errno: -code) : .set)
        }
    }

    /// "Exposure, Dynamic Framerate" as `v4l2-ctl` writes it.
    static func controlName(_ name: String) -> String {
        name.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.joined(separator: "_").lowercased()
    }
}
