internal import Glibc

// handkit-fuzz [--inputs N] [--seed S] [--first N] [TARGET…]
//
// Feeds every decoder of what accessories and the network send with inputs made from well-formed ones, and says how many there were. A
// crash ends it with a signal; a hang, or a promise that was not kept, with a status. The same seed gives the same inputs.

func fail(_ text: String) -> Never {
    let line = Array("handkit-fuzz: \(text)\n".utf8)
    write(STDERR_FILENO, line, line.count)
    exit(2)
}

var inputs: UInt64 = 100_000
var seed: UInt64 = 1
var first: UInt64 = 0
var names: [String] = []

var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
    func number() -> UInt64 {
        guard let number = arguments.popFirst().flatMap({ UInt64($0) }) else {
            fail("\(argument) wants a number")
        }
        return number
    }
    switch argument {
    case "--inputs": inputs = number()
    case "--seed": seed = number()
    case "--first": first = number()
    default: names.append(argument)
    }
}
let targets = FuzzTarget.all
let known = targets.map(\.name)
guard names.allSatisfy(known.contains) else {
    fail("the targets are \(known.joined(separator: ", "))")
}

func peakMegabytes() -> Int {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss / 1024
}

var hangs = 0
for target in targets where names.isEmpty || names.contains(target.name) {
    let result = Fuzzer(seed: seed, first: first, count: inputs).run(target)
    hangs += result.hangs
    let rate = Double(result.inputs) / (Double(result.nanoseconds) / 1e9)
    print(
        "\(result.name): \(result.inputs) inputs, \(result.bytes / 1_000_000) MB, \(Int(rate)) a second, "
            + "slowest \(result.slowest.nanoseconds / 1000) µs (input \(result.slowest.input)), \(result.hangs) hangs, "
            + "peak \(peakMegabytes()) MB")
    fflush(nil)
}
exit(hangs == 0 ? 0 : 1)
