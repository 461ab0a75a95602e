internal import Cryptography

/// What an accessory's QR code says: `X-HM://`, nine base-36 digits and a setup ID.
///
/// The digits are a number of 46 bits: version 45–43, reserved 42–39, category 38–31, Bluetooth 29, IP 28, already paired by NFC 27, setup
/// code 26–0. Holds a setup code and never prints it.
public struct SetupPayload: Equatable, Sendable {
    public enum Fault: Error, Equatable, Sendable {
        /// The text does not begin with `X-HM://`, or is not as long as it must be.
        case notAPayload
        /// A character is no base-36 digit, or the number has more than 46 bits.
        case badNumber
        /// The setup code is above 99999999, or missing.
        case badSetupCode
        case badSetupID
    }

    public static let scheme = "X-HM://"
    private static let digitCount = 9

    public var code: SetupCode
    /// Four upper-case letters or digits.
    public var setupID: String
    /// HAP's accessory category; 5 is a light bulb.
    public var category: UInt8
    public var isForIP: Bool
    public var isForBluetooth: Bool

    /// Nil where `setupID` is not four upper-case letters or digits.
    public init?(code: SetupCode, setupID: String, category: UInt8, isForIP: Bool = true, isForBluetooth: Bool = false) {
        guard Self.isSetupID(setupID) else { return nil }
        (self.code, self.setupID, self.category) = (code, setupID, category)
        (self.isForIP, self.isForBluetooth) = (isForIP, isForBluetooth)
    }

    /// Reads a payload as a camera finds it, in either case and with blanks around.
    public init(_ text: String) throws(Fault) {
        var text = text[...]
        while text.last?.isWhitespace == true { text.removeLast() }
        while text.first?.isWhitespace == true { text.removeFirst() }
        let upper = text.utf8.count <= 64 ? text.uppercased() : ""
        guard upper.hasPrefix(Self.scheme), upper.utf8.count == Self.scheme.utf8.count + Self.digitCount + 4 else { throw .notAPayload }
        let rest = upper.dropFirst(Self.scheme.count)
        let digits = rest.prefix(Self.digitCount)
        guard digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0.isLetter) }), let number = UInt64(digits, radix: 36), number < 1 << 46
        else { throw .badNumber }
        let codeNumber = number & (1 << 27 - 1)
        guard codeNumber <= 99_999_999, let code = try? SetupCode(String(String(codeNumber + 100_000_000).dropFirst())) else {
            throw .badSetupCode
        }
        let setupID = String(rest.dropFirst(Self.digitCount))
        guard Self.isSetupID(setupID) else { throw .badSetupID }
        self.code = code
        self.setupID = setupID
        category = UInt8(truncatingIfNeeded: number >> 31)
        isForIP = number & 1 << 28 != 0
        isForBluetooth = number & 1 << 29 != 0
    }

    /// The payload to show to whoever may pair. Not for logs.
    public var text: String {
        let digits = code.digitsWithDashes.filter { $0 != "-" }
        let number = UInt64(category) << 31 | (isForBluetooth ? 1 << 29 : 0) | (isForIP ? 1 << 28 : 0) | (UInt64(digits) ?? 0)
        let encoded = String(number, radix: 36, uppercase: true)
        return Self.scheme + String(repeating: "0", count: Self.digitCount - encoded.count) + encoded + setupID
    }

    /// `sh` of mDNS: by this a controller that has scanned the payload recognises the accessory with identifier `accessoryID`.
    public func matches(hash: String, accessoryID: String) -> Bool { hash == Self.hash(setupID: setupID, accessoryID: accessoryID) }

    /// Base64 of the first four bytes of SHA-512 over setup ID and identifier, the identifier in upper case.
    public static func hash(setupID: String, accessoryID: String) -> String {
        let bytes = SHA512.hash(Array(setupID.utf8), Array(accessoryID.uppercased().utf8)).prefix(4)
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let bits = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } << 4
        return String((0..<6).map { digits[Int(bits >> (6 * (5 - $0))) & 63] }) + "=="
    }

    private static func isSetupID(_ text: String) -> Bool {
        text.utf8.count == 4 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }
}

extension SetupPayload: CustomStringConvertible, CustomReflectable {
    public var description: String { "SetupPayload(setupID: \(setupID), category: \(category))" }
    public var customMirror: Mirror { Mirror(self, children: ["setupID": setupID, "category": category]) }
}
