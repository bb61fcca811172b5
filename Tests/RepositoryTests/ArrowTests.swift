import PharosTestSupport
import Testing

/// The arrows between the groups of modules: Model, Places, Engine, Lab and Server each use themselves and those before
/// them; the gateway uses Model alone.
@Suite("Arrows between modules")
struct ArrowTests {
  /// The groups in their order, each with the groups that its modules may use; all may use shims.
  static let order: KeyValuePairs<String, Set<String>> = [
    "Model": ["Model"],
    "Places": ["Model", "Places"],
    "Engine": ["Model", "Places", "Engine"],
    "Lab": ["Model", "Places", "Engine", "Lab"],
    "Server": ["Model", "Places", "Engine", "Lab", "Server"],
    "Gateway": ["Model", "Gateway"],
    "Shims": [],
  ]
  /// The one arrow outside the order: `pharos gateway` is the gateway's command.
  static let exception = "PharosCommand -> PharosGateway"

  /// Returns the arrows that the order does not allow.
  static func refused(_ arrows: [String: Set<String>], in manifest: Manifest) -> [String] {
    arrows.flatMap { module, used in
      let allowed = order.first { $0.key == manifest.group(of: module) }?.value ?? []
      return used.filter { name in
        manifest.group(of: name).map { $0 != "Shims" && !allowed.contains($0) } ?? false
      }
      .map { "\(module) -> \($0)" }
    }
    .sorted()
  }

  @Test("the manifest lists the groups in the order of the arrows")
  func groups() {
    #expect(Manifest.own.groups.map(\.name) == Self.order.map(\.key))
    #expect(Manifest.own.libraries.count > 30)
  }

  @Test("no arrow of the manifest points up")
  func manifest() {
    let arrows = Manifest.own.dependencies.filter { Manifest.own.libraries.contains($0.key) }
    #expect(arrows.values.reduce(0) { $0 + $1.count } > 150)
    #expect(Self.refused(arrows, in: .own) == [Self.exception])
  }

  @Test("no import points up")
  func imports() throws {
    var arrows: [String: Set<String>] = [:]
    for module in Manifest.own.libraries {
      arrows[module] = Set(try HouseTests.swiftFiles(in: HouseTests.folder(of: module)).flatMap(\.imports))
    }
    #expect(Self.refused(arrows, in: .own) == [Self.exception])
  }

  @Test("an arrow up, and one from the gateway beyond Model, is refused")
  func planted() {
    let manifest = Manifest(
      """
      let groups: KeyValuePairs<String, [String]> = [
        "Model": ["A", "B"],
        "Lab": ["L"],
        "Server": ["S"], "Gateway": ["G"], "Shims": ["C"],
      ]
      decoding("A", []),
      module("B", ["A", "C"]),
      module("L", ["B", "S", .product(name: "Yams", package: "Yams")]),
      .executableTarget(
        name: "S",
        dependencies: ["L", "A"],
      module("G", ["A", "L"])
      """
    )
    #expect(
      manifest.dependencies == [
        "A": [], "B": ["A", "C"], "L": ["B", "S"], "S": ["L", "A"], "G": ["A", "L"], "C": [],
      ]
    )
    #expect(Self.refused(manifest.dependencies, in: manifest) == ["G -> L", "L -> S"])
  }

  @Test("the laboratory and all below it build and are tested without the server, HTTP and GRDB")
  func laboratory() throws {
    let below = ["Model", "Places", "Engine", "Lab"].flatMap(Manifest.own.modules)
    for module in below {
      let reached = Manifest.own.closure(of: module + "Tests").compactMap(Manifest.own.group)
      #expect(Set(reached).isDisjoint(with: ["Server", "Gateway"]), "\(module)Tests")
    }
    let banned = ["GRDB", "NIO", "Hummingbird", "AsyncHTTPClient"]
    for module in Manifest.own.closure(of: "PharosLabTests").intersection(Manifest.own.libraries) {
      for file in try HouseTests.swiftFiles(in: HouseTests.folder(of: module)) {
        for name in file.imports where banned.contains(where: name.hasPrefix) {
          Issue.record("\(file.path) imports \(name)")
        }
      }
    }
  }
}
