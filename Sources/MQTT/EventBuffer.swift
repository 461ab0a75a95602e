/// The events that wait to be read, bounded: above the limit the oldest are dropped and counted, messages before others.
struct EventBuffer {
    private let limit: MQTTConfiguration.Limit
    private var events: ArraySlice<MQTTEvent> = []
    private var bytes = 0
    private var dropped = 0

    init(limit: MQTTConfiguration.Limit) {
        self.limit = limit
    }

    mutating func append(_ event: MQTTEvent) {
        events.append(event)
        bytes += event.size
        // The newest always stays, however big it is.
        while events.count > max(1, limit.messages) || (bytes > limit.bytes && events.count > 1) {
            let index = events.dropLast().firstIndex { $0.isMessage } ?? events.startIndex
            bytes -= events[index].size
            events.remove(at: index)
            dropped += 1
        }
    }

    /// The next event; what was dropped is told first.
    mutating func popFirst() -> MQTTEvent? {
        if dropped > 0 {
            defer { dropped = 0 }
            return .dropped(count: dropped)
        }
        let event = events.popFirst()
        bytes -= event?.size ?? 0
        return event
    }
}

extension MQTTEvent {
    fileprivate var isMessage: Bool {
        if case .message = self { true } else { false }
    }

    fileprivate var size: Int {
        if case .message(let message) = self { message.payload.count } else { 0 }
    }
}
