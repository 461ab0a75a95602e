/// Whether a service does its job, and if not, why.
public struct Health: Equatable, Sendable {
    /// One sentence each, for a person; empty when all is well.
    public var reasons: [String]

    public init(reasons: [String] = []) { self.reasons = reasons }

    public var isFine: Bool { reasons.isEmpty }

    /// `{"status":"ok"}` or `{"status":"failing","reasons":["…"]}`.
    var json: String {
        guard !isFine else { return #"{"status":"ok"}"# }
        return #"{"status":"failing","reasons":["# + reasons.map(quoted).joined(separator: ",") + "]}"
    }
}

private func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": quoted += "\\\""
        case "\\": quoted += "\\\\"
        case _ where scalar.value < 0x20: quoted += " "
        default: quoted.unicodeScalars.append(scalar)
        }
    }
    return quoted + "\""
}
