internal import COpenVINO
public import HandTracking

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// What keeps a model from being loaded or run.
public enum InferenceError: Error, Equatable, Sendable {
    /// There is no readable file at `path`.
    case missingModel(path: String)
    /// OpenVINO refuses the file; `reason` is its own message.
    case unreadableModel(path: String, reason: String)
    /// The model has tensors of another kind than fixed-size floats.
    case unsupportedModel(path: String, reason: String)
    /// OpenVINO failed while it worked.
    case failed(operation: String, reason: String)
}

/// How models are run.
public struct InferenceOptions: Hashable, Sendable {
    /// Arithmetic of the inner layers.
    public enum Precision: String, Hashable, Sendable, CaseIterable {
        /// bf16 where the processor has it, else f32.
        case automatic
        case float32
    }

    /// Threads one inference may use.
    public var threads = 1
    public var precision = Precision.automatic

    public init() {}
}

/// OpenVINO itself, shared by the models of a process.
public final class OpenVINORuntime {
    fileprivate let core: OpaquePointer

    /// - Throws: ``InferenceError`` where the runtime's plugins cannot be found.
    public init() throws(InferenceError) {
        covino_share_arena()
        var core: OpaquePointer?
        try check(ov_core_create(&core), "start OpenVINO")
        guard let core else { throw .failed(operation: "start OpenVINO", reason: "no handle came back") }
        self.core = core
    }

    deinit { ov_core_free(core) }

    /// The folder of the OpenVINO libraries this program is linked with, or nil where the loader does not tell.
    public static var libraryFolder: String? {
        guard let path = covino_library_path() else { return nil }
        let parts = String(cString: path).split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast().joined(separator: "/")
    }
}

/// One compiled model with one request, on the CPU.
///
/// Use it from one thread at a time; `run` blocks.
public final class OpenVINOModel: TensorRunner {
    public let inputShape: [Int]
    public let outputShapes: [[Int]]
    private let runtime: OpenVINORuntime
    private let request: OpaquePointer
    private let compiled: OpaquePointer
    private let input: OpaquePointer
    private let inputData: UnsafeMutableBufferPointer<Float>
    private let outputs: [OpaquePointer]
    private let outputData: [UnsafeBufferPointer<Float>]

    public init(path: String, runtime: OpenVINORuntime, options: InferenceOptions = InferenceOptions()) throws(InferenceError) {
        self.runtime = runtime
        guard access(path, R_OK) == 0 else { throw .missingModel(path: path) }
        var model: OpaquePointer?
        guard ov_core_read_model(runtime.core, path, nil, &model) == OK, let model else {
            throw .unreadableModel(path: path, reason: lastMessage())
        }
        defer { ov_model_free(model) }

        var owned = Handles()
        let compiled = try Self.compile(model, runtime: runtime, options: options)
        owned.add(compiled, ov_compiled_model_free)
        var request: OpaquePointer?
        try check(ov_compiled_model_create_infer_request(compiled, &request), "create a request")
        guard let request else { throw .failed(operation: "create a request", reason: "no handle came back") }
        owned.add(request, ov_infer_request_free)

        var (inputCount, outputCount) = (0, 0)
        try check(ov_compiled_model_inputs_size(compiled, &inputCount), "count the inputs")
        try check(ov_compiled_model_outputs_size(compiled, &outputCount), "count the outputs")
        guard inputCount == 1 else { throw .unsupportedModel(path: path, reason: "\(inputCount) inputs instead of one") }

        var input: OpaquePointer?
        try check(ov_infer_request_get_input_tensor(request, &input), "get the input")
        guard let input else { throw .failed(operation: "get the input", reason: "no handle came back") }
        owned.add(input, ov_tensor_free)
        let inputView = try Self.view(of: input, path: path)
        var outputs: [OpaquePointer] = []
        var outputViews: [(shape: [Int], data: UnsafeMutableBufferPointer<Float>)] = []
        for index in 0..<outputCount {
            var output: OpaquePointer?
            try check(ov_infer_request_get_output_tensor_by_index(request, index, &output), "get output \(index)")
            guard let output else { throw .failed(operation: "get output \(index)", reason: "no handle came back") }
            owned.add(output, ov_tensor_free)
            outputs.append(output)
            outputViews.append(try Self.view(of: output, path: path))
        }
        owned.keep()
        (self.compiled, self.request, self.input, self.outputs) = (compiled, request, input, outputs)
        (inputShape, inputData) = inputView
        outputShapes = outputViews.map(\.shape)
        outputData = outputViews.map { UnsafeBufferPointer($0.data) }
    }

