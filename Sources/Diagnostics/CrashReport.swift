internal import FoundationEssentials

/// A crash as it is told: which program of which build, what ended it, where, and the states before. Nothing of a person or a house.
public struct CrashReport: Codable, Equatable, Sendable {
    public struct Frame: Codable, Equatable, Sendable {
        /// In memory, `0x…`.
        public var address: String
        /// Absent where no symbol is known.
        public var function: String?
        /// Without the folders of the machine it was built on.
        public var file: String?
        public var line: Int?
        /// The program or library, without folder.
        public var image: String?
        /// Of this project, not of a library.
        public var isOwn: Bool
    }

    /// A program or library in memory.
    public struct Image: Codable, Equatable, Sendable {
        public var name: String
        /// Hexadecimal; absent where the linker gave it none.
        public var build: String?
        public var base: String
        public var size: UInt64
    }

    public struct State: Codable, Equatable, Sendable {
        /// Milliseconds since 1970.
        public var time: Int64
        public var name: String
    }

    /// 32 hexadecimal digits, of this crash alone.
    public var id: String
    public var program: String
    public var version: String
    public var build: String
    /// Milliseconds since 1970.
    public var started: Int64
    public var time: Int64
    /// `SIGSEGV` and so on.
    public var signal: String
    public var number: Int32
    public var code: Int32
    /// What Swift or an uncaught exception said.
    public var message: String?
    /// The innermost first.
    public var frames: [Frame]
    public var images: [Image]
    /// The oldest first.
    public var states: [State]
    public var architecture: String
    /// Crashes before it that were dropped because too many waited.
    public var dropped: Int
    /// Who knows of it by now.
    public var isPublished = false
    public var isSent = false

    /// Seconds from start to crash.
    public var uptime: Double { Double(max(0, time - started)) / 1000 }

    /// The innermost function of this project, else the innermost that is known.
    public var function: String? { (frames.first { $0.isOwn && $0.function != nil } ?? frames.first { $0.function != nil })?.function }

    /// In one line: `SIGILL in crashTestTrap(): Fatal error: …`
    public var summary: String {
        signal + (function.map { " in \($0)" } ?? "") + (message.map { ": \($0)" } ?? "")
    }
}

extension CrashReport {
    static let mostFrames = 64
    static let mostText = 512

    /// - Parameters:
    ///   - backtrace: What the backtracer wrote; without it frames are addresses alone.
    ///   - symbols: Of the program that crashed; nil where this is another build of it.
    ///   - redaction: Applied to every text that is not the program's own.
    init(
        id: String, _ record: CrashRecord, _ backtrace: CrashTrace?, symbols: ProgramSymbols?, redaction: Redaction,
        architecture: String, dropped: Int
    ) {
        func clean(_ text: String) -> String { String(redaction.applied(to: text).prefix(Self.mostText)) }
        self.id = id
        program = record.program
        (version, build, started, time) = (record.version, record.build, record.started, record.time)
        (number, code) = (record.signal, record.code)
        signal = Self.name(of: record.signal)
        message = (record.exception.map { "uncaught C++ exception: \($0)" } ?? record.message).map(clean)
        states = record.states.map { State(time: $0.time, name: $0.name) }
        self.architecture = backtrace?.architecture ?? architecture
        self.dropped = dropped
        let mapped = Self.images(of: record)
        let crashed = backtrace.flatMap { trace in trace.threads.first { $0.crashed == true } ?? trace.threads.first }
        let traced = (crashed?.frames ?? []).prefix(Self.mostFrames).compactMap { Self.frame($0, program: record.program, clean) }
        // The backtracer follows frame pointers, which C libraries do not keep; the unwinder in the process knows their tables.
        if traced.contains(where: \.isOwn) || record.frames.count < traced.count {
            frames = traced
        } else {
            frames = record.frames.prefix(Self.mostFrames).enumerated().map { index, address in
                let known = traced.first { hexadecimal($0.address) == address }
                return known ?? Self.frame(address, isCaller: index > 0, in: mapped, of: record.program, symbols, clean)
            }
        }
        if record.exception != nil { frames = Self.trimmed(frames) }
        let known = (backtrace?.images ?? []).compactMap(Self.image)
        images = known.isEmpty ? mapped.filter { image in record.frames.contains { image.contains($0) } } : known
    }

    private static func frame(_ frame: CrashTrace.Frame, program: String, _ clean: (String) -> String) -> Frame? {
        guard let address = frame.address else { return nil }
        var function = frame.description ?? frame.symbol
        // The backtracer adds how far into the function it is.
        if let text = function, let plus = text.ranges(of: " + ").last, text[plus.upperBound...].allSatisfy(\.isNumber) {
            function = String(text[..<plus.lowerBound])
        }
        let location = frame.sourceLocation.flatMap { $0.line > 0 ? $0 : nil }
        let image = frame.image.map(lastPart)
        return Frame(
            address: address, function: function.map(clean), file: location.map { clean(sourcePath($0.file)) }, line: location?.line,
            image: image.map(clean), isOwn: image == program && frame.system != true && !isOfSwift(frame.symbol))
    }

