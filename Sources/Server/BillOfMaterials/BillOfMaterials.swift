import Foundation
import PackagePlugin

/// `swift package sbom`: prints what the `pharos` executable is made of, as a CycloneDX bill of materials.
///
/// Packages are those that were resolved, at their very versions and revisions. What only tests, benchmarks or other
/// products of a package need is listed with the scope `excluded`, since it is no part of the executable. Libraries of
/// the system that it is linked with are listed with the versions that `pkg-config` reports on this machine.
///
/// - Source: CycloneDX 1.6, JSON; package URLs of the type `swift`.
@main
struct BillOfMaterials: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    guard arguments.isEmpty else { throw BillError.arguments(arguments) }
    let linked = LinkedTargets(of: "pharos", in: context.package)
    guard !linked.packages.isEmpty else { throw BillError.noExecutable }
    var packages: [Package.ID: Package] = [:]
    BillOfMaterials.collect(context.package, into: &packages)
    packages[context.package.id] = nil

    let revisions = try ResolvedRevisions(in: context.package.directoryURL)
    var components = packages.values.map { package in
      Component(package, isLinked: linked.packages.contains(package.id), revisions)
    }
    components += linked.systemLibraries.map(Component.init(systemLibrary:))
    components.sort { ($0.name, $0.reference) < ($1.name, $1.reference) }

    let root = try Component(executable: "pharos", at: context.package.directoryURL)
    var dependencies = packages.values.map { package in
      Dependency(
        reference: Component.reference(package),
        dependsOn: package.dependencies.map { Component.reference($0.package) }.sorted()
      )
    }
    dependencies.append(
      Dependency(
        reference: root.reference,
        dependsOn: context.package.dependencies.map { Component.reference($0.package) }.sorted()
      )
    )
    dependencies.sort { $0.reference < $1.reference }
    let bill = Bill(metadata: Metadata(component: root), components: components, dependencies: dependencies)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    print(String(decoding: try encoder.encode(bill), as: UTF8.self))
  }

  private static func collect(_ package: Package, into found: inout [Package.ID: Package]) {
    guard found.updateValue(package, forKey: package.id) == nil else { return }
    for dependency in package.dependencies { collect(dependency.package, into: &found) }
  }
}

/// A reason why no bill can be made.
enum BillError: Error, CustomStringConvertible {
  case arguments([String])
  case noExecutable
  case notRead(String)

  var description: String {
    switch self {
    case .arguments(let arguments):
      "sbom takes no arguments; it was given \(arguments.joined(separator: " "))."
    case .noExecutable: "The package has no executable `pharos`, which the bill of materials describes."
    case .notRead(let what): "\(what) could not be read; run `swift package resolve`, then try again."
    }
  }
}

/// The libraries and packages that an executable is linked with: walked from its product down to the last target.
struct LinkedTargets {
  /// The packages that a linked target belongs to.
  private(set) var packages: Set<Package.ID> = []
  /// The names by which `pkg-config` knows the linked libraries of the system.
  private(set) var systemLibraries: [String] = []

  /// Libraries of the system whose target does not state their `pkg-config` name.
  private static let unnamed = ["GRDBSQLite": "sqlite3"]

  private var seen: Set<Target.ID> = []
  private var owners: [Target.ID: Package.ID] = [:]

  init(of executable: String, in package: Package) {
    var visited: Set<Package.ID> = []
    learnOwners(package, &visited)
    for product in package.products where product.name == executable {
      for target in product.targets { visit(target) }
    }
    systemLibraries.sort()
  }

  private mutating func learnOwners(_ package: Package, _ visited: inout Set<Package.ID>) {
    guard visited.insert(package.id).inserted else { return }
    for target in package.targets { owners[target.id] = package.id }
    for dependency in package.dependencies { learnOwners(dependency.package, &visited) }
  }

  private mutating func visit(_ target: any Target) {
    guard seen.insert(target.id).inserted else { return }
    if let owner = owners[target.id] { packages.insert(owner) }
    if let library = target as? SystemLibraryTarget {
      let name = library.pkgConfig ?? LinkedTargets.unnamed[library.name] ?? library.name
      if !systemLibraries.contains(name) { systemLibraries.append(name) }
    }
    for dependency in target.dependencies {
      switch dependency {
      case .target(let next): visit(next)
      case .product(let product):
        for next in product.targets { visit(next) }
      @unknown default: continue
      }
    }
  }
}

/// The revisions that packages were resolved to, by the address of their repository.
struct ResolvedRevisions {
  private var revisions: [String: String] = [:]

  /// Reads `Package.resolved` of a package's folder.
  init(in folder: URL) throws {
    let file = folder.appending(path: "Package.resolved")
    guard let data = try? Data(contentsOf: file) else { throw BillError.notRead(file.path) }
    guard let resolved = try? JSONDecoder().decode(Resolved.self, from: data) else {
      throw BillError.notRead(file.path)
    }
    for pin in resolved.pins { revisions[pin.location] = pin.state.revision }
  }

  subscript(url: String) -> String? { revisions[url] }

  private struct Resolved: Decodable {
    struct Pin: Decodable {
      struct State: Decodable {
        var revision: String?
      }
      var location: String
      var state: State
    }
    var pins: [Pin]
  }
}

/// Finds out which licence a folder's licence file states.
enum LicenseFile {
  private static let names = ["LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING"]

  /// Sentences that only one licence has, and how SPDX writes it; the more particular ones come first.
  private static let marks = [
    ("Runtime Library Exception", "Apache-2.0 WITH Swift-exception"),
    ("Apache License", "Apache-2.0"),
    ("Permission is hereby granted, free of charge", "MIT"),
    ("Redistribution and use in source and binary forms", "BSD-3-Clause"),
  ]

  /// The licence as SPDX writes it, or nil where there is no file or none that is known: better no word than a wrong one.
  static func expression(in folder: URL) -> String? {
    for name in names {
      let file = folder.appending(path: name)
      guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
      return marks.first { text.contains($0.0) }?.1
    }
    return nil
  }
}
