// swift-tools-version: 6.3
import PackageDescription

/// The additions that the environment variable asks for, with commas between several.
///
/// `PHAROS_BUILD` may hold:
/// - `benchmarks`: the programs of `Benchmarks` and `faults`, and ordo-one/benchmark.
/// - `fuzzing`: libFuzzer's and AddressSanitizer's instruments in every module, and the `fuzz-*` programs.
/// - `threads`: what ThreadSanitizer has to know about the Swift libraries, linked into the tests.
let extras = Set((Context.environment["PHAROS_BUILD"] ?? "").split(separator: ",").map(String.init))

/// The test targets that `PHAROS_TESTS` names, with commas between them; nil for all.
///
/// Only these and what they need are part of the package then, so that one module and its tests build alone.
let chosenTests = Context.environment["PHAROS_TESTS"]?.split(separator: ",").map(String.init)

/// The groups of modules; `Sources` and `Tests` have a folder for each.
///
/// A module uses its own group and those before it, and the gateway uses Model alone.
let groups: KeyValuePairs<String, [String]> = [
  "Model": [
    "PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures", "PharosSecurity", "PharosFiles",
    "PharosTerminal", "PharosNarration", "PharosDashboard",
  ],
  "Places": ["PharosSpace", "PharosWays", "PharosMaps"],
  "Engine": ["PharosPresence", "PharosRooms", "PharosFixes", "PharosStays", "PharosPipeline", "PharosSite"],
  "Lab": ["PharosSimulation", "PharosComparators", "PharosSurvey", "PharosLab"],
  "Server": [
    "PharosIngest", "PharosPublishing", "Pharos", "PharosJournal", "PharosMQTT", "PharosMosquitto",
    "PharosDelivery", "PharosNATS", "PharosCluster", "PharosHTTP", "PharosService", "PharosTools",
    "PharosCommand",
  ],
  "Gateway": ["PharosGateway", "PharosGatewayCommand"],
  "Shims": ["CPharos", "CTrackTable", "CJournalFiles", "CCairo", "CCrypto", "CMosquitto", "CNats", "CZlib"],
]

/// The folder of a module below `Sources`, or of its tests below `Tests`.
func folder(of name: String) -> String {
  let module = name.hasSuffix("Tests") ? String(name.dropLast(5)) : name
  guard let group = groups.first(where: { $0.value.contains(module) }) else { return name }
  return "\(group.key)/\(name)"
}

/// The features that every target is written with.
let features: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let strict: [SwiftSetting] = features + [.treatAllWarnings(as: .error)]

/// The settings of the modules themselves.
let modules: [SwiftSetting] =
  extras.contains("fuzzing") ? strict + [.unsafeFlags(["-sanitize=fuzzer,address"])] : strict

let nio: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"),
  .product(name: "NIOPosix", package: "swift-nio"),
]

let database: [Target.Dependency] = [
  .product(name: "GRDB", package: "GRDB.swift"),
  .product(name: "GRDBSQLite", package: "GRDB.swift"),
]
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let http1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let httpClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let openCombine = Target.Dependency.product(name: "OpenCombine", package: "OpenCombine")

/// A library module, its dependencies and the catalog that documents it.
func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(
    name: name,
    dependencies: dependencies,
    path: "Sources/\(folder(of: name))",
    swiftSettings: modules
  )
}

/// A module that reads untrusted bytes: every operation that the compiler cannot prove memory-safe is marked `unsafe`.
func decoding(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(
    name: name,
    dependencies: dependencies,
    path: "Sources/\(folder(of: name))",
    swiftSettings: modules + [.strictMemorySafety()]
  )
}

/// The tests of a module, with the shared test support.
///
/// In a release build the modules are optimised and the tests are not: optimising the tests would take longer than it saves.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(
    name: name,
    dependencies: dependencies + ["PharosTestSupport"]
      + (extras.contains("threads") ? ["PharosThreadOrder"] : []),
    path: "Tests/\(folder(of: name))",
    swiftSettings: strict + [
      .unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"], .when(configuration: .release))
    ]
  )
}

/// Fuzz targets of one kind: a library, which their program and the replay of regressions use.
func fuzzTargets(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(
    name: name,
    dependencies: (name == "FuzzSupport" ? [] : ["FuzzSupport"]) + dependencies,
    path: "Tests/Fuzzing/Sources/\(name)",
    swiftSettings: modules
  )
}