    /// Without the frames of what only reports that an exception is not caught.
    private static func trimmed(_ frames: [Frame]) -> [Frame] {
        let machinery = ["(anonymous namespace)::terminated()", "__clang_call_terminate"]
        let last = frames.lastIndex { $0.isOwn && $0.function.map(machinery.contains) == true }
        return last.map { Array(frames[($0 + 1)...]) } ?? frames
    }

    private static func frame(
        _ address: UInt64, isCaller: Bool, in images: [Image], of program: String, _ symbols: ProgramSymbols?, _ clean: (String) -> String
    ) -> Frame {
        let image = images.first { $0.contains(address) }
        let isOfProgram = image?.name == program
        // A caller's address is that of the instruction after the call, which may be another function's.
        let place = image.flatMap { hexadecimal($0.base) }.map { address - $0 - (isCaller ? 1 : 0) }
        let symbol = isOfProgram ? place.flatMap { symbols?.symbol(at: $0) } : nil
        return Frame(
            address: address.hexadecimal, function: symbol.map { clean(ProgramSymbols.demangled($0)) }, image: image.map { clean($0.name) },
            isOwn: isOfProgram && !isOfSwift(symbol))
    }

    /// Whether it is a function of Swift's own library, which an installed program has inside it: by how Swift mangles the names of that
    /// module and its types, and by the names of the runtime in C and C++.
    private static func isOfSwift(_ symbol: String?) -> Bool {
        guard let symbol else { return false }
        return ["$ss", "$sS", "swift_", "_swift_", "_ZN5swift", "_ZNK5swift"].contains { symbol.hasPrefix($0) }
    }

    /// From the package's own folders on, or the last part alone.
    private static func sourcePath(_ path: String) -> String {
        path.firstRange(of: "/Sources/").map { String(path[path.index(after: $0.lowerBound)...]) } ?? lastPart(path)
    }

    private static func image(_ image: CrashTrace.Image) -> Image? {
        guard let base = hexadecimal(image.baseAddress), let name = image.name ?? image.path else { return nil }
        let end = image.endOfText.flatMap(hexadecimal) ?? base
        return Image(name: lastPart(name), build: image.buildId, base: image.baseAddress, size: end > base ? end - base : 0)
    }

    /// The files in memory, each from where its beginning lies.
    private static func images(of record: CrashRecord) -> [Image] {
        var images: [Image] = []
        for (path, maps) in Dictionary(grouping: record.maps, by: \.path) {
            guard let first = maps.min(by: { $0.offset < $1.offset }), let end = maps.map(\.addresses.upperBound).max() else { continue }
            let name = lastPart(path)
            let base = first.addresses.lowerBound
            images.append(
                Image(name: name, build: name == record.program ? record.build : nil, base: base.hexadecimal, size: end - base))
        }
        return images.sorted { $0.base < $1.base }
    }

    private static func name(of signal: Int32) -> String {
        // signal(7); the same numbers on every processor that the programs are built for.
        let names: [Int32: String] = [4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV"]
        return names[signal] ?? "signal \(signal)"
    }
}

extension CrashReport.Image {
    func contains(_ address: UInt64) -> Bool {
        hexadecimal(base).map { address >= $0 && address - $0 < size } ?? false
    }
}

extension UInt64 {
    /// `0x` and sixteen digits.
    var hexadecimal: String {
        let digits = String(self, radix: 16)
        return "0x" + String(repeating: "0", count: 16 - digits.count) + digits
    }
}

private func lastPart(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }

/// Takes out of a text what is nobody else's business: secrets, and where somebody's home is.
public struct Redaction: Sendable {
    private let secrets: [String]
    private let home: String?

    /// - Parameters:
    ///   - secrets: Texts that must not get out; those of fewer than four characters would blot out ordinary words.
    ///   - home: The folder of the user.
    public init(secrets: [String], home: String?) {
        // The longer one first, where one is a part of another.
        self.secrets = Set(secrets.filter { $0.count >= 4 }).sorted { ($0.count, $0) > ($1.count, $1) }
        self.home = home.flatMap { $0.count > 1 ? $0 : nil }
    }

    func applied(to text: String) -> String {
        var text = text
        for secret in secrets { text = text.replacing(secret, with: "[redacted]") }
        if let home { text = text.replacing(home, with: "~") }
        // Whoever else's it is: the name after /home/.
        let parts = text.split(separator: "/home/", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(String(parts[0])) { $0 + "~" + $1.drop { $0 != "/" && !$0.isWhitespace } }
    }
}
