import Foundation
import FuzzBodies
import FuzzDecoders
import FuzzEngine
import FuzzSigning
import FuzzSupport
import FuzzWire
import PharosTestSupport
import Testing

/// The seeds of every fuzz target and every input that ever found a fault, without libFuzzer.
///
/// A broken rule ends the process and names the rule.
@Suite("Fuzz targets")
struct RegressionTests {
  static let targets: [any FuzzTarget.Type] =
    wireTargets + decoderTargets + engineTargets + bodyTargets + signingTargets

  private static let folder = SharedData.repository.appending(path: "Tests/Fuzzing/Regressions")

  /// The inputs that once found a fault, by target.
  private static func regressions(of target: String) throws -> [URL] {
    let folder = Self.folder.appending(path: target)
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }
  }

  @Test(
    "a target takes its seeds and every input that once found a fault",
    arguments: targets.map { $0.name }
  )
  func replay(name: String) throws {
    let type = try #require(Self.targets.first { $0.name == name })
    let target = type.init()
    var inputs = try type.seeds()
    #expect(!inputs.isEmpty)
    inputs += try Self.regressions(of: name).map { Array(try Data(contentsOf: $0)) }
    for input in inputs { target.run(input.span.bytes) }
  }

  @Test("every folder of regressions belongs to a target")
  func folders() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(Set(folders).subtracting(Self.targets.map { $0.name }) == [])
  }
}