let package = Package(
  name: "pharos",
  platforms: [.macOS("26.0")],
  products: [
    .library(name: "Pharos", targets: ["Pharos", "PharosIngest", "PharosPublishing"]),
    .library(
      name: "PharosCore",
      targets: [
        "PharosDocuments", "PharosModel", "PharosWire", "PharosSpace", "PharosWays", "PharosPresence",
        "PharosRooms", "PharosFixes", "PharosStays",
        "PharosCaptures", "PharosPipeline",
      ]
    ),
    .library(
      name: "PharosVenues",
      targets: ["PharosDocuments", "PharosModel", "PharosSpace", "PharosWays", "PharosMaps"]
    ),
    .executable(name: "pharos", targets: ["PharosCommand"]),
    .executable(name: "pharos-gateway", targets: ["PharosGatewayCommand"]),
  ],
  traits: [
    .trait(name: "MQTT", description: "Connections to MQTT brokers; needs libmosquitto-dev."),
    .trait(name: "NATS", description: "Sites on several machines, by NATS; needs libnats-dev."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.0"),
    .package(url: "https://github.com/apple/swift-atomics", from: "1.3.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.3.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    .target(name: "CPharos", path: "Sources/Shims/CPharos"),
    .systemLibrary(
      name: "CCairo",
      path: "Sources/Shims/CCairo",
      pkgConfig: "cairo",
      providers: [.apt(["libcairo2-dev"])]
    ),
    .systemLibrary(
      name: "CCrypto",
      path: "Sources/Shims/CCrypto",
      pkgConfig: "libcrypto",
      providers: [.apt(["libssl-dev"])]
    ),
    .systemLibrary(
      name: "CMosquitto",
      path: "Sources/Shims/CMosquitto",
      pkgConfig: "libmosquitto",
      providers: [.apt(["libmosquitto-dev"])]
    ),
    .systemLibrary(
      name: "CNats",
      path: "Sources/Shims/CNats",
      pkgConfig: "libnats",
      providers: [.apt(["libnats-dev"])]
    ),
    .systemLibrary(
      name: "CZlib",
      path: "Sources/Shims/CZlib",
      pkgConfig: "zlib",
      providers: [.apt(["zlib1g-dev"])]
    ),

    // The pure modules: values in, values out.
    decoding("PharosDocuments", []),
    decoding("PharosModel", ["PharosDocuments"]),
    decoding("PharosWire", ["PharosDocuments", "PharosModel"]),
    module("PharosSpace", ["PharosDocuments", "PharosModel"]),
    module("PharosWays", ["PharosDocuments", "PharosModel", "PharosSpace"]),
    .target(name: "CTrackTable", path: "Sources/Shims/CTrackTable"),
    module("PharosPresence", ["CTrackTable", "PharosDocuments", "PharosModel", "PharosWire"]),
    module("PharosRooms", ["PharosDocuments", "PharosModel"]),
    module(
      "PharosFixes",
      ["PharosDocuments", "PharosModel", "PharosSpace", "PharosWays", deque, heap]
    ),
    module(
      "PharosStays",
      ["PharosDocuments", "PharosModel", "PharosFixes", "PharosSpace", "PharosWays"]
    ),
    module(
      "PharosSurvey",
      ["PharosModel", "PharosFixes", "PharosSpace", "PharosWays"]
    ),
    decoding("PharosCaptures", ["PharosDocuments", "PharosModel", "PharosWire"]),
    decoding("PharosSecurity", ["CCrypto", "PharosDocuments", "PharosModel", "PharosWire"]),
    module("PharosNarration", ["PharosDocuments", "PharosModel"]),
    module(
      "PharosPipeline",
      [
        "PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures", "PharosPresence", "PharosRooms",
        "PharosFixes", "PharosStays", "PharosSpace", "PharosSecurity",
      ]
    ),
    module(
      "PharosSimulation",
      ["PharosDocuments", "PharosModel", "PharosWire", "PharosSpace", heap]
    ),
    module("PharosComparators", ["PharosModel"]),
    module("PharosMQTT", ["PharosDocuments", "PharosModel", deque]),

    // The shells: sockets, files, threads, subscribers.
    module(
      "PharosMosquitto",
      ["PharosModel", "PharosMQTT", .target(name: "CMosquitto", condition: .when(traits: ["MQTT"]))]
    ),
    module(
      "PharosNATS",
      ["CCrypto", .target(name: "CNats", condition: .when(traits: ["NATS"]))]
    ),
    module("PharosFiles", ["CZlib"]),
    module(
      "PharosTerminal",
      ["CPharos", "PharosDocuments", "PharosModel", "PharosFiles", logging]
    ),
    module(
      "PharosMaps",
      [
        "CCairo", "CZlib", "PharosDocuments", "PharosModel", "PharosSpace", "PharosWays", "PharosSecurity",
      ] + database
    ),
    module(
      "PharosGateway",
      [
        "CPharos", "PharosModel", "PharosWire", "PharosCaptures", "PharosSecurity", "PharosFiles",
        argumentParser, deque,
      ]
    ),
    .executableTarget(
      name: "PharosGatewayCommand",
      dependencies: ["PharosGateway", argumentParser],
      path: "Sources/Gateway/PharosGatewayCommand",
      swiftSettings: strict
    ),
    module(
      "PharosIngest",
      [
        "CPharos", "PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures", "PharosPresence",
        "PharosRooms", "PharosFixes", "PharosPipeline", "PharosSecurity", "PharosSite",
        .product(name: "Atomics", package: "swift-atomics"), logging,
      ] + nio
    ),
    module(
      "PharosPublishing",
      ["PharosDocuments", "PharosModel", "PharosFixes", "PharosStays", openCombine]
    ),
    module(
      "Pharos",
      [
        "PharosDocuments", "PharosModel", "PharosPresence", "PharosRooms", "PharosFixes", "PharosStays",
        "PharosPipeline", "PharosSite", "PharosIngest", "PharosSecurity", "PharosPublishing", logging,
        lifecycle,
      ]
    ),
    .target(name: "CJournalFiles", path: "Sources/Shims/CJournalFiles"),
    module(
      "PharosJournal",
      ["CJournalFiles", "PharosDocuments", "PharosModel"] + database
    ),
    module(
      "PharosDelivery",
      [
        "CPharos", "PharosDocuments", "PharosModel", "PharosSecurity", "PharosWays", "PharosPublishing",
        "PharosJournal", "PharosMQTT", heap, http1, httpClient, logging, lifecycle,
      ] + nio
    ),
    module(
      "PharosSite",
      [
        "PharosDocuments", "PharosModel", "PharosSecurity", "PharosFiles", "PharosTerminal", "PharosSpace",
        "PharosWays", "PharosFixes",
        .product(name: "Yams", package: "Yams"), logging,
      ]
    ),
    .target(name: "CDashboard", path: "Sources/Model/PharosDashboard/Embedded"),
    .target(
      name: "PharosDashboard",
      dependencies: ["CDashboard"],
      path: "Sources/Model/PharosDashboard",
      exclude: ["Assets", "Embedded"],
      swiftSettings: strict
    ),
    .target(
      name: "PharosHTTP",
      dependencies: [
        "PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures", "PharosPresence", "PharosRooms",
        "PharosPipeline", "PharosSpace", "PharosWays", "PharosMaps", "PharosIngest",
        "PharosSecurity", "PharosPublishing", "Pharos", "PharosFiles", "PharosJournal", "PharosDelivery",
        "PharosSite", "PharosDashboard", .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdTLS", package: "hummingbird"), logging, lifecycle,
      ] + nio,
      path: "Sources/Server/PharosHTTP",
      swiftSettings: strict
    ),
    module(
      "PharosLab",
      [
        "PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures", "PharosSecurity", "PharosFiles",
        "PharosTerminal", "PharosNarration", "PharosDashboard", "PharosSpace", "PharosWays", "PharosPresence",
        "PharosRooms", "PharosFixes", "PharosPipeline", "PharosSite", "PharosSimulation", "PharosComparators",
        "PharosSurvey", .product(name: "Histogram", package: "hdrhistogram-swift"),
      ]
    ),
    module(
      "PharosCluster",
      [
        "PharosDocuments", "PharosModel", "PharosPipeline", "PharosSite", "PharosIngest", "PharosJournal",
        "PharosDelivery", "PharosTerminal", "PharosNATS", logging, lifecycle,
      ]
    ),
    module(
      "PharosService",
      [
        "CPharos", "PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures", "PharosSecurity",
        "PharosTerminal", "PharosNarration", "PharosSpace", "PharosWays", "PharosPresence", "PharosRooms",
        "PharosFixes", "PharosPipeline", "PharosSite", "PharosSimulation", "PharosLab", "PharosIngest",
        "PharosPublishing",
        "Pharos", "PharosJournal", "PharosMQTT", "PharosMosquitto", "PharosDelivery", "PharosCluster",
        "PharosHTTP",
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
        .product(name: "Configuration", package: "swift-configuration"), logging, lifecycle,
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ] + nio
    ),
    module(
      "PharosTools",
      [
        "CPharos", "PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures", "PharosSecurity",
        "PharosFiles", "PharosTerminal", "PharosSpace", "PharosWays", "PharosMaps", "PharosFixes",
        "PharosStays", "PharosSite", "PharosLab", "PharosIngest", "Pharos", "PharosJournal",
        "PharosDelivery", "PharosHTTP", "PharosService", http1, httpClient, logging,
        .product(name: "Yams", package: "Yams"),
      ] + nio
    ),
    .executableTarget(
      name: "PharosCommand",
      dependencies: [
        "PharosModel", "PharosTerminal", "PharosWays", "PharosSite", "PharosLab", "PharosCluster",
        "PharosService", "PharosTools", "PharosGateway", argumentParser,
      ],
      path: "Sources/Server/PharosCommand",
      swiftSettings: strict
    ),
    .plugin(
      name: "BillOfMaterials",
      capability: .command(
        intent: .custom(
          verb: "sbom",
          description: "Print what the pharos executable is made of, as a CycloneDX bill of materials."
        )
      ),
      path: "Sources/Server/BillOfMaterials"
    ),

    // Tests.
    .target(
      name: "PharosTestSupport",
      path: "Tests/PharosTestSupport",
      swiftSettings: strict
    ),
    .target(
      name: "PharosEncoders",
      dependencies: ["PharosDocuments", "PharosModel", "PharosWire"],
      path: "Tests/PharosEncoders",
      swiftSettings: strict
    ),
    .target(
      name: "PharosDecisionCheck",
      dependencies: ["PharosModel", "PharosPresence"],
      path: "Tests/PharosDecisionCheck",
      swiftSettings: strict
    ),
    .target(
      name: "PharosSampleEvents",
      dependencies: ["PharosModel", "PharosPublishing"],
      path: "Tests/PharosSampleEvents",
      swiftSettings: strict
    ),
    .target(name: "CAllocationCounter", path: "Tests/CAllocationCounter"),
    .target(
      name: "PharosFaults",
      dependencies: [
        "CJournalFiles", "PharosModel", "PharosWire", "PharosPresence", "PharosPipeline", "PharosSecurity",
        "PharosPublishing", "PharosJournal", "PharosMQTT", "PharosDelivery", "PharosSimulation",
        "PharosEncoders", openCombine, logging,
      ] + database,
      path: "Tests/PharosFaults",
      swiftSettings: strict
    ),
    tests("PharosFaultsTests", ["PharosModel", "PharosSimulation", "PharosFaults"]),
    .target(
      name: "PharosSimulatedWorlds",
      dependencies: [
        "PharosModel", "PharosWire", "PharosPipeline", "PharosSpace", "PharosWays", "PharosSimulation",
        "PharosComparators", heap,
      ],
      path: "Tests/PharosSimulatedWorlds",
      swiftSettings: strict
    ),
    tests(
      "PharosSimulatedWorldsTests",
      ["PharosModel", "PharosSimulation", "PharosSimulatedWorlds"]
    ),

    // What libFuzzer runs, without its instruments: the tests replay every input that ever found a fault.
    .target(name: "CFuzzer", path: "Tests/Fuzzing/Sources/CFuzzer"),
    fuzzTargets("FuzzSupport", []),
    fuzzTargets("FuzzWire", ["PharosDocuments", "PharosModel", "PharosWire", "PharosEncoders"]),
    fuzzTargets(
      "FuzzDecoders",
      [
        "CFuzzer", "PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures", "PharosFiles",
        "FuzzWire",
      ]
    ),
    fuzzTargets(
      "FuzzEngine",
      [
        "PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures", "PharosPresence", "PharosFixes",
        "PharosPipeline", "PharosSpace", "PharosWays", "PharosSite", "FuzzDecoders", "FuzzWire",
      ]
    ),
    fuzzTargets(
      "FuzzBodies",
      ["PharosDocuments", "PharosModel", "PharosDelivery", "PharosHTTP"]
    ),
    fuzzTargets(
      "FuzzSigning",
      ["PharosDocuments", "PharosModel", "PharosWire", "PharosSecurity"]
    ),
    tests(
      "FuzzRegressionTests",
      ["FuzzBodies", "FuzzDecoders", "FuzzEngine", "FuzzSigning", "FuzzSupport", "FuzzWire"]
    ),
    tests("RepositoryTests", []),
    tests(
      "AllocationTests",
      [
        "CAllocationCounter", "PharosDocuments", "PharosModel", "PharosWire", "PharosPresence",
        "PharosIngest",
      ]
    ),
    tests("PharosDocumentsTests", ["PharosDocuments", "PharosModel"]),
    tests(
      "PharosWaysTests",
      [
        "PharosDocuments", "PharosModel", "PharosSpace", "PharosWays", "PharosSimulation",
        "PharosSimulatedWorlds",
      ]
    ),
    tests("PharosRoomsTests", ["PharosModel", "PharosRooms"]),
    tests(
      "PharosStaysTests",
      [
        "PharosDocuments", "PharosModel", "PharosFixes", "PharosStays", "PharosPipeline", "PharosSpace",
        "PharosWays", "PharosSimulation",
      ]
    ),
    tests(
      "PharosSurveyTests",
      ["PharosModel", "PharosRooms", "PharosFixes", "PharosSpace", "PharosWays", "PharosSurvey"]
    ),
    .target(
      name: "PharosConsoleSupport",
      dependencies: ["PharosTerminal"],
      path: "Tests/PharosConsoleSupport",
      swiftSettings: strict
    ),
    tests(
      "PharosLabTests",
      [
        "PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures", "PharosTerminal", "PharosNarration",
        "PharosSpace", "PharosFixes", "PharosPipeline", "PharosSite", "PharosSimulation", "PharosLab",
        "PharosConsoleSupport",
      ]
    ),
    tests(
      "PharosToolsTests",
      [
        "PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures", "PharosTerminal", "PharosSpace",
        "PharosRooms", "PharosFixes", "PharosPipeline", "PharosSite", "PharosSimulation", "PharosIngest",
        "PharosJournal", "PharosDelivery", "PharosHTTP", "PharosTools", "PharosConsoleSupport", logging,
      ]
    ),
    tests("PharosTerminalTests", ["PharosModel", "PharosTerminal", "PharosConsoleSupport", logging]),
    tests("PharosNarrationTests", ["PharosModel", "PharosNarration"]),
    tests("PharosModelTests", ["PharosDocuments", "PharosModel"]),
    tests(
      "PharosSpaceTests",
      ["PharosDocuments", "PharosModel", "PharosSpace", "PharosWays", "PharosSite"]
    ),
    tests("PharosWireTests", ["PharosDocuments", "PharosModel", "PharosWire", "FuzzWire", "PharosEncoders"]),
    tests(
      "PharosSecurityTests",
      ["CCrypto", "PharosDocuments", "PharosModel", "PharosWire", "PharosSecurity"]
    ),
    tests(
      "PharosGatewayTests",
      ["PharosModel", "PharosWire", "PharosCaptures", "PharosSecurity", "PharosFiles", "PharosGateway"]
    ),
    tests("PharosCapturesTests", ["PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures"]),
    tests(
      "PharosComparatorsTests",
      ["PharosModel", "PharosComparators", "PharosSimulatedWorlds"]
    ),
    tests("PharosFilesTests", ["PharosFiles"]),
    tests(
      "PharosMQTTTests",
      ["PharosModel", "PharosJournal", "PharosMQTT", "PharosHTTP"]
    ),
    tests(
      "PharosPresenceTests",
      ["PharosDocuments", "PharosModel", "PharosWire", "PharosPresence", "PharosDecisionCheck"]
    ),
    tests(
      "PharosFixesTests",
      [
        "PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures", "PharosRooms", "PharosFixes",
        "PharosPipeline", "PharosSpace", "PharosWays", "PharosFiles", "PharosSite", "PharosSimulation",
        "PharosSurvey", "PharosSimulatedWorlds",
      ]
    ),
    tests(
      "PharosPipelineTests",
      [
        "PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures", "PharosPresence", "PharosRooms",
        "PharosFixes", "PharosStays", "PharosPipeline", "PharosSpace", "PharosSecurity",
        "PharosDecisionCheck",
      ]
    ),
    tests(
      "PharosIngestTests",
      [
        "CPharos", "PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures", "PharosPresence",
        "PharosRooms", "PharosFixes", "PharosPipeline", "PharosSite", "PharosSpace", "PharosIngest",
        "PharosSecurity", "PharosEncoders", .product(name: "Atomics", package: "swift-atomics"), logging,
      ] + nio
    ),
    tests(
      "PharosMapsTests",
      ["PharosModel", "PharosSpace", "PharosWays", "PharosMaps"] + database
    ),
    tests(
      "PharosSiteTests",
      ["PharosDocuments", "PharosModel", "PharosSecurity", "PharosSite", logging]
    ),
    tests(
      "PharosJournalTests",
      [
        "PharosModel", "PharosPipeline", "PharosJournal", "PharosSite",
        .product(name: "Yams", package: "Yams"),
      ] + database
    ),
    tests(
      "PharosDeliveryTests",
      [
        "PharosDocuments", "PharosModel", "PharosSecurity", "PharosPublishing", "PharosJournal", "PharosMQTT",
        "PharosDelivery", "PharosSampleEvents", http1, httpClient, logging, lifecycle,
      ] + nio
    ),
    tests("PharosDashboardTests", ["PharosDashboard"]),
    tests(
      "PharosHTTPTests",
      [
        "PharosDocuments", "PharosModel", "PharosSpace", "PharosWays", "PharosMaps", "PharosIngest",
        "PharosSecurity", "PharosPublishing", "Pharos", "PharosJournal", "PharosMQTT", "PharosDelivery",
        "PharosSite", "PharosSimulation",
        "PharosDashboard", "PharosFiles", "PharosHTTP", .product(name: "Hummingbird", package: "hummingbird"),
        httpClient, logging, lifecycle,
      ] + nio
    ),
    tests(
      "PharosClusterTests",
      [
        "PharosDocuments", "PharosModel", "PharosPipeline", "PharosSite", "PharosSimulation", "PharosIngest",
        "PharosJournal", "PharosCluster", "PharosService", "PharosTools", "PharosTerminal",
        "PharosConsoleSupport", logging, lifecycle,
      ]
    ),
    tests(
      "PharosServiceTests",
      [
        "PharosDocuments", "PharosModel", "PharosWire", "PharosCaptures", "PharosTerminal", "PharosNarration",
        "PharosSpace", "PharosPresence", "PharosFixes", "PharosPipeline", "PharosSite", "PharosSimulation",
        "PharosLab", "PharosIngest", "PharosPublishing", "PharosJournal", "PharosMQTT", "PharosDelivery",
        "PharosCluster", "PharosHTTP", "PharosService", "PharosTools", "PharosConsoleSupport", logging,
        lifecycle,
      ]
    ),
    tests(
      "PharosTests",
      ["Pharos", openCombine]
    ),
    tests(
      "PharosSimulationTests",
      ["PharosDocuments", "PharosModel", "PharosWire", "PharosSpace", "PharosSimulation"]
    ),
    tests(
      "PharosPublishingTests",
      [
        "PharosModel", "PharosFixes", "PharosStays", "PharosSpace", "PharosPublishing", "PharosSampleEvents",
        openCombine,
      ]
    ),
  ]
)

if extras.contains("threads") {
  package.targets += [
    .target(name: "CThreadOrder", path: "Tests/ThreadOrder/CThreadOrder"),
    .target(
      name: "PharosThreadOrder",
      dependencies: ["CThreadOrder"],
      path: "Tests/ThreadOrder/PharosThreadOrder",
      swiftSettings: features
    ),
  ]
}

if let chosenTests {
  let known = package.targets.filter { $0.type == .test }.map(\.name)
  for name in chosenTests where !known.contains(name) {
    fatalError("PHAROS_TESTS names \(name), which is no test target: \(known.joined(separator: ", "))")
  }
  // What they do not need is not built either.
  var (needed, open) = (Set<String>(), chosenTests)
  while let name = open.popLast() {
    guard needed.insert(name).inserted else { continue }
    for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
      switch dependency {
      case .targetItem(let name, _), .byNameItem(let name, _): open.append(name)
      default: break
      }
    }
  }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products.removeAll()
}

if extras.contains("fuzzing") {
  func program(_ name: String, of targets: String) -> Target {
    .executableTarget(
      name: name,
      dependencies: ["FuzzDriver", "FuzzSupport", .target(name: targets)],
      path: "Tests/Fuzzing/Sources/\(targets)Program",
      swiftSettings: modules,
      // gold gives up on what the instruments leave behind.
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]
    )
  }
  package.targets += [
    .target(
      name: "FuzzDriver",
      dependencies: ["CFuzzer"],
      path: "Tests/Fuzzing/Sources/FuzzDriver",
      swiftSettings: strict
    ),
    program("fuzz-wire", of: "FuzzWire"),
    program("fuzz-decoders", of: "FuzzDecoders"),
    program("fuzz-engine", of: "FuzzEngine"),
    program("fuzz-bodies", of: "FuzzBodies"),
    program("fuzz-signing", of: "FuzzSigning"),
  ]
}

