public import Contract
public import Gestures

/// Turns gestures into the contract's events, each with an id of its own.
public struct EventWriter: Sendable {
    /// Names this run: with a number counted up it makes ids that never come again.
    private let boot: String
    private var count = 0

    /// - Parameter boot: Random for each start.
    public init(boot: UInt32) {
        let hex = String(boot, radix: 16)
        self.boot = String(repeating: "0", count: 8 - hex.count) + hex
    }

    public enum Event: Equatable, Sendable {
        case toggle(ToggleEvent)
        case brightness(BrightnessEvent)
    }

    /// - Parameter time: When the frame that completed the gesture was captured.
    public mutating func write(_ event: GestureEvent, at time: ArrivalTime) -> Event {
        count += 1
        let id = "\(boot)-\(count)"
        switch event {
        case .toggle(let hand, let confidence):
            return .toggle(
                ToggleEvent(
                    id: id, ts: time.ts, uptime: time.uptime, hand: hand == .left ? .left : .right, confidence: confidence.rounded(2)))
        case .brightness(let value, let phase, let displacement):
            let phase: BrightnessEvent.Phase =
                switch phase {
                case .began: .began
                case .changed: .changed
                case .ended: .ended
                }
            return .brightness(
                BrightnessEvent(
                    value: value.rounded(1), phase: phase, displacement: displacement.rounded(4), id: id, ts: time.ts, uptime: time.uptime))
        }
    }
}
