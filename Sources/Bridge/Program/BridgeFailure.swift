import Contract
import Glibc
import HomeKit
import ServiceKit

/// What can go wrong with a command for a lamp, worded for the terminal.
enum BridgeFailure: Error {
    /// - Parameters:
    ///   - address: where it was tried.
    ///   - pairing: whether it was being paired.
    case lamp(name: String, address: HAPAddress, LampLink.Fault, pairing: Bool)
    case unpairing(name: String, address: HAPAddress, HAPError)
    case pairings(PairingStoreError)
    case unknownLamp(String, known: [String])
    case notPaired(lamp: String)
    case alreadyPaired(name: String, path: String)
    case badName(String)
    case badAddress(String)
    case badSetupCode
    case badPayload(SetupPayload.Fault)
    case badCodeFile(FileFailure)
    case noTerminal
    /// Nothing can be looked for on the network.
    case noNetwork(HAPDiscovery.Failure)
    case discoveryOff
    /// - Parameter seen: Names or ids of what is there.
    case notFound(String, seen: [String])
    /// No accessory that is there belongs to the payload.
    case noneMatches(seen: [String])
    /// Not one accessory alone is there to be paired.
    case unclear(seen: [String])
    case badPairingFile(FileFailure)
    /// A pairing file of another program that cannot be taken over.
    case foreign(file: String, AIOHomeKitFile.Fault)
    /// Two aliases become the same name.
    case sameName(String, file: String)
    case aborted
    case badValue(String)
    case commandDropped(lamp: String, LampQueue.DropReason)
    /// The lamp took the pairing, and then it could not be kept; whether it was taken back.
    case pairingNotKept(name: String, PairingStoreError, undone: Bool)
}

extension BridgeFailure: UserFacingFailure {
    var exitCode: ExitCode {
        switch self {
        case .badName, .badAddress, .badValue: .wrongUsage
        default: .failed
        }
    }

    var reports: [FailureReport] { [report] }