if extras.contains("benchmarks") {
  /// The pure modules that nearly every program measures.
  let core: [Target.Dependency] = [
    "PharosDocuments", "PharosModel", "PharosWire", "PharosSpace", "PharosWays", "PharosPresence",
    "PharosRooms", "PharosFixes", "PharosStays", "PharosCaptures",
    "PharosPipeline", "PharosSimulation", "PharosComparators", "PharosFiles",
  ]
  let server: [Target.Dependency] =
    core + nio + [
      "CSocketMeter", "SocketTraffic", "Traffic", "Pharos", "PharosIngest", "PharosPublishing", logging,
      openCombine,
    ]
  let clients: [Target.Dependency] = nio + [http1]
  let histogram = Target.Dependency.product(name: "Histogram", package: "hdrhistogram-swift")

  func support(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
      name: name,
      dependencies: dependencies,
      path: "Benchmarks/Sources/\(name)",
      swiftSettings: strict
    )
  }

  func program(
    _ name: String,
    _ target: String,
    _ dependencies: [Target.Dependency],
    path: String? = nil
  ) {
    package.products.append(.executable(name: name, targets: [target]))
    package.targets.append(
      .executableTarget(
        name: target,
        dependencies: dependencies + [argumentParser],
        path: path ?? "Benchmarks/Sources/\(target)",
        swiftSettings: strict
      )
    )
  }

  /// A suite that `swift package benchmark` finds by its folder.
  func suite(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .executableTarget(
      name: "\(name)Suite",
      dependencies: core + dependencies + [
        "SuiteSupport", "Traffic", .product(name: "Benchmark", package: "benchmark"),
      ],
      path: "Benchmarks/Benchmarks/\(name)",
      swiftSettings: strict,
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
    )
  }

  // Without its traits: it would put an allocator of its own in front of the one that is counted here.
  package.dependencies.append(
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: [])
  )
  package.targets += [
    support("CScaleMeter"),
    support("CYardstick"),
    support("Traffic", core + ["CYardstick"]),
    support("CSocketMeter"),
    support("SocketTraffic", core + ["CSocketMeter", "Pharos", "PharosIngest", "PharosPublishing"]),
    support("ServedProcess", core + clients + ["CSocketMeter"]),
    support(
      "SuiteSupport",
      ["CScaleMeter", "Traffic", .product(name: "Benchmark", package: "benchmark")]
    ),
    suite("Decode"), suite("Wire", ["PharosEncoders"]), suite("Table"), suite("Engine"), suite("Ranging"),
    suite("Captures"),
    suite("Publishing", ["PharosPublishing", openCombine]),
  ]
  program("presence-quality", "PresenceQuality", core + ["PharosSimulatedWorlds"])
  program("scale", "Scale", core + ["CScaleMeter", "Traffic"])
  program("fixes", "Fixes", core + ["CScaleMeter", "PharosSimulatedWorlds"])
  program("throughput", "Throughput", server)
  program("history-store", "HistoryStore", ["PharosDocuments", "PharosModel", "PharosJournal"])
  program(
    "places",
    "Places",
    core + ["CScaleMeter", "PharosSimulatedWorlds", "PharosMaps", "PharosSite"]
  )
  program("latency", "Latency", server + [histogram])
  program("targets", "Targets", core + ["CScaleMeter", "Traffic"])
  program("attacks", "Attacks", core + clients + ["CZlib", "PharosSecurity", "ServedProcess"])
  program("soak", "Soak", clients + ["PharosModel", "PharosLab", "ServedProcess", histogram])
  program("faults", "Faults", ["PharosFaults"], path: "Tests/Faults")
}
