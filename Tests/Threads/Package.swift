// swift-tools-version: 6.2
import PackageDescription

/// The features that the modules are written with.
let features: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let nio: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"),
  .product(name: "NIOPosix", package: "swift-nio"),
]

/// A module of the project, compiled from its own sources once more.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, path: "Modules/\(name)", swiftSettings: features)
}

/// The tests of a module, from their own folder: a library, for a program that runs them all.
func tests(_ name: String, _ dependencies: [Target.Dependency], without excluded: [String] = []) -> Target {
  .target(
    name: name,
    dependencies: dependencies + ["PharosTestSupport"],
    path: "Suites/\(name)",
    exclude: excluded,
    swiftSettings: features
  )
}

let package = Package(
  name: "threads",
  platforms: [.macOS("26.0")],
  products: [.executable(name: "threads", targets: ["Threads"])],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.0"),
    .package(url: "https://github.com/apple/swift-atomics", from: "1.3.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
  ],
  targets: [
    .target(name: "CPharos", path: "Modules/CPharos"),
    .systemLibrary(name: "CZlib", path: "Modules/CZlib", pkgConfig: "zlib"),

    module("PharosReports"),
    module("PharosAdvertising", ["PharosReports"]),
    module("PharosEvents", ["PharosReports"]),
    module("PharosPlaces", ["PharosReports"]),
    module("PharosMonitoring", ["PharosReports", "PharosAdvertising", "PharosEvents"]),
    module("PharosPositioning", ["PharosReports", "PharosEvents", "PharosPlaces"]),
    module("PharosWire", ["PharosReports"]),
    module("PharosCaptures", ["PharosReports", "PharosAdvertising"]),
    module(
      "PharosSigning",
      ["PharosReports", "PharosWire", .product(name: "Crypto", package: "swift-crypto")]
    ),
    module(
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
    module("PharosFiles", ["CZlib"]),
    module(
      "PharosGateway",
      [
        "CPharos", "PharosReports", "PharosAdvertising", "PharosCaptures", "PharosWire", "PharosSigning",
        "PharosFiles",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]
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

    .target(name: "CSwiftOrder"),
    .target(
      name: "PharosTestSupport",
      path: "Suites/PharosTestSupport",
      swiftSettings: features
    ),
    tests(
      "PharosSigningTests",
      [
        "PharosReports", "PharosWire", "PharosSigning", .product(name: "Crypto", package: "swift-crypto"),
      ]
    ),
    tests(
      "PharosGatewayTests",
      [
        "CPharos", "PharosReports", "PharosAdvertising", "PharosCaptures", "PharosWire", "PharosSigning",
        "PharosFiles", "PharosGateway",
      ],
      without: ["EndToEndTests.swift"]
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
    tests(
      "PharosJournalTests",
      [
        "PharosReports", "PharosEvents", "PharosJournal", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      without: ["JournalCapturesTests.swift"]
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
      "PharosTests",
      [
        "Pharos", "PharosReports", "PharosPlaces", "PharosPositioning",
        .product(name: "OpenCombine", package: "OpenCombine"),
      ]
    ),
    tests(
      "PharosPublishingTests",
      [
        "PharosReports", "PharosEvents", "PharosPlaces", "PharosPositioning", "PharosPublishing",
        .product(name: "OpenCombine", package: "OpenCombine"),
      ]
    ),
    .executableTarget(
      name: "Threads",
      dependencies: [
        "CSwiftOrder", "PharosSigningTests", "PharosGatewayTests", "PharosIngestTests", "PharosJournalTests",
        "PharosAccessTests", "PharosDeliveryTests", "PharosTests", "PharosPublishingTests",
      ],
      swiftSettings: features
    ),
  ]
)
