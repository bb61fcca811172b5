// swift-tools-version: 6.2
import PackageDescription

/// What every target of ours is built with: the four upcoming features, and no warning left standing.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

let nio: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"),
  .product(name: "NIOPosix", package: "swift-nio"),
]

/// A library module, its dependencies and the catalog that documents it.
func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A module that reads bytes from strangers: whatever the compiler cannot prove to stay within memory is marked as such.
func decoding(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict + [.strictMemorySafety()])
}

/// The tests of a module, always with the shared test support at hand.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(
    name: name,
    dependencies: dependencies + ["PharosTestSupport"],
    swiftSettings: strict
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
        "PharosPositioning", "PharosWire", "PharosCaptures", "PharosPipeline", "PharosSimulation",
        "PharosComparators", "PharosFiles",
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
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    .target(name: "CPharos"),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

    // The pure modules: values in, values out.
    decoding("PharosReports", []),
    decoding("PharosAdvertising", ["PharosReports"]),
    module("PharosEvents", ["PharosReports"]),
    module("PharosPlaces", ["PharosReports"]),
    module("PharosMonitoring", ["PharosReports", "PharosAdvertising", "PharosEvents"]),
    module("PharosPositioning", ["PharosReports", "PharosEvents", "PharosPlaces"]),
    decoding("PharosWire", ["PharosReports"]),
    decoding("PharosCaptures", ["PharosReports", "PharosAdvertising"]),
    decoding(
      "PharosSigning",
      ["PharosReports", "PharosWire", .product(name: "Crypto", package: "swift-crypto")]
    ),
    decoding(
      "PharosPrivacy",
      [
        "PharosReports", "PharosAdvertising", .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ]
    ),
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
        "PharosReports", "PharosEvents", "PharosJournal", "PharosSigning",
        .product(name: "Crypto", package: "swift-crypto"),
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
        "PharosReports", "PharosEvents", "PharosPublishing", "PharosJournal",
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Crypto", package: "swift-crypto"),
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
    .executableTarget(
      name: "faults",
      dependencies: [
        "PharosFaults", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/Faults",
      swiftSettings: strict
    ),
    tests("PharosFaultsTests", ["PharosReports", "PharosFaults"]),
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
    tests("PharosWireTests", ["PharosReports", "PharosWire"]),
    tests(
      "PharosSigningTests",
      [
        "PharosReports", "PharosWire", "PharosSigning", .product(name: "Crypto", package: "swift-crypto"),
      ]
    ),
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
        "PharosDelivery", "PharosWebhooks",
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Crypto", package: "swift-crypto"),
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