    private var report: FailureReport {
        switch self {
        case .lamp(let name, let address, .noLightbulb, _):
            FailureReport(
                "'\(name)' has no light bulb", at: "\(address)", remedy: "only light bulbs are supported; 'unpair \(name)' frees it")
        case .lamp(let name, let address, .hap(let error), let pairing): error.report(of: name, at: address, pairing: pairing)
        case .unpairing(let name, let address, let error):
            FailureReport(
                "nothing was unpaired: \(error.wording(of: name, pairing: false).what)", at: "\(address)",
                remedy: "try again, or forget the pairing with 'unpair \(name) --force-local' if the lamp is gone or was reset")
        case .pairings(let error): error.report
        case .unknownLamp(let name, let known):
            FailureReport(
                "there is no lamp '\(name)'",
                remedy: known.isEmpty
                    ? "pair one with 'handkit-bridge pair \(name)'" : "there are: \(known.joined(separator: ", "))")
        case .notPaired(let lamp):
            FailureReport("the lamp '\(lamp)' is not paired", remedy: "pair it with 'handkit-bridge pair \(lamp)'")
        case .alreadyPaired(let name, let path):
            FailureReport(
                "there is a pairing named '\(name)' already", at: path,
                remedy: "take another name, 'unpair \(name)' first, or --replace it if that lamp was reset")
        case .badName(let name):
            FailureReport("'\(name)' is no name for a lamp", remedy: "take 1 to 64 of the characters a-z, 0-9, _ and -")
        case .badAddress(let text): FailureReport("'\(text)' is no address", remedy: "write host:port, such as 192.168.1.20:51826")
        case .badSetupCode:
            FailureReport("that is no setup code", remedy: "it has eight digits, ddd-dd-ddd, and stands on the lamp or in its manual")
        case .badPayload: FailureReport("that is no whole QR payload", remedy: "it is X-HM:// and 13 characters; or give the setup code")
        case .noNetwork(let failure):
            FailureReport(
                "cannot look at the network: \(failure.call): \(systemError(failure.errno))",
                remedy: "give the address with --host ADDRESS:PORT")
        case .discoveryOff:
            FailureReport(
                "the network is not looked at", remedy: "set 'bridge: discovery: true', or give the address with --host ADDRESS:PORT")
        case .notFound(let name, let seen):
            FailureReport("'\(name)' was not found on the network", remedy: Self.choice(seen))
        case .noneMatches(let seen):
            FailureReport("no accessory on the network belongs to this QR code", remedy: Self.choice(seen))
        case .unclear(let seen):
            FailureReport(
                seen.isEmpty ? "there is no unpaired accessory on the network" : "there is more than one unpaired accessory",
                remedy: seen.isEmpty ? Self.choice(seen) : "name one with --lamp: \(seen.joined(separator: ", "))")
        case .badPairingFile(let failure): FailureReport(failure.reason, at: failure.path)
        case .foreign(let file, .notAPairingFile): FailureReport("that is no pairing file of aiohomekit", at: file)
        case .foreign(let file, .badField(let alias, let key)): FailureReport("'\(key)' of '\(alias)' is missing or not right", at: file)
        case .foreign(let file, .notIP(let alias)):
            FailureReport("'\(alias)' is no pairing over IP", at: file, remedy: "remove it from the file")
        case .sameName(let name, let file):
            FailureReport("two aliases would be named '\(name)'", at: file, remedy: "rename one in the file")
        case .badCodeFile(let failure): FailureReport("cannot read the setup code: \(failure.reason)", at: failure.path)
        case .noTerminal:
            FailureReport("there is no terminal to ask for the setup code", remedy: "use --code-file FILE or --code-stdin")
        case .aborted: FailureReport("nothing was changed")
        case .badValue(let text):
            FailureReport("'\(text)' is nothing to set", remedy: "write on, off, toggle or a percentage from 0 to 100")
        case .commandDropped(let lamp, .refused(let status)):
            FailureReport("the lamp '\(lamp)' refused it with HAP status \(status)", remedy: "see whether its maker's app can do it")
        case .commandDropped(let lamp, _): FailureReport("the lamp '\(lamp)' did not answer in time", remedy: "try again")
        case .pairingNotKept(let name, let error, let undone):
            FailureReport(
                "the pairing '\(name)' could not be kept: \(error.report.what)", at: error.report.location,
                remedy: undone
                    ? "it was taken off the lamp again; pair it once that is mended"
                    : "the lamp must be reset before it can be paired again")
        }
    }
}

extension BridgeFailure {
    private static func choice(_ seen: [String]) -> String {
        seen.isEmpty
            ? "is it on, and on the same network? Or give its address with --host ADDRESS:PORT"
            : "there are: \(seen.joined(separator: ", "))"
    }
}

extension LampTrouble {
    /// For the log of the service.
    func report(of lamp: Identifier) -> String {
        switch self {
        case .notPaired: return "it is not paired; run 'handkit-bridge pair \(lamp)'"
        case .pairingLost: return HAPError.pairingLost.wording(of: lamp.rawValue, pairing: false).joined
        case .noLightbulb: return "the accessory has no light bulb"
        case .unreachable(let error): return error.wording(of: lamp.rawValue, pairing: false).joined
        case .pairings(let error): return error.report.description
        }
    }
}

extension HAPError {
    struct Wording {
        var what: String
        var remedy: String?

        var joined: String { what + (remedy.map { "; \($0)" } ?? "") }
    }

    func report(of name: String, at address: HAPAddress, pairing: Bool) -> FailureReport {
        let wording = wording(of: name, pairing: pairing)
        return FailureReport(wording.what, at: "\(address)", remedy: wording.remedy)
    }

