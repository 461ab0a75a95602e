import Camera
import Testing

@testable import Recognizer

struct CameraRecoveryTests {
    typealias Input = CameraRecovery.Input
    typealias Action = CameraRecovery.Action

    private static let unplugged = CameraError.unplugged(device: "/dev/video0")
    private static let gone = CameraError.noSuchDevice(path: "/dev/video0")
    private static let busy = CameraError.busy(device: "/dev/video0", at: .open, holders: [])
    private static let silent = CameraError.stalled(device: "/dev/video0", seconds: 3)

    private static func failed(_ error: CameraError) -> Input { .failed(error, jitter: 1) }
    private static func again(_ seconds: Double) -> Action { .tryAgain(after: .seconds(seconds)) }

    struct Case: CustomTestStringConvertible {
        var name: String
        var steps: [(input: Input, actions: [Action])]
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        .init(
            name: "one that is unplugged is spoken of once, tried ever less often, and greeted when it is back",
            steps: [
                (.opened, []), (.frame(at: 0), []), (.frame(at: 20), []), (failed(unplugged), [.warn(unplugged), again(0.5)]),
                (failed(gone), [.note(gone), again(1)]), (failed(gone), [.note(gone), again(2)]), (failed(gone), [.note(gone), again(4)]),
                (failed(gone), [.note(gone), again(4)]), (.opened, []), (.frame(at: 40), [.sayRecovered(attempts: 5)]),
                (.frame(at: 41), []),
            ]),
        .init(
            name: "one that is not there at the start is waited for",
            steps: [(failed(.noCamera), [.warn(.noCamera), again(0.5)]), (.opened, []), (.frame(at: 9), [.sayRecovered(attempts: 1)])]),
        .init(
            name: "another trouble is news",
            steps: [
                (failed(gone), [.warn(gone), again(0.5)]), (failed(busy), [.warn(busy), again(1)]),
                (failed(busy), [.note(busy), again(2)]),
            ]),
        .init(
            name: "one that comes and goes is neither spoken of again nor tried faster",
            steps: [
                (failed(silent), [.warn(silent), again(0.5)]), (.opened, []), (.frame(at: 0), [.sayRecovered(attempts: 1)]),
                (failed(silent), [.note(silent), again(1)]), (.opened, []), (.frame(at: 3), []), (.frame(at: 12.9), []),
                (failed(silent), [.note(silent), again(2)]),
            ]),
        .init(
            name: "one that worked for a while is new",
            steps: [
                (failed(silent), [.warn(silent), again(0.5)]), (.opened, []), (.frame(at: 0), [.sayRecovered(attempts: 1)]),
                (.frame(at: 10), []), (failed(silent), [.warn(silent), again(0.5)]),
            ]),
        .init(
            name: "one that opens and shows nothing does not work yet",
            steps: [(failed(silent), [.warn(silent), again(0.5)]), (.opened, []), (failed(silent), [.note(silent), again(1)])]),
        .init(
            name: "one that was closed on purpose begins anew",
            steps: [(.opened, []), (.frame(at: 0), []), (.closed, []), (.opened, []), (.frame(at: 99), [])]),
        .init(
            name: "what was written wrong is not tried again",
            steps: [(failed(.emptySource), [.end(.emptySource)]), (failed(.emptyClip(path: "a")), [.end(.emptyClip(path: "a"))])]),
    ]

    @Test(arguments: cases) func `each trouble is said once and tried again for ever`(example: Case) {
        var recovery = CameraRecovery()
        for (step, (input, actions)) in example.steps.enumerated() {
            let taken = recovery.handle(input)
            #expect(taken == actions, "step \(step)")
        }
    }

    @Test func `no wait is longer than five seconds, nor none at all`() {
        var recovery = CameraRecovery()
        for attempt in 0..<1_000 {
            let jitter = Double(attempt % 11) / 10
            for case .tryAgain(let wait) in recovery.handle(.failed(Self.gone, jitter: jitter)) {
                #expect(wait >= .milliseconds(250) && wait <= .seconds(4))
            }
        }
    }
}
