internal import Glibc
internal import HomeKit
internal import Reactor

// A controller and nothing else, as `Tests/Peers/aiohomekit_controller.py bench` is one of aiohomekit: `handkit-bench hap` runs both.
// usage: handkit-bench-hap HOST PORT CODE

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 3, let host = arguments.first, let port = UInt16(arguments[2]), let code = try? SetupCode(arguments[3]) else {
    print("usage: handkit-bench-hap HOST PORT CODE")
    exit(2)
}
// A task that waits is woken where it prefers to be, not where its actor is.
let measurement = Task(executorPreference: EventLoop.shared) {
    try await ControllerBench().run(at: HAPAddress(host: host, port: port), code: code)
}
print(try await measurement.value)
