internal import Contract
internal import ServiceKit

extension Settings {
    mutating func readLamps(_ root: ConfigurationSection) {
        let keys = ["pairing", "host", "bulb", "min_interval_ms", "split"]
        for (name, section) in root.members("lamps", keys: keys) {
            // The values are read even below a bad name, so that all that is wrong is said at once.
            let id = try? Identifier(name)
            if id == nil { section.report(.wrongValue(name, expected: identifierExpectation)) }
            var lamp = Lamp(id: id ?? .camera)
            lamp.pairing = section.text("pairing", default: lamp.pairing)
            lamp.host = section.optional("host", expected: "host:port, such as 192.168.1.20:51826") { HostAndPort($0) }
            lamp.minimumInterval = section.milliseconds("min_interval_ms", default: lamp.minimumInterval, in: 0...10_000)
            lamp.bulb = section.text("bulb")
            lamp.splitsWrites = section.flag("split", default: lamp.splitsWrites)
            if id != nil { lamps.append(lamp) }
        }
    }

    /// Which lamps switch together.
    mutating func readGroups(_ root: ConfigurationSection) {
        for (name, section) in root.members("groups", keys: ["lamps"]) {
            let id = try? Identifier(name)
            if id == nil { section.report(.wrongValue(name, expected: identifierExpectation)) }
            if lamps.contains(where: { $0.id == id }) {
                section.report(.wrongValue(name, expected: "another name than a lamp's, since routes name both"))
            }
            let members = lampIDs(section, known: lamps.map(\.id.rawValue), expected: "a lamp in 'lamps'")
            if let id, let members { groups.append(Group(id: id, lamps: members)) }
        }
    }

    mutating func readRoutes(_ root: ConfigurationSection) {
        guard let items = root.items("routes") else {
            if !lamps.isEmpty { routes = [Route(camera: camera.id, lamps: lamps.map(\.id))] }
            return
        }
        let known = (lamps.map(\.id) + groups.map(\.id)).map(\.rawValue)
        for section in items {
            let camera = section.value("camera", default: camera.id, expected: identifierExpectation) { try? Identifier($0) }
            guard let ids = lampIDs(section, known: known, expected: groups.isEmpty ? "a lamp in 'lamps'" : "a lamp or group") else {
                continue
            }
            var route = Route(camera: camera, lamps: [])
            for id in ids {
                let members = groups.first { $0.id == id }?.lamps ?? [id]
                route.lamps += members.filter { !route.lamps.contains($0) }
            }
            routes.append(route)
        }
    }

    /// The list `lamps` of a group or route, without doubles; nil where it is not right, which is reported.
    private func lampIDs(_ section: ConfigurationSection, known: [String], expected: String) -> [Identifier]? {
        // Named only where something is wrong: a house of a thousand lamps and routes would make a million names of it.
        func expectation() -> String {
            known.isEmpty ? "the id of a lamp in 'lamps', which has none" : "\(expected): \(known.joined(separator: ", "))"
        }
        let ids = section.list("lamps", expected: expectation()) { text in known.contains(text) ? try? Identifier(text) : nil }
        guard let ids else {
            if !section.isSet("lamps") { section.report("lamps", .missing(expected: "a list of lamp ids")) }
            return nil
        }
        if ids.isEmpty { section.report("lamps", .wrongShape(found: "without a lamp", expected: "a list of lamp ids")) }
        if let twice = ids.first(where: { id in ids.count { $0 == id } > 1 }) {
            section.report("lamps", .wrongValue(twice.rawValue, expected: "named once"))
        }
        return ids
    }
}
