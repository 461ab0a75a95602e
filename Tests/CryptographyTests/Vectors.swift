import Foundation

/// Reads a file of published vectors.
func vectors<Contents: Decodable>(_ name: String, as type: Contents.Type = Contents.self) throws -> Contents {
    guard let url = Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors") else {
        throw CocoaError(.fileNoSuchFile)
    }
    return try JSONDecoder().decode(Contents.self, from: Data(contentsOf: url))
}

struct Sourced<Vector: Decodable>: Decodable {
    var vectors: [Vector]
}

/// Bytes written in hexadecimal.
struct HexBytes: Decodable, Equatable {
    var bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        let text = Array(try decoder.singleValueContainer().decode(String.self))
        bytes = try stride(from: 0, to: text.count, by: 2).map { index in
            guard let byte = UInt8(String(text[index...index + 1]), radix: 16) else { throw CocoaError(.formatting) }
            return byte
        }
    }
}
