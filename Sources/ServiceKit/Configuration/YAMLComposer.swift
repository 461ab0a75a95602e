/// Builds the tree from events, with its own stack: nesting costs no call depth.
struct YAMLComposer {
    private struct Open {
        let isMap: Bool
        let anchor: String?
        let line: Int
        let column: Int
        var items: [YAMLNode] = []
        var entries: [YAMLNode.Entry] = []
        var lineOfKey: [String: Int] = [:]
        /// The key whose value comes next.
        var key: (text: String, line: Int)?
        /// Nodes below, aliases expanded.
        var count = 1
        var height = 1
    }

    /// A node with its size, which an alias to it adds again.
    private struct Finished {
        let node: YAMLNode
        let count: Int
        let height: Int
    }

    private(set) var root: YAMLNode?
    private(set) var duplicateKeys: [YAMLDocument.DuplicateKey] = []
    private(set) var isAtEnd = false
    private var stack: [Open] = []
    private var anchors: [String: Finished] = [:]
    private var nodeCount = 0
    private var documentCount = 0

    mutating func receive(_ event: YAMLEvent) throws(YAMLError) {
        switch event.kind {
        case .structural: break
        case .streamEnd: isAtEnd = true
        case .documentStart:
            documentCount += 1
            if documentCount > 1 { throw .secondDocument(line: event.line) }
        case .scalar(let text, let isPlain, let tag, let anchor):
            try accept(tag, "tag:yaml.org,2002:str", at: event.line)
            let isNull = isPlain && tag == nil && ["", "~", "null", "Null", "NULL"].contains(text)
            let node = YAMLNode(content: isNull ? .null : .scalar(text), line: event.line, column: event.column)
            try add(Finished(node: node, count: 1, height: 1), anchor, event.line)
        case .alias(let name):
            // An anchor is known once its node is complete, so none can hold itself.
            guard let target = anchors[name] else { throw .unknownAlias(name, line: event.line) }
            try add(target, nil, event.line)
        case .listStart(let tag, let anchor):
            try accept(tag, "tag:yaml.org,2002:seq", at: event.line)
            try open(isMap: false, anchor, event)
        case .mapStart(let tag, let anchor):
            try accept(tag, "tag:yaml.org,2002:map", at: event.line)
            try open(isMap: true, anchor, event)
        case .end:
            let closed = stack.removeLast()
            let node = YAMLNode(
                content: closed.isMap ? .map(closed.entries) : .list(closed.items), line: closed.line, column: closed.column)
            // Its own node and those below are counted already.
            nodeCount -= closed.count
            try add(Finished(node: node, count: closed.count, height: closed.height), closed.anchor, closed.line)
        }
    }

    private func accept(_ tag: String?, _ accepted: String, at line: Int) throws(YAMLError) {
        if let tag, tag != accepted, tag != "!" { throw .unsupportedTag(tag, line: line) }
    }

    private mutating func open(isMap: Bool, _ anchor: String?, _ event: YAMLEvent) throws(YAMLError) {
        if let last = stack.last, last.isMap, last.key == nil { throw .keyIsNoText(line: event.line) }
        guard stack.count < YAMLDocument.maximumDepth else { throw .tooDeep(line: event.line) }
        try count(1, at: event.line)
        stack.append(Open(isMap: isMap, anchor: anchor, line: event.line, column: event.column))
    }

    private mutating func count(_ nodes: Int, at line: Int) throws(YAMLError) {
        nodeCount += nodes
        guard nodeCount <= YAMLDocument.maximumNodes else { throw .tooManyNodes(line: line) }
    }

    private mutating func add(_ finished: Finished, _ anchor: String?, _ line: Int) throws(YAMLError) {
        try count(finished.count, at: line)
        guard stack.count + finished.height <= YAMLDocument.maximumDepth + 1 else { throw .tooDeep(line: line) }
        if let anchor { anchors[anchor] = finished }
        guard var parent = stack.popLast() else {
            root = finished.node
            return
        }
        parent.count += finished.count
        parent.height = max(parent.height, finished.height + 1)
        if !parent.isMap {
            parent.items.append(finished.node)
        } else if let key = parent.key {
            parent.key = nil
            if let firstLine = parent.lineOfKey[key.text] {
                let path = ConfigurationPath(stack.map(Self.step) + [.key(key.text)])
                duplicateKeys.append(.init(path: path, line: key.line, firstLine: firstLine))
            } else {
                parent.lineOfKey[key.text] = key.line
                parent.entries.append(.init(key: key.text, line: key.line, value: finished.node))
            }
        } else {
            switch finished.node.content {
            case .scalar(let text): parent.key = (text, line)
            case .null, .list, .map: throw .keyIsNoText(line: line)
            }
        }
        stack.append(parent)
    }

    private static func step(_ open: Open) -> ConfigurationPath.Step {
        open.key.map { .key($0.text) } ?? .index(open.items.count)
    }
}
