internal import Contract
internal import Gestures
internal import ServiceKit

extension Settings {
    /// What environment names begin with.
    static let environmentPrefix = "HANDKIT"

    /// Names with the prefix that belong to the build and the tests, or are read before any configuration.
    private static let foreignNames: Set<String> = ["HANDKIT_PREFIX", "HANDKIT_MEDIA", "HANDKIT_CRASH_FOLDER"]

    /// Reads a configuration file and the environment over the defaults.
    ///
    /// - Parameters:
    ///   - file: Nil for defaults and environment alone: no file is read that nobody named. Relative paths, in the file too, start at
    ///     the working folder.
    ///   - environment: Names and values; an empty value counts as unset.
    public static func load(file: String?, environment: [String: String]) throws(SettingsError) -> Settings {
        guard let file else { return try read(nil, file: nil, environment: environment).settings }
        let document = try YAMLDocument(file: file)
        return try read(document, file: file, environment: environment).settings
    }

    /// The settings in a document, with every key that was asked for.
    static func read(
        _ document: YAMLDocument?, file: String?, environment: [String: String]
    ) throws(SettingsError) -> (settings: Settings, knownKeys: [ConfigurationPath]) {
        let reader = ConfigurationReader(document: document, file: file, environment: environment, prefix: environmentPrefix)
        var settings = Settings(environment: environment)
        settings.mqtt.read(reader.root.section("mqtt"))
        settings.camera.read(reader.root.section("camera"))
        let profileProblems = try settings.readGestures(reader.root.section("gestures"), environment: environment)
        settings.preview.read(reader.root.section("preview"))
        settings.bridge.read(reader.root.section("bridge"))
        settings.readLamps(reader.root)
        settings.readGroups(reader.root)
        settings.readRoutes(reader.root)
        settings.homeAssistant.read(reader.root.section("homeassistant"))
        settings.log.read(reader.root.section("log"))
        settings.diagnostics.read(reader.root.section("diagnostics"))
        let (problems, warnings) = reader.finish(ignoring: foreignNames)
        guard problems.isEmpty, profileProblems.isEmpty else { throw .invalid(problems + profileProblems) }
        settings.warnings = warnings
        return (settings, reader.knownKeys)
    }

    /// The diagnostics alone, for a program that has no other settings.
    public static func diagnostics(environment: [String: String]) throws(SettingsError) -> Diagnostics {
        let reader = ConfigurationReader(document: nil, file: nil, environment: environment, prefix: environmentPrefix)
        var diagnostics = Diagnostics()
        diagnostics.read(reader.root.section("diagnostics"))
        let problems = reader.finish().problems
        guard problems.isEmpty else { throw .invalid(problems) }
        return diagnostics
    }

    /// - Returns: What is wrong in the profile's own file.
    private mutating func readGestures(_ section: ConfigurationSection, environment: [String: String]) throws(SettingsError)
        -> [ConfigurationProblem]
    {
        gestures.read(section)
        profile = section.optional("profile", expected: identifierExpectation) { try? Identifier($0) }
        profiles = GestureProfiles(folder: section.text("profiles", default: profiles.folder))
        guard let profile else { return [] }
        do {
            gestures = try profiles.load(profile, over: gestures, environment: environment)
        } catch {
            switch error {
            case .unreadable(let failure): section.report("profile", .unreadable(failure))
            case .malformed: throw error
            case .invalid(let problems): return problems
            }
        }
        return []
    }
}

let identifierExpectation = "1 to 64 of the characters a-z, 0-9, _ and -"

extension Settings.MQTT {
    fileprivate mutating func read(_ section: ConfigurationSection) {
        host = section.value("host", default: host, expected: "a host name or address, without port and scheme") { text in
            text.isEmpty || text.contains { $0.isWhitespace || $0 == "/" } ? nil : text
        }
        port = UInt16(section.integer("port", default: Int(port), in: 1...65_535))
        let further = section.list("fallbacks", expected: "a host name or address, or HOST:PORT, without scheme") { text -> HostAndPort? in
            if let both = HostAndPort(text) { return both }
            return text.isEmpty || text.contains { $0.isWhitespace || "/[]".contains($0) } ? nil : HostAndPort(host: text, port: port)
        }
        fallbacks = further ?? fallbacks
        username = section.text("username")
        password = section.secret("password")
        if password != nil, username == nil { section.report("username", .missing(expected: "set where a password is")) }
        readTLS(section.section("tls"))
        let expectation = "a topic such as handkit or home/handkit, without + and #, with no empty level, not beginning with $"
        topics = section.value("base", default: topics, expected: expectation) { try? Topics(base: $0) }
        clientIDPrefix = section.optional("client_id", expected: "1 to 64 letters, digits, _, - or .") { text in
            (1...64).contains(text.count) && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-.".contains($0)) }
                ? text : nil
        }
        version = section.choice("protocol", default: version)
        keepAlive = UInt16(section.integer("keepalive", default: Int(keepAlive), in: 5...65_535, unit: "seconds"))
    }

