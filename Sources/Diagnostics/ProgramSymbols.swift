internal import CCrash
internal import Glibc

/// The functions of this program by their places, from its own file: for backtraces that Swift's backtracer did not make, or could not
/// follow, as through code of C without frame pointers.
///
/// The file is trusted no further than it is long.
final class ProgramSymbols {
    private struct Function {
        var start: UInt64
        var end: UInt64
        var name: UInt64
    }

    private let file: UnsafeRawBufferPointer
    private var functions: [Function] = []

    /// - Returns: nil for what is no ELF file of 64 bits and of this machine's byte order, or has no symbols.
    init?(path: String = "/proc/self/exe") {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_size > 64,
            let memory = mmap(nil, Int(information.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0), memory != MAP_FAILED
        else { return nil }
        file = UnsafeRawBufferPointer(start: memory, count: Int(information.st_size))
        guard file.starts(with: [0x7f, 0x45, 0x4c, 0x46, 2]) else { return nil }
        readFunctions()
        if functions.isEmpty { return nil }
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: file.baseAddress), file.count) }

    /// The function around a place, counted from where the file begins in memory, as the linker calls it.
    func symbol(at place: UInt64) -> String? {
        var (low, high) = (0, functions.count)
        while low < high {
            let middle = (low + high) / 2
            if functions[middle].start <= place { low = middle + 1 } else { high = middle }
        }
        guard low > 0, place < functions[low - 1].end else { return nil }
        return text(at: functions[low - 1].name)
    }

    // Offsets and numbers are those of elf(5).

    private func readFunctions() {
        guard let sections: UInt64 = number(at: 0x28), let size: UInt16 = number(at: 0x3a), let count: UInt16 = number(at: 0x3c) else {
            return
        }
        let headers = (0..<UInt64(count)).map { sections &+ $0 &* UInt64(size) }
        let symbolTable: UInt32 = 2
        guard let table = headers.first(where: { number(at: $0 &+ 4) == symbolTable }), let start: UInt64 = number(at: table &+ 0x18),
            let length: UInt64 = number(at: table &+ 0x20), let link: UInt32 = number(at: table &+ 0x28), Int(link) < headers.count,
            let names: UInt64 = number(at: headers[Int(link)] &+ 0x18)
        else { return }
        for symbol in stride(from: start, to: start &+ min(length, UInt64(file.count)), by: 24) {
            guard let kind: UInt8 = number(at: symbol &+ 4), kind & 15 == 2, let name: UInt32 = number(at: symbol),
                let value: UInt64 = number(at: symbol &+ 8), let size: UInt64 = number(at: symbol &+ 16), size > 0
            else { continue }
            functions.append(Function(start: value, end: value &+ size, name: names &+ UInt64(name)))
        }
        functions.sort { $0.start < $1.start }
    }

    private func number<Number: FixedWidthInteger>(at offset: UInt64) -> Number? {
        guard offset <= UInt64(file.count - MemoryLayout<Number>.size) else { return nil }
        return file.loadUnaligned(fromByteOffset: Int(offset), as: Number.self)
    }

    private func text(at offset: UInt64) -> String? {
        guard offset < UInt64(file.count) else { return nil }
        return String(decoding: file[Int(offset)...].prefix(1024).prefix { $0 != 0 }, as: UTF8.self)
    }

    static func demangled(_ name: String) -> String {
        var buffer = [CChar](repeating: 0, count: 512)
        guard ccrash_demangle(name, &buffer, buffer.count) else { return name }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
