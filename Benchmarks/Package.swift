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

let package = Package(
  name: "benchmarks",
  platforms: [.macOS("26.0")],
  products: [
    .executable(name: "presence-quality", targets: ["PresenceQuality"]),
    .executable(name: "scale", targets: ["Scale"]),
  ],
  dependencies: [
    .package(name: "pharos", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
  ],
  targets: [
    .executableTarget(
      name: "PresenceQuality",
      dependencies: [
        .product(name: "PharosCore", package: "pharos"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict
    ),
    .target(name: "CScaleMeter"),
    .executableTarget(
      name: "Scale",
      dependencies: [
        "CScaleMeter",
        .product(name: "PharosCore", package: "pharos"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict
    ),
  ]
)
