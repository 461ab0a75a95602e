/// The values that a lamp takes for its brightness.
///
/// HAP's are percent: 0 to 100 in steps of 1 where the accessory does not say. A range that ends above 100 or at 1 is no percentage, and is
/// taken for the whole of what the lamp can do; one that ends in between is a lamp that gets no brighter.
public struct BrightnessScale: Hashable, Sendable {
    private let minimum: Double
    private let maximum: Double
    private let step: Double
    /// What is 100 %.
    private let full: Double

    public init(minimum: Double?, maximum: Double?, step: Double?) {
        let top = maximum.flatMap { $0 > 0 ? $0 : nil } ?? 100
        let bottom = minimum ?? 0
        full = top > 100 || top <= 1 ? top : 100
        self.maximum = top
        self.minimum = (0...top).contains(bottom) ? bottom : 0
        let coarsest = top - self.minimum
        self.step = step.flatMap { $0 > 0 && $0 <= coarsest ? $0 : nil } ?? full / 100
    }

    init(_ characteristic: Accessory.Characteristic) {
        self.init(minimum: characteristic.minimum, maximum: characteristic.maximum, step: characteristic.step)
    }

    /// The lamp's value that is nearest to a level, and never its 0: that is Off.
    /// - Parameter percent: 1 to 100.
    public func value(percent: Int) -> CharacteristicValue {
        let wanted = Double(percent) / 100 * full
        let last = ((maximum - minimum) / step + 1e-6).rounded(.down)
        let first: Double = minimum > 0 ? 0 : 1
        let steps = min(max(((wanted - minimum) / step).rounded(), first), last)
        // Six digits, so that a hundredth is written as one.
        let value = ((minimum + steps * step) * 1e6).rounded() / 1e6
        return Int64(exactly: value).map { .integer($0) } ?? .number(value)
    }

    /// 0 to 100 for a value of the lamp; 0 for nothing but 0, and nil for what is no number.
    public func percent(_ value: Double) -> Int? {
        guard value.isFinite else { return nil }
        let percent = min(max(value / full * 100, 0), 100)
        return percent > 0 ? max(1, Int(percent.rounded())) : 0
    }
}
