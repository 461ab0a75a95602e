/// What a key means to the lamp.
enum Key: Equatable, Sendable {
    case toggle
    case brighter
    case darker
    case quit
}

/// Turns a terminal's bytes into keys, however they are cut.
struct KeyDecoder: Sendable {
    private enum State { case ground, escape, sequence }

    private var state = State.ground

    mutating func decode(_ bytes: [UInt8]) -> [Key] {
        bytes.compactMap { byte in
            switch (state, byte) {
            case (_, 0x1B): state = .escape
            case (.escape, UInt8(ascii: "[")), (.escape, UInt8(ascii: "O")): state = .sequence
            case (.sequence, _):
                // Arrows end with one letter; of other keys' sequences nothing is wanted.
                if byte >= 0x40 { state = .ground }
                switch byte {
                case UInt8(ascii: "A"), UInt8(ascii: "C"): return .brighter
                case UInt8(ascii: "B"), UInt8(ascii: "D"): return .darker
                default: break
                }
            default:
                state = .ground
                switch byte {
                case UInt8(ascii: " "): return .toggle
                case UInt8(ascii: "+"): return .brighter
                case UInt8(ascii: "-"): return .darker
                // Ctrl-C and Ctrl-D arrive as bytes in raw mode.
                case UInt8(ascii: "q"), UInt8(ascii: "Q"), 0x03, 0x04: return .quit
                default: break
                }
            }
            return nil
        }
    }
}