    /// What happened and what to do, in a person's words.
    func wording(of name: String, pairing: Bool) -> Wording {
        let look = "is it on, and is the address right?"
        return switch self {
        case .unresolvable(let host, let code):
            Wording(what: "no address for '\(host)': \(String(cString: gai_strerror(code)))", remedy: look)
        case .connectFailed(_, _, let code): Wording(what: "cannot connect: \(systemError(code))", remedy: look)
        case .timedOut(.connect): Wording(what: "no answer to a connection", remedy: look)
        case .timedOut(let step):
            Wording(what: "no answer in time (\(step.rawValue))", remedy: "try again; if it stays so, switch the lamp off and on")
        case .wrongSetupCode: Wording(what: "the setup code is wrong", remedy: "it stands on the lamp or in its manual")
        case .alreadyPaired:
            Wording(
                what: "the lamp is paired already",
                remedy: "remove it from the app or system it is paired with, or reset HomeKit on the lamp or in its maker's app")
        case .busy: Wording(what: "the lamp is busy pairing or locked after wrong codes", remedy: "wait a minute and try again")
        case .tooManyTries: Wording(what: "the lamp saw too many wrong codes and is locked", remedy: "reset it as its manual says")
        case .backoff(let seconds):
            Wording(what: "the lamp wants to be left alone first", remedy: "try again in \(seconds.map { "\($0) s" } ?? "a minute")")
        case .tooManyControllers: Wording(what: "the lamp has no room for another controller", remedy: "remove one it is paired with")
        case .refused(let step, let code): Wording(what: "the lamp refused (\(step.rawValue), error \(code))", remedy: nil)
        case .notHAP: Wording(what: "what answers there is no HomeKit accessory", remedy: "is the address right?")
        case .wrongAccessory(let expected, let found):
            Wording(what: "another accessory answers there: \(found) instead of \(expected)", remedy: "did the address change?")
        case .pairingLost:
            Wording(
                what: "the lamp does not know this pairing any more",
                remedy: "if it was reset: 'handkit-bridge pair \(name) --replace'")
        case .notAuthentic(let step):
            Wording(
                what: "the answer is not genuine (\(step.rawValue))",
                remedy: pairing ? "try again" : "if the lamp was reset: 'handkit-bridge pair \(name) --replace'")
        case .malformed(let step, let reason): Wording(what: "the lamp's answer makes no sense (\(step.rawValue): \(reason))", remedy: nil)
        case .httpStatus(_, code: 503, _):
            Wording(what: "all the lamp's connections are taken", remedy: "end other controllers' sessions, or switch it off and on")
        case .httpStatus(let step, let code, let status):
            Wording(what: "the lamp refused (\(step.rawValue), HTTP \(code)\(status.map { ", HAP status \($0)" } ?? ""))", remedy: nil)
        case .closed(errno: nil), .closed(errno: 0):
            Wording(what: "the other side ended the connection", remedy: pairing ? "is it a HomeKit accessory?" : nil)
        case .closed(let code?):
            Wording(what: "the connection broke: \(systemError(code))", remedy: pairing ? "is it a HomeKit accessory?" : nil)
        case .cancelled: Wording(what: "it was cancelled", remedy: nil)
        }
    }
}

extension PairingStoreError {
    var report: FailureReport {
        switch self {
        case .system(let call, let path, let code):
            FailureReport(
                "\(call) of the pairings failed: \(systemError(code))", at: path,
                remedy: "see who owns it; 'bridge: state:' names the folder")
        case .tooOpen(let path, let mode):
            FailureReport(
                "others may read the pairings (mode 0\(String(mode, radix: 8)))", at: path,
                remedy: "run 'chmod go= \(path)' once you know who did")
        case .notAFile(let path):
            FailureReport("that is no plain file or folder", at: path, remedy: "'bridge: state:' names the folder of the pairings")
        case .corrupted(let path, let reason):
            FailureReport(
                "the pairings are not readable: \(reason)", at: path,
                remedy: "restore the file from a backup, or move it away and pair anew")
        case .unsupportedVersion(let path, let version):
            FailureReport("a newer program wrote the pairings (version \(version))", at: path, remedy: "use that program")
        case .locked(let path): FailureReport("another process is changing the pairings", at: path, remedy: "try again")
        }
    }
}

func systemError(_ code: Int32) -> String { String(cString: strerror(code)).lowercased() }
