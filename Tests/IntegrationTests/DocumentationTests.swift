import FoundationEssentials
import TestSupport
import Testing

/// The examples of the documentation, run as they stand.
@Suite(.timeLimit(.minutes(5))) struct DocumentationTests {
    @Test func `every example of the MQTT page does what the page says`() async throws {
        let stage = try await Stage(camera: "camera", lamp: "desk")
        let recognizer = try stage.recognize("\(Paths.root)/deploy/clips/demo.avi", ["--loop"])
        try await recognizer.line("that the camera is open", within: .seconds(60)) { $0.contains("camera opened") }
        let folder = try Paths.temporaryFolder()
        defer { Paths.remove(folder) }
        // Where Mosquitto's tools look for what stands before every command line.
        for tool in ["mosquitto_sub", "mosquitto_pub", "mosquitto_rr"] {
            try Paths.write("-h 127.0.0.1\n-p \(stage.broker.port)\n", to: "\(folder)/\(tool)")
        }
        let page = try String(contentsOfFile: "\(Paths.root)/Sources/Contract/Contract.docc/MQTT.md", encoding: .utf8)
        let examples = Example.all(in: page)
        #expect(examples.count >= 20)
        for example in examples {
            // What an example shows may take a moment to become true.
            var last: [String] = []
            try await eventually("'\(example.command)' gave \(example.output), but \(last)", within: .seconds(60)) {
                let run = try ChildProcess("sh", ["-c", example.command], environment: ["XDG_CONFIG_HOME": folder])
                guard try await run.wait(within: .seconds(60)) == .exited(0) else { throw Failure(lines: run.errorLines) }
                last = run.lines
                return example.isMet(by: run.lines)
            }
        }
        #expect(recognizer.ending == nil)
        #expect(stage.bridge.ending == nil)
    }

    struct Failure: Error {
        var lines: [String]
    }

    @Test func `an example is told from what is unlike it`() throws {
        let text = """
            ```console
            $ one
            a {"id":"x","n":1,"on":true,"status":"ok"}
            $ two
            ```
            """
        let examples = Example.all(in: text)
        #expect(examples.map(\.command) == ["one", "two"])
        let example = try #require(examples.first)
        #expect(example.isMet(by: [#"a {"id":"y","n":2.5,"on":false,"status":"ok"}"#]))
        for unlike in [
            #"b {"id":"y","n":2,"on":true,"status":"ok"}"#, #"a {"id":"y","n":2,"on":true,"status":"error"}"#,
            #"a {"id":"y","n":2,"on":true}"#, #"a {"id":"y","n":"2","on":true,"status":"ok"}"#,
            #"a {"id":"y","n":2,"on":1,"status":"ok"}"#, #"a {"id":"y","n":2,"new":1,"on":true,"status":"ok"}"#, "",
        ] {
            #expect(!example.isMet(by: [unlike]))
        }
        #expect(!example.isMet(by: []))
    }
}

/// A command of a page, and what the page says it prints.
struct Example {
    var command: String
    var output: [String]

    /// Those in the page's `console` blocks: a line that begins with `$` is a command, the others are output.
    static func all(in page: String) -> [Example] {
        var examples: [Example] = []
        var isInside = false
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isInside = line == "```console"
            } else if isInside, line.hasPrefix("$ ") {
                examples.append(Example(command: String(line.dropFirst(2)), output: []))
            } else if isInside, !examples.isEmpty {
                examples[examples.count - 1].output.append(String(line))
            }
        }
        return examples
    }

    /// Whether the lines are alike: the same texts and keys; numbers, and texts that are different every time, may differ.
    func isMet(by lines: [String]) -> Bool {
        guard lines.count == output.count else { return false }
        return zip(output, lines).allSatisfy { Self.isAlike($0, $1) }
    }

    private static func isAlike(_ expected: String, _ actual: String) -> Bool {
        let (ours, theirs) = (split(expected), split(actual))
        guard ours.text == theirs.text else { return false }
        switch (ours.json, theirs.json) {
        case (nil, nil): return true
        case (let ours?, let theirs?): return ours.isAlike(theirs)
        default: return false
        }
    }

    /// The text before a JSON object, with every number in it alike, and the object.
    private static func split(_ line: String) -> (text: String, json: JSONShape?) {
        let start = line.firstIndex(of: "{") ?? line.endIndex
        let text = String(line[..<start].map { $0.isNumber ? "0" : $0 })
        return (text, try? JSONDecoder().decode(JSONShape.self, from: Data(line[start...].utf8)))
    }
}

/// JSON whose numbers are all alike.
private indirect enum JSONShape: Decodable {
    case flag(Bool)
    case number
    case text(String)
    case list([JSONShape])
    case map([String: JSONShape])

    /// Keys whose texts are different every time.
    private static let free: Set<String> = ["id", "ts", "hand", "phase", "pinch", "version"]

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if (try? container.decode(Double.self)) != nil {
            self = .number
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([JSONShape].self) {
            self = .list(list)
        } else {
            self = .map(try container.decode([String: JSONShape].self))
        }
    }

    func isAlike(_ other: JSONShape, key: String = "") -> Bool {
        switch (self, other) {
        case (.flag, .flag), (.number, .number): return true
        case (.text(let one), .text(let another)): return one == another || Self.free.contains(key)
        case (.list(let ours), .list(let theirs)):
            return ours.count == theirs.count && zip(ours, theirs).allSatisfy { $0.isAlike($1) }
        // Counters have a key for each reason there was.
        case (.map(let ours), .map(let theirs)) where ours.isEmpty: return theirs.values.allSatisfy { $0.isAlike(.number) }
        case (.map(let ours), .map(let theirs)):
            return ours.keys == theirs.keys && ours.allSatisfy { key, value in theirs[key].map { value.isAlike($0, key: key) } ?? false }
        default: return false
        }
    }
}
