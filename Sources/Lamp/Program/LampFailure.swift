import HomeKit
import MDNS
import ServiceKit

/// Why the lamp does not run; worded here, once.
enum LampFailure: Error {
    case unknownQuirk(String, nearest: String?)
    case repeatedQuirk(Quirk)
    case badQuirkValue(Quirk, String)
    case missingQuirkValue(Quirk)
    case badSetupCode
    case trivialSetupCode
    case codeFile(FileFailure)
    case twoCodes
    case badAddress(String)
    case codeIsKept
    case notYet(folder: String)
    case listening(ListenFailure)
    case store(PairingStoreError)
    case announcing(MDNSFailure)
}

extension LampFailure: UserFacingFailure {
    var exitCode: ExitCode {
        switch self {
        case .unknownQuirk, .repeatedQuirk, .badQuirkValue, .missingQuirkValue, .badAddress, .twoCodes: .wrongUsage
        case .badSetupCode, .trivialSetupCode, .codeFile, .codeIsKept, .notYet, .listening, .store, .announcing: .failed
        }
    }

    var reports: [FailureReport] {
        func report(_ what: String, at location: String? = nil, _ remedy: String?) -> [FailureReport] {
            [FailureReport(what, at: location, remedy: remedy)]
        }
        let list = "'handkit-lamp quirks' lists them"
        return switch self {
        case .unknownQuirk(let name, let nearest):
            report("there is no quirk '\(name)'", (nearest.map { "did you mean '\($0)'? " } ?? "") + list)
        case .repeatedQuirk(let quirk): report("the quirk '\(quirk.rawValue)' is given twice", "give it once")
        case .badQuirkValue(let quirk, let value): report("'\(value)' is no value for the quirk", "write \(quirk.usage); \(list)")
        case .missingQuirkValue(let quirk): report("the quirk '\(quirk.rawValue)' needs a value", "write \(quirk.usage); \(list)")
        case .badSetupCode: report("that is no setup code", "a setup code has eight digits: ddd-dd-ddd")
        case .trivialSetupCode:
            report("that setup code is too easy to guess for HomeKit", "take eight digits that are not in a row or all equal")
        case .codeFile(let failure): report(failure.reason, at: failure.path, nil)
        case .twoCodes: report("more than one setup code is given", "use one of --code, --code-file and --code-stdin")
        case .badAddress(let text): report("'\(text)' is no numeric address", "write an address of this machine, such as 127.0.0.1, or ::")
        case .codeIsKept:
            report(
                "this lamp has another setup code already, and is paired by it",
                "leave the code out, unpair the lamp first, or begin anew with 'handkit-lamp reset'")
        case .notYet(let folder): report("there is no lamp yet", at: folder, "'handkit-lamp run' makes one")
        case .listening(let failure):
            report(systemMessage(failure.errno), at: failure.address.description, "choose another --port or --address")
        case .store(let error): [Self.report(error)]
        case .announcing(let failure):
            report("\(failure.call): \(systemMessage(failure.errno))", at: "mDNS", "--no-mdns leaves the announcement out")
        }
    }

    private static func report(_ error: PairingStoreError) -> FailureReport {
        switch error {
        case .system(let call, let path, let code): FailureReport("\(call): \(systemMessage(code))", at: path)
        case .tooOpen(let path, _): FailureReport("others can read it", at: path, remedy: "chmod go-rwx it, or choose another --state")
        case .notAFile(let path): FailureReport("it is not what it should be", at: path, remedy: "move it away, or choose another --state")
        case .corrupted(let path, let reason):
            FailureReport("it cannot be read: \(reason)", at: path, remedy: "'handkit-lamp reset' begins anew")
        case .unsupportedVersion(let path, let version): FailureReport("it is of version \(version), from a newer program", at: path)
        case .locked(let path): FailureReport("another program is writing it", at: path)
        }
    }
}
