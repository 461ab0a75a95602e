internal import Glibc

/// A decoder under fire.
struct FuzzTarget {
    var name: String
    /// Well-formed inputs that others are made from.
    var seeds: [[UInt8]]
    /// Pieces of the format that are put in here and there.
    var words: [[UInt8]]
    /// Feeds one input. A crash ends the process; a broken promise is a `preconditionFailure`.
    var feed: (_ input: [UInt8], _ random: inout SplitMix) -> Void
}

/// Runs a target over inputs that depend on seed and number alone, so that each can be made again.
struct Fuzzer {
    var seed: UInt64
    /// Number of the first input.
    var first: UInt64
    var count: UInt64
    /// Nanoseconds after which an input counts as a hang.
    static let limit: UInt64 = 1_000_000_000
    /// Bytes of the longest input.
    static let longest = 4096

    struct Result {
        var name: String
        var inputs: UInt64
        var bytes: UInt64
        var nanoseconds: UInt64
        var slowest: (input: UInt64, nanoseconds: UInt64)
        var hangs: Int
    }

    func run(_ target: FuzzTarget) -> Result {
        var result = Result(name: target.name, inputs: 0, bytes: 0, nanoseconds: 0, slowest: (0, 0), hangs: 0)
        for number in first..<first + count {
            var random = SplitMix(seed: seed ^ number &* 0xD1B5_4A32_D192_ED03)
            let input = make(target, &random)
            let start = clock()
            target.feed(input, &random)
            let time = clock() - start
            result.inputs += 1
            result.bytes += UInt64(input.count)
            result.nanoseconds += time
            if time > result.slowest.nanoseconds { result.slowest = (number, time) }
            if time > Self.limit { result.hangs += 1 }
        }
        return result
    }

    private func make(_ target: FuzzTarget, _ random: inout SplitMix) -> [UInt8] {
        switch random.below(16) {
        case 0: return (0..<random.below(64)).map { _ in random.byte() }
        case 1: return (0..<random.below(24)).flatMap { _ in random.pick(target.words) }.prefix(Self.longest).map(\.self)
        default: break
        }
        var input = random.pick(target.seeds)
        for _ in 0...random.below(6) { change(&input, target, &random) }
        return input.count > Self.longest ? Array(input.prefix(Self.longest)) : input
    }

    private func change(_ input: inout [UInt8], _ target: FuzzTarget, _ random: inout SplitMix) {
        guard !input.isEmpty else {
            input = random.pick(target.words)
            return
        }
        let place = random.below(input.count)
        switch random.below(9) {
        case 0: input[place] = random.byte()
        case 1: input[place] ^= 1 << UInt8(random.below(8))
        case 2: input[place] = random.pick([0, 1, 0x7F, 0x80, 0xFE, 0xFF, 0xC0])
        case 3: input.removeSubrange(place..<min(input.count, place + 1 + random.below(8)))
        case 4: input.insert(contentsOf: input[place..<min(input.count, place + 1 + random.below(32))], at: place)
        case 5: input.insert(contentsOf: random.pick(target.words), at: place)
        case 6: input.removeLast(input.count - place)
        case 7:
            let other = random.pick(target.seeds)
            if !other.isEmpty { input = Array(input[..<place]) + other[random.below(other.count)...] }
        default:
            let word = random.pick(target.words)
            input.replaceSubrange(place..<min(input.count, place + word.count), with: word)
        }
    }

    private func clock() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// SplitMix64: fast, and the same numbers for the same seed everywhere.
struct SplitMix {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next() >> 24) }

    mutating func below(_ bound: Int) -> Int { Int(next() >> 33) % bound }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
