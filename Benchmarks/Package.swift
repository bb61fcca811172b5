// swift-tools-version: 6.2
import PackageDescription

/// What every target here is built with, as in the package that is measured.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

let core: Target.Dependency = .product(name: "PharosCore", package: "pharos")
let pharos: Target.Dependency = .product(name: "Pharos", package: "pharos")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

/// What is needed to run a server and to feed it.
let server: [Target.Dependency] = [
  "CSocketMeter", "SocketTraffic", core, pharos,
  .product(name: "NIOCore", package: "swift-nio"),
  .product(name: "NIOPosix", package: "swift-nio"),
  .product(name: "Logging", package: "swift-log"),
  .product(name: "OpenCombine", package: "OpenCombine"),
]

/// What is needed to be a server's client.
let clients: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"),
  .product(name: "NIOPosix", package: "swift-nio"),
  .product(name: "NIOHTTP1", package: "swift-nio"),
]

/// A program of ours.
func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: dependencies + [arguments], swiftSettings: strict)
}

/// A suite that `swift package benchmark` finds by its folder.
func suite(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: "\(name)Suite",
    dependencies: dependencies + [
      core, "SuiteSupport", "Traffic", .product(name: "Benchmark", package: "benchmark"),
    ],
    path: "Benchmarks/\(name)",
    swiftSettings: strict,
    plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
  )
}

let package = Package(
  name: "benchmarks",
  platforms: [.macOS("26.0")],
  products: [
    .executable(name: "presence-quality", targets: ["PresenceQuality"]),
    .executable(name: "scale", targets: ["Scale"]),
    .executable(name: "throughput", targets: ["Throughput"]),
    .executable(name: "latency", targets: ["Latency"]),
    .executable(name: "fixes", targets: ["Fixes"]),
    .executable(name: "targets", targets: ["Targets"]),
    .executable(name: "attacks", targets: ["Attacks"]),
    .executable(name: "soak", targets: ["Soak"]),
  ],
  dependencies: [
    .package(name: "pharos", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    // Without its traits: it would put an allocator of its own in front of the one that is counted here.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    program("PresenceQuality", [core]),

    // What is measured with, and what is measured on.
    .target(name: "CScaleMeter"),
    .target(name: "Traffic", dependencies: [core], swiftSettings: strict),
    program("Scale", ["CScaleMeter", "Traffic", core]),
    program("Fixes", ["CScaleMeter", core]),
    .target(name: "CSocketMeter"),
    .target(
      name: "SocketTraffic",
      dependencies: ["CSocketMeter", core, pharos],
      swiftSettings: strict
    ),
    program("Throughput", server),
    program("Latency", server + [.product(name: "Histogram", package: "hdrhistogram-swift")]),
    program("Targets", ["CScaleMeter", "Traffic", core]),

    // A `pharos serve` of its own process, seen from outside.
    .target(name: "CSeal"),
    .target(name: "ServedProcess", dependencies: ["CSocketMeter", core] + clients, swiftSettings: strict),
    program("Attacks", ["CSeal", "ServedProcess", core] + clients),
    program("Soak", ["ServedProcess", .product(name: "Histogram", package: "hdrhistogram-swift")] + clients),

    // The suites.
    .target(
      name: "SuiteSupport",
      dependencies: ["CScaleMeter", "Traffic", .product(name: "Benchmark", package: "benchmark")],
      swiftSettings: strict
    ),
    suite("Decode", []),
    suite("Wire", []),
    suite("Table", []),
    suite("Engine", []),
    suite("Ranging", []),
    suite("Publishing", [pharos, .product(name: "OpenCombine", package: "OpenCombine")]),
    suite("Captures", []),
  ]
)
