import HandTracking

/// A model that answers what a test tells it to, and remembers how often it was asked.
final class ScriptedRunner: TensorRunner {
    let inputShape: [Int]
    let outputShapes: [[Int]]
    private(set) var runs = 0
    private(set) var input: [Float] = []
    private var outputs: [[Float]]
    /// Fills the outputs of a run, given its number from 0.
    var answer: (Int, inout [[Float]]) throws -> Void = { _, _ in }

    init(input: [Int], outputs: [[Int]]) {
        (inputShape, outputShapes) = (input, outputs)
        self.outputs = outputs.map { Array(repeating: 0, count: $0.reduce(1, *)) }
    }

    static func palms() -> ScriptedRunner { ScriptedRunner(input: [1, 192, 192, 3], outputs: [[1, 2016, 18], [1, 2016, 1]]) }

    static func landmarks() -> ScriptedRunner {
        ScriptedRunner(input: [1, 224, 224, 3], outputs: [[1, 63], [1, 1], [1, 1], [1, 63]])
    }

    func run(filling fill: (UnsafeMutableBufferPointer<Float>) -> Void) throws {
        input = Array(repeating: 0, count: inputShape.reduce(1, *))
        input.withUnsafeMutableBufferPointer { fill($0) }
        try answer(runs, &outputs)
        runs += 1
    }

    func withOutput<Result>(_ index: Int, _ body: (UnsafeBufferPointer<Float>) throws -> Result) rethrows -> Result {
        try outputs[index].withUnsafeBufferPointer(body)
    }
}
