import Glibc

/// A random number generator whose numbers are the same on every run: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number from a normal distribution with mean 0 and deviation 1 (Box and Muller).
    package mutating func normal() -> Double {
        let radius = (-2 * log(Double.random(in: Double.leastNonzeroMagnitude..<1, using: &self))).squareRoot()
        return radius * cos(2 * .pi * Double.random(in: 0..<1, using: &self))
    }

    package mutating func below(_ bound: UInt64) -> UInt64 { next() % bound }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }

    package mutating func bytes(upTo maximum: Int) -> [UInt8] {
        (0..<Int.random(in: 0...maximum, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// `bytes` with a few of them changed, doubled or gone.
    package mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &self) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &self)
            switch Int.random(in: 0..<4, using: &self) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &self)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(contentsOf: bytes[index...].prefix(Int.random(in: 1...16, using: &self)), at: index)
            default: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            }
        }
        return bytes
    }

    /// `bytes` cut into pieces of random length.
    package mutating func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
        var rest = bytes[...]
        var pieces: [[UInt8]] = []
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...40, using: &self))
            pieces.append(Array(piece))
            rest.removeFirst(piece.count)
        }
        return pieces
    }
}
