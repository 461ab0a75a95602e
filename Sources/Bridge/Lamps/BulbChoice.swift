import HomeKit

/// Which of the bulbs behind one pairing a lamp is: a gateway has many.
enum BulbChoice: Hashable, Sendable {
    /// The first, of most accessories the only one.
    case first
    /// By the accessory's number (`aid`).
    case accessory(UInt64)
    /// By its name, in whatever case.
    case name(String)

    /// - Parameter text: As it is configured: a number or a name; nil for the first.
    init(_ text: String?) {
        switch text {
        case nil: self = .first
        case let text?: self = UInt64(text).map { .accessory($0) } ?? .name(text)
        }
    }

    func bulb(in accessories: [Accessory]) -> Lightbulb? {
        let bulbs = Lightbulb.all(in: accessories)
        return switch self {
        case .first: bulbs.first
        case .accessory(let id): bulbs.first { $0.accessory == id }
        case .name(let name): bulbs.first { $0.name?.lowercased() == name.lowercased() }
        }
    }
}
