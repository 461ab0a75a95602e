internal import FoundationEssentials

/// What the crashed process itself wrote down, line by line.
///
/// A record may end anywhere, where the disk was full or the handler crashed too; what is there counts.
struct CrashRecord: Equatable {
    struct State: Equatable {
        /// Milliseconds since 1970.
        var time: Int64
        var name: String
    }

    /// A part of a program or library in memory.
    struct Map: Equatable {
        var addresses: Range<UInt64>
        /// Where in the file it begins.
        var offset: UInt64
        var path: String
    }

    var program = ""
    var version = ""
    var build = ""
    /// Milliseconds since 1970.
    var started: Int64 = 0
    var time: Int64 = 0
    var signal: Int32 = 0
    var code: Int32 = 0
    var address: UInt64 = 0
    var thread = ""
    /// Of a failed check of Swift.
    var message: String?
    /// Of an uncaught exception.
    var exception: String?
    var states: [State] = []
    /// The innermost first.
    var frames: [UInt64] = []
    var maps: [Map] = []

    /// - Returns: nil for a text that names no signal.
    init?(_ bytes: [UInt8]) {
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            take(String(parts[0]), String(parts[1]))
        }
        if signal == 0 { return nil }
    }

    private mutating func take(_ key: String, _ value: String) {
        switch key {
        case "program": program = value
        case "version": version = value
        case "build": build = value
        case "started": started = Int64(value) ?? 0
        case "time": time = Int64(value) ?? 0
        case "signal": signal = Int32(value) ?? 0
        case "code": code = Int32(value) ?? 0
        case "address": address = hexadecimal(value) ?? 0
        case "thread": thread = value
        case "message": message = Self.unescaped(value)
        case "exception": exception = Self.unescaped(value)
        case "state":
            let parts = value.split(separator: " ", maxSplits: 1)
            if parts.count == 2, let time = Int64(parts[0]) { states.append(State(time: time, name: String(parts[1]))) }
        case "frame": if let address = hexadecimal(value) { frames.append(address) }
        case "map": if let map = Map(value) { maps.append(map) }
        default: break
        }
    }

    private static func unescaped(_ text: String) -> String {
        var (result, isEscape) = ("", false)
        for character in text {
            switch (isEscape, character) {
            case (false, "\\"): isEscape = true
            case (true, "n"): (result, isEscape) = (result + "\n", false)
            default: (result, isEscape) = (result + String(character), false)
            }
        }
        return result.trimmingNewlines
    }
}

extension CrashRecord.Map {
    /// Reads a line of `/proc/PID/maps` (proc(5)); nil for memory that belongs to no file.
    init?(_ line: String) {
        let parts = line.split(separator: " ", maxSplits: 5)
        guard parts.count == 6 else { return nil }
        let bounds = parts[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
        let path = parts[5].drop { $0 == " " }
        guard bounds.count == 2, bounds[0] < bounds[1], let offset = UInt64(parts[2], radix: 16), path.hasPrefix("/") else { return nil }
        self.init(addresses: bounds[0]..<bounds[1], offset: offset, path: String(path))
    }
}

/// The number in `0x…`.
func hexadecimal(_ text: String) -> UInt64? {
    text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : nil
}

extension String {
    var trimmingNewlines: String {
        var text = self[...]
        while text.last?.isNewline == true { text.removeLast() }
        return String(text)
    }
}
