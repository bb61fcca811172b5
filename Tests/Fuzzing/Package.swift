// swift-tools-version: 6.2
import PackageDescription

/// How everything here is built: each branch counted and each comparison shown to libFuzzer, every access to memory checked.
///
/// What is internal is shown to the targets, which put right the checksums of what they feed.
let instrumented: [SwiftSetting] = [.unsafeFlags(["-sanitize=fuzzer,address", "-enable-testing"])]

/// The features that the modules are written with.
let features: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A module of the project, compiled from its own sources once more, with instruments.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(
    name: name,
    dependencies: dependencies,
    path: "Modules/\(name)",
    swiftSettings: features + instrumented
  )
}

/// The targets of one sort: a library, so that others can use its samples.
func targets(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil) -> Target {
  .target(
    name: name,
    dependencies: ["FuzzSupport"] + dependencies,
    path: path,
    swiftSettings: features + instrumented + [.treatAllWarnings(as: .error)]
  )
}

/// A program of targets.
func program(_ name: String, of library: String) -> Target {
  .executableTarget(
    name: name,
    dependencies: ["FuzzSupport", .target(name: library)],
    swiftSettings: features + instrumented + [.treatAllWarnings(as: .error)],
    // gold gives up on what the instruments leave behind.
    linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]
  )
}

let package = Package(
  name: "fuzzing",
  platforms: [.macOS("26.0")],
  products: [
    .executable(name: "fuzz-wire", targets: ["FuzzWireProgram"]),
    .executable(name: "fuzz-decoders", targets: ["FuzzDecodersProgram"]),
    .executable(name: "fuzz-engine", targets: ["FuzzEngineProgram"]),
    .executable(name: "fuzz-bodies", targets: ["FuzzBodiesProgram"]),
    .executable(name: "fuzz-signing", targets: ["FuzzSigningProgram"]),
  ],
  dependencies: [
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
  ],
  targets: [
    module("PharosReports"),
    module("PharosAdvertising", ["PharosReports"]),
    module("PharosEvents", ["PharosReports"]),
    module("PharosPlaces", ["PharosReports"]),
    module("PharosMonitoring", ["PharosReports", "PharosAdvertising", "PharosEvents"]),
    module("PharosPositioning", ["PharosReports", "PharosEvents", "PharosPlaces"]),
    module("PharosWire", ["PharosReports"]),
    module("PharosCaptures", ["PharosReports", "PharosAdvertising"]),
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
    module(
      "PharosSite",
      ["PharosReports", "PharosPlaces", "PharosPrivacy", .product(name: "Yams", package: "Yams")]
    ),
    module(
      "PharosSigning",
      ["PharosReports", "PharosWire", .product(name: "Crypto", package: "swift-crypto")]
    ),
    .systemLibrary(name: "CZlib", path: "Modules/CZlib", pkgConfig: "zlib"),
    module("PharosFiles", ["CZlib"]),

    .target(name: "CFuzzer"),
    .target(
      name: "FuzzSupport",
      dependencies: ["CFuzzer"],
      swiftSettings: features + [.treatAllWarnings(as: .error)]
    ),
    // libFuzzer looks at the counters of a whole program after every input: what decodes datagrams has one of its own.
    targets("FuzzWire", ["PharosReports", "PharosAdvertising", "PharosWire"]),
    program("FuzzWireProgram", of: "FuzzWire"),
    targets(
      "FuzzDecoders",
      [
        "CFuzzer", "FuzzWire", "PharosReports", "PharosAdvertising", "PharosWire", "PharosCaptures",
        "PharosEvents", "PharosFiles",
      ]
    ),
    program("FuzzDecodersProgram", of: "FuzzDecoders"),
    targets(
      "FuzzEngine",
      [
        "FuzzWire", "FuzzDecoders", "PharosReports", "PharosAdvertising", "PharosWire", "PharosCaptures",
        "PharosEvents", "PharosPlaces", "PharosMonitoring", "PharosPositioning", "PharosPipeline",
        "PharosSite",
      ]
    ),
    program("FuzzEngineProgram", of: "FuzzEngine"),

    // What reads the bodies and queries of the HTTP interface, without the server around it: links to its files.
    .target(
      name: "HTTPBodies",
      dependencies: [
        "PharosReports", "PharosEvents", "PharosCaptures",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      swiftSettings: features + instrumented
    ),
    targets("FuzzBodies", ["HTTPBodies", "PharosReports"]),
    program("FuzzBodiesProgram", of: "FuzzBodies"),
    targets("FuzzSigning", ["PharosReports", "PharosWire", "PharosSigning"]),
    program("FuzzSigningProgram", of: "FuzzSigning"),
  ]
)
