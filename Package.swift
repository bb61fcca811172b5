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

/// A library module, its dependencies and the catalog that documents it.
func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: modules)
}

/// A module that reads untrusted bytes: every operation that the compiler cannot prove memory-safe is marked `unsafe`.
func decoding(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: modules + [.strictMemorySafety()])
}

/// The tests of a module, with the shared test support.
///
/// In a release build the modules are optimised and the tests are not: optimising the tests would take longer than it saves.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(
    name: name,
    dependencies: dependencies + ["PharosTestSupport"]
      + (extras.contains("threads") ? ["PharosThreadOrder"] : []),
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
        "PharosReports", "PharosAdvertising", "PharosEvents", "PharosPlaces", "PharosMonitoring",
        "PharosPositioning", "PharosWire", "PharosCaptures", "PharosPipeline",
      ]
    ),
    .executable(name: "pharos", targets: ["PharosCommand"]),
    .executable(name: "pharos-gateway", targets: ["PharosGatewayCommand"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.0"),
    .package(url: "https://github.com/apple/swift-atomics", from: "1.3.0"),
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
    .target(name: "CPharos"),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

    // The pure modules: values in, values out.
    decoding("PharosReports", []),
    decoding("PharosAdvertising", ["PharosReports"]),
    module("PharosEvents", ["PharosReports"]),
    module("PharosPlaces", ["PharosReports"]),
    .target(name: "CTrackTable"),
    module("PharosMonitoring", ["PharosReports", "PharosAdvertising", "PharosEvents", "CTrackTable"]),
    module("PharosPositioning", ["PharosReports", "PharosEvents", "PharosPlaces"]),
    decoding("PharosWire", ["PharosReports"]),
    decoding("PharosCaptures", ["PharosReports", "PharosAdvertising"]),
    decoding("PharosCrypto", ["CCrypto"]),
    decoding("PharosSigning", ["PharosCrypto", "PharosReports", "PharosWire"]),
    decoding("PharosPrivacy", ["PharosCrypto", "PharosReports", "PharosAdvertising"]),
    module(
      "PharosPipeline",
      [
        "PharosReports", "PharosAdvertising", "PharosEvents", "PharosPlaces", "PharosMonitoring",
        "PharosPositioning", "PharosWire", "PharosCaptures", "PharosPrivacy",
      ]
    ),
    module("PharosSimulation", ["PharosReports", "PharosAdvertising", "PharosPlaces"]),
    module("PharosComparators", ["PharosReports"]),

    // The shells: sockets, files, threads, subscribers.
    module("PharosFiles", ["CZlib"]),
    module(
      "PharosGateway",
      [
        "CPharos", "PharosReports", "PharosAdvertising", "PharosCaptures", "PharosWire", "PharosSigning",
        "PharosFiles",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]
    ),
    .executableTarget(
      name: "PharosGatewayCommand",
      dependencies: [
        "PharosGateway", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict
    ),
    module(
      "PharosIngest",
      [
        "CPharos", "PharosReports", "PharosAdvertising", "PharosEvents", "PharosPlaces",
        "PharosMonitoring", "PharosPositioning", "PharosWire", "PharosCaptures", "PharosPipeline",
        "PharosSigning", "PharosPrivacy",
        .product(name: "Atomics", package: "swift-atomics"),
        .product(name: "Logging", package: "swift-log"),
      ] + nio
    ),
    module(
      "PharosPublishing",
      [
        "PharosEvents", "PharosReports", "PharosPlaces", "PharosPositioning",
        .product(name: "OpenCombine", package: "OpenCombine"),
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
      ]
    ),
    module(
      "Pharos",
      [
        "PharosReports", "PharosAdvertising", "PharosEvents", "PharosPlaces", "PharosMonitoring",
        "PharosPositioning", "PharosWire", "PharosCaptures", "PharosPipeline", "PharosIngest",
        "PharosPublishing", "PharosSigning",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]
    ),
    module(
      "PharosJournal",
      [
        "PharosReports", "PharosEvents", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]
    ),
    module(
      "PharosAccess",
      [
        "PharosCrypto", "PharosReports", "PharosEvents", "PharosJournal", "PharosSigning",
      ]
    ),
    module(
      "PharosDelivery",
      [
        "PharosReports", "PharosEvents", "PharosPublishing", "PharosJournal", "PharosAccess",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]
    ),
    module(
      "PharosWebhooks",
      [
        "PharosCrypto", "PharosReports", "PharosEvents", "PharosPublishing", "PharosJournal",
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ] + nio
    ),
    module(
      "PharosSite",
      ["PharosReports", "PharosPlaces", "PharosPrivacy", .product(name: "Yams", package: "Yams")]
    ),
    .target(name: "CDashboard", path: "Sources/PharosDashboard/Embedded"),
    .target(
      name: "PharosDashboard",
      dependencies: ["CDashboard"],
      exclude: ["Assets", "Embedded"],
      swiftSettings: strict
    ),
    .target(name: "COpenAPI", path: "Sources/PharosHTTP/Embedded"),
    .target(
      name: "PharosHTTP",
      dependencies: [
        "COpenAPI",
        "PharosReports", "PharosAdvertising", "PharosEvents", "PharosPlaces", "PharosMonitoring",
        "PharosPositioning",
        "PharosWire", "PharosCaptures", "PharosIngest", "PharosPublishing", "Pharos", "PharosJournal",
        "PharosAccess", "PharosDelivery", "PharosWebhooks", "PharosSite", "PharosDashboard",
        "PharosSigning", "PharosPrivacy",
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdTLS", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ] + nio,
      exclude: ["OpenAPI", "Embedded"],
      swiftSettings: strict
    ),
    module(
      "PharosService",
      [
        "Pharos", "PharosFiles", "PharosSimulation", "PharosComparators", "CPharos", "PharosJournal",
        "PharosAccess", "PharosDelivery", "PharosWebhooks", "PharosSite", "PharosHTTP", "PharosGateway",
        "PharosSigning", "PharosPrivacy",
        "PharosReports", "PharosAdvertising", "PharosEvents", "PharosPlaces", "PharosMonitoring",
        "PharosPositioning", "PharosWire", "PharosCaptures", "PharosPipeline", "PharosIngest",
        "PharosPublishing",
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
      ] + nio
    ),
    .executableTarget(
      name: "PharosCommand",
      dependencies: [
        "PharosService", "PharosCaptures", "PharosSimulation", "PharosGateway",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
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
      path: "Sources/BillOfMaterials"
    ),

    // Tests.
    .target(
      name: "PharosTestSupport",
      path: "Tests/PharosTestSupport",
      swiftSettings: strict
    ),
    .target(name: "CAllocationCounter", path: "Tests/CAllocationCounter"),
    .target(
      name: "PharosFaults",
      dependencies: [
        "PharosReports", "PharosAdvertising", "PharosEvents", "PharosPlaces", "PharosMonitoring",
        "PharosPositioning", "PharosWire", "PharosCaptures", "PharosPipeline", "PharosSimulation",
        "PharosPublishing", "PharosJournal", "PharosAccess", "PharosDelivery",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "OpenCombine", package: "OpenCombine"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/PharosFaults",
      swiftSettings: strict
    ),
    tests("PharosFaultsTests", ["PharosReports", "PharosFaults"]),

    // What libFuzzer runs, without its instruments: the tests replay every input that ever found a fault.
    .target(name: "CFuzzer", path: "Tests/Fuzzing/Sources/CFuzzer"),
    fuzzTargets("FuzzSupport", []),
    fuzzTargets("FuzzWire", ["PharosReports", "PharosAdvertising", "PharosWire"]),
    fuzzTargets(
      "FuzzDecoders",
      [
        "CFuzzer", "FuzzWire", "PharosReports", "PharosAdvertising", "PharosWire", "PharosCaptures",
        "PharosEvents", "PharosFiles",
      ]
    ),
    fuzzTargets(
      "FuzzEngine",
      [
        "FuzzWire", "FuzzDecoders", "PharosReports", "PharosAdvertising", "PharosWire", "PharosCaptures",
        "PharosEvents", "PharosPlaces", "PharosMonitoring", "PharosPositioning", "PharosPipeline",
        "PharosSite",
      ]
    ),
    fuzzTargets(
      "FuzzBodies",
      ["PharosReports", "PharosEvents", "PharosCaptures", "PharosHTTP", "PharosWebhooks"]
    ),
    fuzzTargets("FuzzSigning", ["PharosReports", "PharosWire", "PharosSigning"]),
    tests(
      "FuzzRegressionTests",
      ["FuzzSupport", "FuzzWire", "FuzzDecoders", "FuzzEngine", "FuzzBodies", "FuzzSigning"]
    ),
    tests("RepositoryTests", []),
    tests(
      "AllocationTests",
      [
        "PharosReports", "PharosAdvertising", "PharosEvents", "PharosMonitoring", "PharosIngest",
        "CAllocationCounter",
      ]
    ),
    tests("PharosReportsTests", ["PharosReports"]),
    tests("PharosEventsTests", ["PharosReports", "PharosEvents"]),
    tests("PharosAdvertisingTests", ["PharosReports", "PharosAdvertising"]),
    tests("PharosPlacesTests", ["PharosReports", "PharosPlaces"]),
    tests("PharosWireTests", ["PharosReports", "PharosWire", "FuzzWire"]),
    tests("PharosCryptoTests", ["PharosCrypto", "PharosReports"]),
    tests("PharosSigningTests", ["PharosReports", "PharosWire", "PharosSigning"]),
    tests(
      "PharosPrivacyTests",
      [
        "PharosReports", "PharosAdvertising", "PharosEvents", "PharosWire", "PharosCaptures",
        "PharosPipeline", "PharosPrivacy",
      ]
    ),
    tests(
      "PharosGatewayTests",
      [
        "CPharos", "PharosReports", "PharosAdvertising", "PharosCaptures", "PharosWire", "PharosSigning",
        "PharosFiles", "PharosGateway",
      ]
    ),
    tests("PharosCapturesTests", ["PharosReports", "PharosAdvertising", "PharosCaptures"]),
    tests("PharosComparatorsTests", ["PharosReports", "PharosComparators"]),
    tests("PharosFilesTests", ["PharosFiles"]),
    tests(
      "PharosMonitoringTests",
      ["PharosReports", "PharosAdvertising", "PharosEvents", "PharosMonitoring"]
    ),
    tests(
      "PharosPositioningTests",
      [
        "PharosReports", "PharosAdvertising", "PharosEvents", "PharosPlaces", "PharosMonitoring",
        "PharosPositioning", "PharosCaptures", "PharosPipeline", "PharosSimulation", "PharosFiles",
      ]
    ),
    tests(
      "PharosPipelineTests",
      [
        "PharosReports", "PharosEvents", "PharosAdvertising", "PharosPlaces", "PharosMonitoring",
        "PharosPositioning", "PharosWire", "PharosCaptures", "PharosPipeline",
      ]
    ),
    tests(
      "PharosIngestTests",
      [
        "CPharos", "PharosReports", "PharosEvents", "PharosAdvertising", "PharosPlaces", "PharosMonitoring",
        "PharosPositioning", "PharosWire", "PharosCaptures", "PharosPipeline", "PharosIngest",
        "PharosSigning", "PharosPrivacy",
        .product(name: "Atomics", package: "swift-atomics"),
        .product(name: "Logging", package: "swift-log"),
      ] + nio
    ),
    tests("PharosSiteTests", ["PharosReports", "PharosPlaces", "PharosPrivacy", "PharosSite"]),
    tests(
      "PharosJournalTests",
      [
        "PharosReports", "PharosEvents", "PharosPipeline", "PharosCaptures", "PharosSite", "PharosJournal",
        .product(name: "Yams", package: "Yams"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]
    ),
    tests(
      "PharosAccessTests",
      ["PharosReports", "PharosEvents", "PharosJournal", "PharosSigning", "PharosAccess"]
    ),
    tests(
      "PharosDeliveryTests",
      [
        "PharosReports", "PharosEvents", "PharosPublishing", "PharosJournal", "PharosAccess",
        "PharosDelivery",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]
    ),
    tests(
      "PharosWebhooksTests",
      [
        "PharosReports", "PharosEvents", "PharosPublishing", "PharosJournal", "PharosAccess",
        "PharosDelivery", "PharosWebhooks", "PharosCrypto",
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ] + nio
    ),
    tests("PharosDashboardTests", ["PharosDashboard"]),
    tests(
      "PharosHTTPTests",
      [
        "PharosReports", "PharosEvents", "PharosPlaces", "PharosMonitoring", "PharosWire", "PharosIngest",
        "PharosPublishing", "Pharos", "PharosJournal", "PharosAccess", "PharosDelivery", "PharosWebhooks",
        "PharosSite", "PharosDashboard", "PharosHTTP", "PharosSigning", "PharosPrivacy",
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ] + nio
    ),
    tests(
      "PharosServiceTests",
      [
        "PharosReports", "PharosEvents", "PharosAdvertising", "PharosPlaces", "PharosMonitoring",
        "PharosPositioning", "PharosWire", "PharosCaptures", "PharosPipeline", "PharosSimulation",
        "PharosFiles", "PharosIngest", "Pharos",
        "PharosPublishing", "PharosSite", "PharosJournal", "PharosAccess", "PharosDelivery",
        "PharosWebhooks", "PharosHTTP", "PharosService", "PharosSigning", "PharosPrivacy", "PharosGateway",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]
    ),
    tests(
      "PharosTests",
      [
        "Pharos", "PharosReports", "PharosPlaces", "PharosPositioning",
        .product(name: "OpenCombine", package: "OpenCombine"),
      ]
    ),
    tests(
      "PharosSimulationTests",
      ["PharosReports", "PharosAdvertising", "PharosPlaces", "PharosSimulation"]
    ),
    tests(
      "PharosPublishingTests",
      [
        "PharosReports", "PharosEvents", "PharosPlaces", "PharosPositioning", "PharosPublishing",
        .product(name: "OpenCombine", package: "OpenCombine"),
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
      dependencies: ["CFuzzer", "FuzzSupport"],
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
    "PharosReports", "PharosAdvertising", "PharosEvents", "PharosPlaces", "PharosMonitoring",
    "PharosPositioning", "PharosWire", "PharosCaptures", "PharosPipeline", "PharosSimulation",
    "PharosComparators", "PharosFiles",
  ]
  let server: [Target.Dependency] =
    core + nio + [
      "CSocketMeter", "SocketTraffic", "Traffic", "Pharos", "PharosIngest", "PharosPublishing",
      .product(name: "Logging", package: "swift-log"),
      .product(name: "OpenCombine", package: "OpenCombine"),
    ]
  let clients: [Target.Dependency] = nio + [.product(name: "NIOHTTP1", package: "swift-nio")]
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
        dependencies: dependencies + [.product(name: "ArgumentParser", package: "swift-argument-parser")],
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
    suite("Decode"), suite("Wire"), suite("Table"), suite("Engine"), suite("Ranging"), suite("Captures"),
    suite("Publishing", ["PharosPublishing", .product(name: "OpenCombine", package: "OpenCombine")]),
  ]
  program("presence-quality", "PresenceQuality", core)
  program("scale", "Scale", core + ["CScaleMeter", "Traffic"])
  program("fixes", "Fixes", core + ["CScaleMeter"])
  program("throughput", "Throughput", server)
  program("latency", "Latency", server + [histogram])
  program("targets", "Targets", core + ["CScaleMeter", "Traffic"])
  program("attacks", "Attacks", core + clients + ["PharosCrypto", "ServedProcess"])
  program("soak", "Soak", clients + ["ServedProcess", histogram])
  program("faults", "Faults", ["PharosFaults"], path: "Tests/Faults")
}
