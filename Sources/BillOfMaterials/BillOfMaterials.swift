import Foundation
import PackagePlugin

/// `swift package sbom`: prints what the `pharos` executable is made of, as a CycloneDX bill of materials.
///
/// Packages are those that were resolved, at their very versions and revisions. What only tests, benchmarks or other
/// products of a package need is listed with the scope `excluded`, since it is no part of the executable. Libraries of
/// the system that it is linked with are listed with the versions that `pkg-config` tells on this machine.
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

/// Why no bill can be made.
enum BillError: Error, CustomStringConvertible {
  case arguments([String])
  case noExecutable
  case notRead(String)

  var description: String {
    switch self {
    case .arguments(let arguments):
      "sbom takes no arguments; it was given \(arguments.joined(separator: " "))."
    case .noExecutable: "The package has no executable `pharos` any more; the bill is about that one."
    case .notRead(let what): "\(what) could not be read; run `swift package resolve`, then try again."
    }
  }
}
