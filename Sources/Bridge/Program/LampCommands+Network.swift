import Contract
import HomeKit
import ServiceKit
import Settings

/// The commands that look at the network.
extension LampCommands {
    private struct Finding: Encodable {
        var name: String
        var model: String?
        var id: String?
        var paired: Bool
        /// The name of this controller's pairing.
        var pairing: String?
        var category: UInt64?
        var address: String?
        var addresses: [String]
    }

    /// Lists the accessories on the network.
    func discover(json: Bool, seconds: Double?) async throws {
        let pairings = try await pairings()
        let patience = seconds.map { Duration.seconds($0) } ?? NetworkSearch.patience
        let services = try await NetworkSearch.find(for: patience) { _ in nil as Never? }.seen
        let findings = services.map { service in
            Finding(
                name: service.name, model: service.model, id: service.id, paired: service.isPaired,
                pairing: pairings.first { service.has(id: $0.value.accessoryID) }?.key, category: service.category,
                address: service.addresses.first.map { "\($0)" }, addresses: service.addresses.map { "\($0)" })
        }
        if json { return findings.forEach { printJSON($0) } }
        guard !findings.isEmpty else {
            return print("nothing was found; is the lamp on, and on the same network? 'pair NAME --host ADDRESS:PORT' does without looking")
        }
        let rows = zip(findings, services).map { finding, service in
            [
                finding.name, finding.model ?? "-", finding.id ?? "-",
                finding.pairing.map { "as \($0)" } ?? (finding.paired ? "yes" : "no"),
                service.categoryName, finding.address ?? "-",
            ]
        }
        print(TextTable(["NAME", "MODEL", "ID", "PAIRED", "CATEGORY", "ADDRESS"], rows).text, terminator: "")
    }

    /// Lets a lamp make itself noticed, paired or not.
    func identify(_ name: String) async throws {
        if try await isKnown(name) {
            let lamp = try await lamp(name)
            _ = try await withLink(to: lamp) { link in try await perform(.identify, lamp, link) }
        } else {
            let target = try await target(which: name, payload: nil)
            do throws(HAPError) {
                try await HAPPairing.identify(at: target.addresses)
            } catch {
                throw BridgeFailure.lamp(name: name, address: target.addresses[0], .hap(error), pairing: true)
            }
        }
        print("'\(name)' was asked to make itself noticed")
    }

    /// Prints how a lamp is, and every change, until the session ends.
    func watch(_ name: String, json: Bool) async throws {
        let lamp = try await lamp(name)
        try await withLink(to: lamp) { link in
            do throws(HAPError) {
                _ = try await link.session.subscribe(to: link.notified)
            } catch {
                throw BridgeFailure.lamp(name: name, address: link.session.address, .hap(error), pairing: false)
            }
            var values = try await read(lamp, link)
            show(values, json, at: .now())
            for await reading in link.session.events {
                guard case .report(let on, let brightness) = link.report(reading) else { continue }
                let before = values
                if let on { values.on = on }
                if let brightness { values.brightness = brightness }
                if values != before { show(values, json, at: .now()) }
            }
            let end = await link.session.end ?? .closed(errno: nil)
            throw BridgeFailure.lamp(name: name, address: link.session.address, .hap(end), pairing: false)
        }
    }

    /// Lists the light bulbs behind a pairing.
    func bulbs(_ name: String, json: Bool) async throws {
        struct Bulb: Encodable {
            var bulb: UInt64
            var name: String?
            var model: String?
            var dimmable: Bool
        }
        let lamp = try await lamp(name)
        let accessories = try await withLink(to: lamp) { link in
            do throws(HAPError) {
                return try await link.session.accessories()
            } catch {
                throw BridgeFailure.lamp(name: name, address: link.session.address, .hap(error), pairing: false)
            }
        }
        let bulbs = Lightbulb.all(in: accessories).map { bulb in
            Bulb(
                bulb: bulb.accessory, name: bulb.name.map { String(printable: $0) }, model: bulb.model.map { String(printable: $0) },
                dimmable: bulb.brightness != nil)
        }
        if json { return bulbs.forEach { printJSON($0) } }
        let rows = bulbs.map { ["\($0.bulb)", $0.name ?? "-", $0.model ?? "-", $0.dimmable ? "yes" : "no"] }
        print(TextTable(["BULB", "NAME", "MODEL", "DIMS"], rows).text, terminator: "")
    }

    /// Lists the controllers that a lamp is paired with.
    func controllers(_ name: String, json: Bool) async throws {
        struct Controller: Encodable {
            var id: String
            var administrator: Bool
            var own: Bool
        }
        let lamp = try await lamp(name)
        let found = try await withLink(to: lamp) { link in
            do throws(HAPError) {
                return try await link.session.pairings()
            } catch {
                throw BridgeFailure.lamp(name: name, address: link.session.address, .hap(error), pairing: false)
            }
        }
        let controllers = found.map {
            Controller(id: String(printable: $0.id), administrator: $0.isAdministrator, own: $0.id == lamp.record.controllerID)
        }
        if json { return controllers.forEach { printJSON($0) } }
        let rows = controllers.map { [$0.id, $0.administrator ? "yes" : "no", $0.own ? "this one" : ""] }
        print(TextTable(["CONTROLLER", "ADMIN", ""], rows).text, terminator: "")
    }
}

extension String {
    /// Text of an accessory in a form fit for a terminal.
    init(printable text: String) {
        self.init(text.unicodeScalars.filter { !("\u{0}"..."\u{1F}").contains($0) && $0 != "\u{7F}" }.map(Character.init))
    }
}

/// Columns of text, each as wide as it must be.
struct TextTable {
    private let rows: [[String]]

    init(_ head: [String], _ rows: [[String]]) { self.rows = [head] + rows }

    var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width + 2 - cell.count) }
            var line = cells.joined()
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
