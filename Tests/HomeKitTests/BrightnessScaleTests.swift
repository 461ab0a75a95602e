import Testing

@testable import HomeKit

@Suite struct `The brightness of a lamp` {
    struct Example: CustomTestStringConvertible {
        var name: String
        var scale: BrightnessScale
        var percent: Int
        var value: CharacteristicValue
        /// What that value is in percent.
        var isThen: Int

        init(
            _ name: String, _ range: (minimum: Double?, maximum: Double?, step: Double?), _ percent: Int, _ value: CharacteristicValue,
            isThen: Int
        ) {
            scale = BrightnessScale(minimum: range.minimum, maximum: range.maximum, step: range.step)
            (self.name, self.percent, self.value, self.isThen) = (name, percent, value, isThen)
        }

        var testDescription: String { "\(name), \(percent) %" }
    }

    static let examples = [
        Example("nothing said", (nil, nil, nil), 57, .integer(57), isThen: 57),
        Example("as HAP has it", (0, 100, 1), 1, .integer(1), isThen: 1),
        Example("steps of 5", (0, 100, 5), 57, .integer(55), isThen: 55),
        Example("steps of 5", (0, 100, 5), 1, .integer(5), isThen: 5),
        Example("steps of 5", (0, 100, 5), 100, .integer(100), isThen: 100),
        Example("steps from 1", (1, 100, 7), 3, .integer(1), isThen: 1),
        Example("steps that miss the end", (0, 100, 30), 100, .integer(90), isThen: 90),
        Example("never dark", (10, 100, 1), 3, .integer(10), isThen: 10),
        Example("never bright", (0, 50, 1), 100, .integer(50), isThen: 50),
        Example("to 254", (1, 254, 1), 57, .integer(145), isThen: 57),
        Example("to 254", (1, 254, 1), 100, .integer(254), isThen: 100),
        Example("to 254", (0, 254, 1), 1, .integer(3), isThen: 1),
        Example("to 1", (0, 1, 0.01), 57, .number(0.57), isThen: 57),
        Example("to 1", (0, 1, nil), 100, .integer(1), isThen: 100),
        Example("a range that is none", (200, 100, 1), 40, .integer(40), isThen: 40),
        Example("a step that is none", (0, 100, 0), 40, .integer(40), isThen: 40),
        Example("a step beyond the range", (0, 100, 500), 40, .integer(40), isThen: 40),
        Example("an end that is none", (0, 0, 1), 40, .integer(40), isThen: 40),
    ]

    @Test(arguments: examples)
    func `is written as a value that it has`(example: Example) throws {
        let value = example.scale.value(percent: example.percent)
        #expect(value == example.value)
        #expect(example.scale.percent(try #require(value.number)) == example.isThen)
    }

    @Test func `is 0 for nothing but 0, and within 0 to 100 whatever is said`() {
        let scale = BrightnessScale(minimum: 0, maximum: 254, step: 1)
        #expect(scale.percent(0) == 0)
        #expect(scale.percent(1) == 1)
        #expect(scale.percent(1000) == 100)
        #expect(scale.percent(-3) == 0)
        #expect(scale.percent(.nan) == nil)
    }
}
