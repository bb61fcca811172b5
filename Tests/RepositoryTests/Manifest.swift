import Foundation
import PharosTestSupport

/// The manifest of the package, as far as the rules about modules look at it.
struct Manifest {
  /// The groups of modules in their order.
  let groups: [(name: String, modules: [String])]
  /// The modules and other targets of the package that each target depends on; each module of a group has an entry.
  let dependencies: [String: Set<String>]

  /// The manifest of this package.
  static let own: Manifest = {
    let url = SharedData.repository.appending(path: "Package.swift")
    return Manifest((try? String(contentsOf: url, encoding: .utf8)) ?? "")
  }()

  /// Reads the text of a manifest.
  init(_ text: String) {
    let block = text.split(separator: "\nlet groups: ").last?.split(separator: "\n]\n").first ?? ""
    groups = block.matches(of: /"(\w+)": \[([^\]]*)\]/).map { (String($0.1), Manifest.names(in: $0.2)) }
    let target =
      /(?:module|decoding|tests|fuzzTargets)\(\s*"(\w+)",\s*\[([^\]]*)\]|name: "(\w+)",\s*dependencies: \[([^\]]*)\]/
    var dependencies = Dictionary(
      groups.flatMap(\.modules).map { ($0, Set<String>()) },
      uniquingKeysWith: { $1 }
    )
    for match in text.matches(of: target) {
      guard let name = match.1 ?? match.3, let list = match.2 ?? match.4 else { continue }
      dependencies[String(name)] = Set(Manifest.names(in: list))
    }
    self.dependencies = dependencies.mapValues { $0.filter { dependencies[$0] != nil } }
  }

  /// The group of a module, or of the module that a target tests; nil for other targets.
  func group(of target: String) -> String? {
    groups.first { $0.modules.contains(target) || $0.modules.contains { $0 + "Tests" == target } }?.name
  }

  /// The modules of Swift, group by group.
  var libraries: [String] { groups.filter { $0.name != "Shims" }.flatMap(\.modules) }

  /// The modules of a group.
  func modules(of group: String) -> [String] { groups.first { $0.name == group }?.modules ?? [] }

  /// All targets that a target needs, itself among them.
  func closure(of target: String) -> Set<String> {
    var (needed, open): (Set<String>, [String]) = ([], [target])
    while let name = open.popLast() {
      guard needed.insert(name).inserted else { continue }
      open += dependencies[name] ?? []
    }
    return needed
  }

  private static func names(in list: some StringProtocol) -> [String] {
    String(list).matches(of: /"(\w+)"/).map { String($0.1) }
  }
}
