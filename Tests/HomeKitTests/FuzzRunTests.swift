import TestSupport
import Testing

@Suite struct FuzzRunTests {
    @Test func `every decoder stands a short fuzz`() async throws {
        let fuzzer = try ChildProcess(Paths.program("handkit-fuzz"), ["--inputs", "3000", "--seed", "\(UInt32.random(in: 0 ... .max))"])
        let ending = try await fuzzer.wait(within: .seconds(120))
        #expect(ending == .exited(0), "\(fuzzer.lines) \(fuzzer.errorLines)")
        #expect(fuzzer.lines.count == 6)
    }
}
