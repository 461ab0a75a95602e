/// Four characters that name how a device's frames are coded ("MJPG", "YUYV").
public struct FourCC: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// V4L2's number, first character in the lowest byte.
    public var code: UInt32

    public init(code: UInt32) {
        self.code = code
    }

    /// - Precondition: Four ASCII characters.
    public init(stringLiteral name: StaticString) {
        precondition(name.utf8CodeUnitCount == 4 && name.isASCII, "four ASCII characters")
        code = (0..<4).reduce(0) { $0 | UInt32(name.utf8Start[$1]) << (8 * $1) }
    }

    public var description: String {
        String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: code >> (8 * $0)) & 0x7F }, as: UTF8.self)
    }

    public static let mjpg: FourCC = "MJPG"
    public static let jpeg: FourCC = "JPEG"
    public static let yuyv: FourCC = "YUYV"
    public static let nv12: FourCC = "NV12"
    public static let yu12: FourCC = "YU12"
    public static let grey: FourCC = "GREY"
}
