internal import FoundationEssentials

/// The part of what Swift's backtracer writes (`format=json`) that a report is made of.
struct CrashTrace: Decodable {
    struct Thread: Decodable {
        var crashed: Bool?
        var frames: [Frame]
    }

    struct Frame: Decodable {
        struct Location: Decodable {
            var file: String
            var line: Int
        }

        var address: String?
        var description: String?
        var symbol: String?
        var image: String?
        var inlined: Bool?
        var system: Bool?
        var sourceLocation: Location?
    }

    struct Image: Decodable {
        var name: String?
        var buildId: String?
        var path: String?
        var baseAddress: String
        var endOfText: String?
    }

    var architecture: String?
    var threads: [Thread]
    var images: [Image]?

    init?(_ bytes: [UInt8]) {
        guard let backtrace = try? JSONDecoder().decode(CrashTrace.self, from: Data(bytes)) else { return nil }
        self = backtrace
    }
}