    deinit {
        for output in outputs { ov_tensor_free(output) }
        ov_tensor_free(input)
        ov_infer_request_free(request)
        ov_compiled_model_free(compiled)
    }

    public func run(filling fill: (UnsafeMutableBufferPointer<Float>) -> Void) throws {
        fill(inputData)
        try check(ov_infer_request_infer(request), "run a model")
    }

    public func withOutput<Result>(_ index: Int, _ body: (UnsafeBufferPointer<Float>) throws -> Result) rethrows -> Result {
        try body(outputData[index])
    }

    private static func compile(
        _ model: OpaquePointer, runtime: OpenVINORuntime, options: InferenceOptions
    ) throws(InferenceError) -> OpaquePointer {
        var settings = [
            ("NUM_STREAMS", "1"), ("PERFORMANCE_HINT", "LATENCY"), ("INFERENCE_NUM_THREADS", String(options.threads)),
            ("ENABLE_CPU_PINNING", "NO"),
        ]
        if options.precision == .float32 { settings.append(("INFERENCE_PRECISION_HINT", "f32")) }
        var compiled: OpaquePointer?
        let texts = settings.map { (strdup($0.0), strdup($0.1)) }
        defer { for (key, value) in texts { free(key); free(value) } }
        let properties = texts.map { ov_property_t(key: $0.0, value: $0.1) }
        try check(ov_core_compile_model_props(runtime.core, model, "CPU", properties.count, properties, &compiled), "compile a model")
        guard let compiled else { throw .failed(operation: "compile a model", reason: "no handle came back") }
        return compiled
    }

    private static func view(
        of tensor: OpaquePointer, path: String
    ) throws(InferenceError) -> (shape: [Int], data: UnsafeMutableBufferPointer<Float>) {
        var type = ov_element_type_e(rawValue: 0)
        try check(ov_tensor_get_element_type(tensor, &type), "read a tensor's type")
        guard type == F32 else { throw .unsupportedModel(path: path, reason: "a tensor is not of 32-bit floats") }
        var shape = ov_shape_t()
        try check(ov_tensor_get_shape(tensor, &shape), "read a tensor's shape")
        defer { ov_shape_free(&shape) }
        let dimensions = (0..<Int(shape.rank)).map { Int(shape.dims[$0]) }
        var data: UnsafeMutableRawPointer?
        try check(ov_tensor_data(tensor, &data), "reach a tensor's memory")
        guard let data else { throw .failed(operation: "reach a tensor's memory", reason: "it has none") }
        let count = dimensions.reduce(1, *)
        return (dimensions, UnsafeMutableBufferPointer(start: data.assumingMemoryBound(to: Float.self), count: count))
    }
}

/// C handles that are freed in reverse order unless they are kept: unwinds an initialiser that fails half-way.
private struct Handles: ~Copyable {
    private var pending: [(OpaquePointer, (OpaquePointer?) -> Void)] = []

    mutating func add(_ handle: OpaquePointer, _ free: @escaping (OpaquePointer?) -> Void) { pending.append((handle, free)) }
    mutating func keep() { pending.removeAll() }

    deinit { for (handle, free) in pending.reversed() { free(handle) } }
}

private func check(_ status: ov_status_e, _ operation: String) throws(InferenceError) {
    guard status == OK else {
        let message = lastMessage()
        throw .failed(operation: operation, reason: message.isEmpty ? String(cString: ov_get_error_info(status)) : message)
    }
}

/// OpenVINO's own words on the latest failure, on one line.
private func lastMessage() -> String {
    guard let text = ov_get_last_err_msg() else { return "" }
    return String(cString: text).split(whereSeparator: \.isNewline).joined(separator: "; ")
}