    private mutating func readTLS(_ section: ConfigurationSection) {
        let isEnabled = section.flag("enabled", default: false)
        var read = Settings.TLS()
        read.authorityFile = section.text("ca_file")
        read.certificateFile = section.text("certificate_file")
        read.keyFile = section.text("key_file")
        if read.certificateFile != nil, read.keyFile == nil {
            section.report("key_file", .missing(expected: "set where certificate_file is"))
        }
        if read.keyFile != nil, read.certificateFile == nil {
            section.report("certificate_file", .missing(expected: "set where key_file is"))
        }
        tls = isEnabled ? read : nil
        if !isEnabled, read != Settings.TLS() { section.report("enabled", .missing(expected: "true where files for TLS are named")) }
    }
}

extension Settings.Camera {
    fileprivate mutating func read(_ section: ConfigurationSection) {
        id = section.value("id", default: id, expected: identifierExpectation) { try? Identifier($0) }
        source = section.value(
            "source", default: source, expected: "auto, a device below /dev/, serial:NUMBER, an address or a clip's path"
        ) { Source($0) }
        width = section.integer("width", default: width, in: 64...7680, unit: "pixels")
        height = section.integer("height", default: height, in: 64...4320, unit: "pixels")
        framesPerSecond = section.number("fps", default: framesPerSecond, in: 1...240)
        format = section.choice("format", default: format)
        isMirrored = section.flag("mirrored", default: isMirrored)
        let turns = [0, 90, 180, 270]
        rotation = section.value("rotation", default: rotation, expected: "0, 90, 180 or 270 degrees") { text in
            Int(text).flatMap { turns.contains($0) ? $0 : nil }
        }
        exposure = section.choice("exposure", default: exposure)
        powerLine = section.choice("power_line", default: powerLine)
        let expected = "a name and a whole number such as gain=0; 'handkit-recognizer cameras' lists the names"
        controls = section.list("controls", expected: expected) { Control($0) } ?? controls
        username = section.text("username")
        password = section.secret("password")
        if password != nil, username == nil { section.report("username", .missing(expected: "set where a password is")) }
        models = section.text("models")
        detector = section.choice("detector", default: detector)
        landmarks = section.choice("landmarks", default: landmarks)
        precision = section.choice("precision", default: precision)
        threads = section.integer("threads", default: threads, in: 1...64, unit: "threads")
        inference = section.choice("inference", default: inference)
    }
}

extension Settings.Bridge {
    fileprivate mutating func read(_ section: ConfigurationSection) {
        id = section.value("id", default: id, expected: identifierExpectation) { try? Identifier($0) }
        state = section.text("state", default: state)
        discovers = section.flag("discovery", default: discovers)
        http.read(section.section("http"))
    }
}

extension Settings.Preview {
    fileprivate mutating func read(_ section: ConfigurationSection) {
        http.read(section)
        framesPerSecond = section.number("fps", default: framesPerSecond, in: 1...60)
    }
}

extension Settings.HTTP {
    fileprivate mutating func read(_ section: ConfigurationSection) {
        port = UInt16(section.integer("port", default: Int(port), in: 0...65_535))
        address = section.value("address", default: address, expected: "an IPv4 or IPv6 address") { IPAddress($0) == nil ? nil : $0 }
        token = section.secret("token")
        // It stands in URLs and cookies.
        let isFit = { (text: String) in
            text.count >= 8 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~".contains($0)) }
        }
        if let token, !isFit(token.revealed) {
            section.report("token", .wrongSecret(expected: "8 or more letters, digits, -, ., _ or ~"))
        }
        let isName = { (text: String) in
            !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-.".contains($0)) }
        }
        hosts = section.list("hosts", expected: "a host name without port") { isName($0) ? $0 : nil } ?? hosts
        if port != 0, token == nil, IPAddress(address)?.isLoopback == false {
            section.report("token", .missing(expected: "set where other machines reach the address"))
        }
    }
}

extension Settings.Diagnostics {
    fileprivate mutating func read(_ section: ConfigurationSection) {
        let isName = { (text: String) in
            (1...64).contains(text.count) && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-.".contains($0)) }
        }
        let expectation = "1 to 64 letters, digits, _, - or ."
        environment = section.value("environment", default: environment, expected: expectation) { isName($0) ? $0 : nil }
        host = section.optional("host", expected: expectation) { isName($0) ? $0 : nil }
        if let dsn = section.secret("sentry_dsn") {
            sentry = SentryAddress(dsn: dsn.revealed)
            if sentry == nil { section.report("sentry_dsn", .wrongSecret(expected: "https://KEY@HOST/PROJECT, as Sentry shows it")) }
        }
        authorityFile = section.text("ca_file")
    }
}

extension Settings.Log {
    fileprivate mutating func read(_ section: ConfigurationSection) {
        level = section.choice("level", default: level)
        format = section.choice("format", default: format)
    }
}

extension YAMLDocument {
    /// Reads a file of settings.
    init(file path: String) throws(SettingsError) {
        let bytes: [UInt8]
        do {
            // One more byte than the parser takes, so that it is the one to refuse.
            bytes = try readFile(path, limit: YAMLDocument.maximumBytes + 1)
        } catch {
            throw .unreadable(error)
        }
        try self.init(bytes, of: path)
    }

    /// - Parameter path: The file that problems are reported for.
    init(_ bytes: [UInt8], of path: String) throws(SettingsError) {
        do {
            try self.init(parsing: bytes)
        } catch {
            throw .malformed(file: path, error)
        }
    }
}
