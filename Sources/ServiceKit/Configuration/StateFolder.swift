/// Where state is kept unless told otherwise: systemd's `$STATE_DIRECTORY`, else `$XDG_STATE_HOME/handkit`, else `~/.local/state/handkit`.
public func stateFolder(_ environment: [String: String]) -> String {
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    if let folders = value("STATE_DIRECTORY"), let first = folders.split(separator: ":").first { return String(first) }
    if let folder = value("XDG_STATE_HOME") { return "\(folder)/handkit" }
    if let home = value("HOME") { return "\(home)/.local/state/handkit" }
    return "/var/lib/handkit"
}
