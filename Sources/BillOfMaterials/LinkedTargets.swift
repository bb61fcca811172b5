import PackagePlugin

/// What an executable is linked with: walked from its product down to the last target.
struct LinkedTargets {
  /// The packages that a linked target belongs to.
  private(set) var packages: Set<Package.ID> = []
  /// The names by which `pkg-config` knows the linked libraries of the system.
  private(set) var systemLibraries: [String] = []

  /// Libraries of the system whose target does not tell the name that `pkg-config` has for them.
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
