/// A model that turns one tensor of floats into several, run on whatever engine.
///
/// Not safe to use from two threads at once; `run` blocks for as long as the inference takes.
public protocol TensorRunner: AnyObject {
    /// Dimensions of the input, outermost first.
    var inputShape: [Int] { get }
    /// Dimensions of each output, in the model's order.
    var outputShapes: [[Int]] { get }

    /// Lets `fill` write the whole input, then runs the model.
    func run(filling fill: (UnsafeMutableBufferPointer<Float>) -> Void) throws
    /// Lends an output of the latest run; the pointer must not leave `body`.
    func withOutput<Result>(_ index: Int, _ body: (UnsafeBufferPointer<Float>) throws -> Result) rethrows -> Result
}

/// What keeps hands from being tracked.
public enum HandTrackingError: Error, Equatable, Sendable {
    /// A model's tensors are not those of the MediaPipe hand models.
    case unexpectedTensors(model: String, expected: String, actual: String)
}
