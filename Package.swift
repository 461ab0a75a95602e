// swift-tools-version: 6.2
import PackageDescription

/// OpenVINO and the hand models live in a prefix of the project's own, made by `deploy/setup`; everything else is a Debian package.
let prefix = Context.environment["HANDKIT_PREFIX"] ?? "\(Context.packageDirectory)/.handkit"

/// Where programs look for OpenVINO when they run. `deploy/install` gives a place beside the program, so that the tree can be moved.
let runPath = Context.environment["HANDKIT_RUN_PATH"] ?? "\(prefix)/lib"

let swiftSettings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .unsafeFlags(["-Xcc", "-I\(prefix)/include"]),
]

func systemLibrary(_ name: String, pkgConfig: String, apt: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func module(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: swiftSettings)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], resources: resources, swiftSettings: swiftSettings)
}

let package = Package(
    name: "handkit",
    products: [
        .executable(name: "handkit-recognizer", targets: ["handkit-recognizer"]),
        .executable(name: "handkit-bridge", targets: ["handkit-bridge"]),
        .executable(name: "handkit-lamp", targets: ["handkit-lamp"]),
        .executable(name: "handkit-bench", targets: ["handkit-bench"]),
    ],
    targets: [
        // C libraries and thin shims: no policy, one Swift owner each.
        systemLibrary("CMosquitto", pkgConfig: "libmosquitto", apt: "libmosquitto-dev"),
        systemLibrary("CFFmpeg", pkgConfig: "libavformat libavcodec libavutil", apt: "libavformat-dev"),
        systemLibrary("CTurboJPEG", pkgConfig: "libturbojpeg", apt: "libturbojpeg0-dev"),
        systemLibrary("COpenSSL", pkgConfig: "libcrypto", apt: "libssl-dev"),
        systemLibrary("CQRencode", pkgConfig: "libqrencode", apt: "libqrencode-dev"),
        systemLibrary("CYAML", pkgConfig: "yaml-0.1", apt: "libyaml-dev"),
        .target(
            name: "COpenVINO", cSettings: [.unsafeFlags(["-I\(prefix)/include"])],
            linkerSettings: [
                .linkedLibrary("openvino_c"),
                .unsafeFlags(["-L\(prefix)/lib", "-Xlinker", "-rpath", "-Xlinker", runPath]),
            ]),
        .target(name: "CMicroHTTPD", linkerSettings: [.linkedLibrary("microhttpd")]),
        .target(name: "CV4L2", linkerSettings: [.linkedLibrary("v4l2")]),
        .target(name: "CSystem"),
        .target(name: "CMulticast"),
        .target(name: "CCrash"),
        // Loaded when it is first needed, so not linked.
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("dl")]),
        .target(name: "CAllocations"),

        // Pure: bytes, landmarks and time in; values and actions out.
        module("Contract", []),
        .target(
            name: "Imaging",
            // Its loops touch every pixel; unoptimised they would make the tests over whole clips take minutes.
            swiftSettings: swiftSettings + [.unsafeFlags(["-O"], .when(configuration: .debug))]),
        module("HomeAssistant", ["Contract"]),
        module("Gestures", []),
        module("HandTracking", ["Gestures", "Imaging"]),

        // Adapters to the outside.
        module("Inference", ["COpenVINO", "HandTracking"]),
        module("Camera", ["CV4L2", "CFFmpeg", "CTurboJPEG", "Imaging"]),
        module("MQTT", ["CMosquitto", "Reactor"]),
        module("Cryptography", ["COpenSSL"]),
        module("HomeKit", ["Cryptography", "MDNS", "Reactor"]),
        module("MDNS", ["CMulticast", "Reactor"]),
        module("Reactor", ["CSystem"]),
        module("ServiceKit", ["CSystem", "CYAML"]),
        module("CrashCapture", ["CCrash", "ServiceKit"]),
        module("Settings", ["Contract", "Gestures", "HomeAssistant", "ServiceKit"]),

        module("HTTPServer", ["CMicroHTTPD", "ServiceKit"]),
        module("Monitoring", ["HTTPServer", "ServiceKit", "Settings"]),
        module(
            "Preview", ["CTurboJPEG", "Contract", "Gestures", "HTTPServer", "Imaging", "ServiceKit", "Settings"],
            resources: ["index.html", "page.css", "page.js", "picture.js", "plot.js", "tuning.js", "icon.svg"].map {
                .embedInCode("Page/\($0)")
            }),

        // For measurements: who is moved by whom, and what became of it.
        module("Fleet", ["Settings"]),

        module("BrokerLink", ["Contract", "CrashCapture", "MQTT", "ServiceKit", "Settings"]),
        module("Diagnostics", ["CCrash", "CCurl", "Contract", "CrashCapture", "ServiceKit", "Settings"]),

        // The services and their mains.
        module(
            "Recognizer",
            [
                "BrokerLink", "Camera", "Contract", "CrashCapture", "Diagnostics", "Gestures", "HandTracking", "HomeAssistant", "Imaging",
                "Inference", "MQTT", "Monitoring", "Preview", "ServiceKit", "Settings",
            ]),
        module(
            "Bridge",
            [
                "BrokerLink", "Contract", "CrashCapture", "Diagnostics", "HomeAssistant", "HomeKit", "MQTT", "Monitoring", "Reactor",
                "ServiceKit", "Settings",
            ]),
        module("Lamp", ["CQRencode", "CrashCapture", "Cryptography", "Diagnostics", "HomeKit", "MDNS", "ServiceKit", "Settings"]),
        program("handkit-recognizer", ["CrashCapture", "Recognizer", "Settings"]),
        program("handkit-bridge", ["Bridge", "CrashCapture", "Settings"]),
        program("handkit-lamp", ["CrashCapture", "Lamp", "Settings"]),
        program("handkit-bench-hap", ["HomeKit", "Reactor"]),
        program(
            "handkit-bench",
            [
                "CAllocations", "Camera", "Contract", "Fleet", "HandTracking", "HomeKit", "Imaging", "Inference", "MQTT", "Reactor",
                "Recognizer",
                "ServiceKit", "Settings", "TestSupport",
            ]),

        .executableTarget(
            name: "handkit-fuzz", dependencies: ["Cryptography", "HomeKit", "MDNS"], path: "Tests/Fuzz", swiftSettings: swiftSettings),
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: swiftSettings),
        tests("ContractTests", ["Contract"]),
        tests("HomeAssistantTests", ["HomeAssistant", "Contract"]),
        tests("ImagingTests", ["Imaging"]),
        tests("GesturesTests", ["Gestures"]),
        tests("HandTrackingTests", ["HandTracking", "Inference", "Camera", "Imaging", "Gestures"]),
        .target(name: "CEmulatedCamera", path: "Tests/Peers/EmulatedCamera", exclude: ["README.md", "plugin.c"]),
        tests("CameraTests", ["Camera", "CEmulatedCamera", "CTurboJPEG", "CV4L2", "Imaging"]),
        tests("FleetTests", ["Fleet", "Settings"]),
        tests("MQTTTests", ["MQTT"]),
        tests("BrokerTests", ["Contract"]),
        tests("CryptographyTests", ["Cryptography"], resources: [.copy("Vectors")]),
        tests("HomeKitTests", ["HomeKit", "Cryptography", "MDNS"]),
        tests("MDNSTests", ["MDNS"]),
        tests("ReactorTests", ["Reactor"]),
        tests("HTTPServerTests", ["HTTPServer"]),
        tests("LampTests", ["Lamp", "HomeKit", "MDNS", "ServiceKit"]),
        tests("ServiceKitTests", ["ServiceKit"]),
        tests("DiagnosticsTests", ["Contract", "CrashCapture", "Diagnostics", "ServiceKit", "Settings"]),
        tests("SettingsTests", ["Settings", "ServiceKit", "Contract", "Gestures"]),
        tests("PreviewTests", ["Preview", "Camera", "Contract", "Gestures", "HTTPServer", "Imaging", "ServiceKit", "Settings"]),
        tests(
            "RecognizerTests",
            [
                "Recognizer", "BrokerLink", "Camera", "Contract", "Gestures", "HandTracking", "Imaging", "Inference", "MQTT", "Monitoring",
                "ServiceKit", "Settings",
            ]),
        tests("BridgeTests", ["Bridge", "Contract", "HomeAssistant", "HomeKit", "ServiceKit", "Settings", "MDNS"]),
        tests("IntegrationTests", ["Contract", "MQTT"]),
    ],
    swiftLanguageModes: [.v6]
)
