internal import CYAML

/// What libyaml finds in a text, one thing after the other.
struct YAMLEvent {
    enum Kind {
        case documentStart
        case streamEnd
        case scalar(String, isPlain: Bool, tag: String?, anchor: String?)
        case alias(String)
        case listStart(tag: String?, anchor: String?)
        case mapStart(tag: String?, anchor: String?)
        case end
        /// Says nothing about the tree.
        case structural
    }

    let kind: Kind
    let line: Int
    let column: Int
}

/// Owns a libyaml parser and the bytes it reads.
final class YAMLEventParser {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let bytes: UnsafeMutableBufferPointer<UInt8>

    init(_ text: [UInt8]) {
        parser = .allocate(capacity: 1)
        bytes = .allocate(capacity: text.count)
        _ = bytes.initialize(from: text)
        precondition(yaml_parser_initialize(parser) == 1, "out of memory")
        // Else a mark of UTF-16 at the beginning would turn everything after it into something else, or into nothing.
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        bytes.deallocate()
    }

    func next() throws(YAMLError) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw failure }
        defer { yaml_event_delete(&event) }
        return YAMLEvent(kind: Self.kind(of: event), line: Int(event.start_mark.line) + 1, column: Int(event.start_mark.column) + 1)
    }

    private static func kind(of event: yaml_event_t) -> YAMLEvent.Kind {
        switch event.type {
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            let isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE
            return .scalar(text, isPlain: isPlain, tag: string(scalar.tag), anchor: string(scalar.anchor))
        case YAML_ALIAS_EVENT:
            return .alias(string(event.data.alias.anchor) ?? "")
        case YAML_SEQUENCE_START_EVENT:
            return .listStart(tag: string(event.data.sequence_start.tag), anchor: string(event.data.sequence_start.anchor))
        case YAML_MAPPING_START_EVENT:
            return .mapStart(tag: string(event.data.mapping_start.tag), anchor: string(event.data.mapping_start.anchor))
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return .end
        case YAML_DOCUMENT_START_EVENT: return .documentStart
        case YAML_STREAM_END_EVENT, YAML_NO_EVENT: return .streamEnd
        default: return .structural
        }
    }

    private static func string(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        text.map { String(cString: $0) }
    }

    private var failure: YAMLError {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "out of memory"
        guard parser.pointee.error == YAML_READER_ERROR else {
            let mark = parser.pointee.problem_mark
            return .syntax(problem: problem, line: Int(mark.line) + 1, column: Int(mark.column) + 1)
        }
        // Bytes that are no text have an offset instead of a line.
        let before = bytes.prefix(parser.pointee.problem_offset)
        let lastBreak = before.lastIndex(of: UInt8(ascii: "\n"))
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        return .syntax(problem: problem, line: line, column: before.count - (lastBreak ?? -1))
    }
}
