import Foundation
import PharosSimulatedWorlds
import PharosTestSupport
import Testing

/// Installations drawn at random, whose truth is known; `INSTALLATIONS=KIND:FROM:COUNT` plays others and prints their faults.
@Suite("Ordinary installations")
struct InstallationTests {
  private static func play(_ kind: Installation.Kind, _ seeds: Range<UInt64>) throws -> InstallationResult {
    var total = InstallationResult()
    for seed in seeds { total.add(try Installation(seed: seed, kind: kind).play()) }
    return total
  }

  @Test("gateways that fail and return change no room of a tag at rest, and are noticed")
  func outages() throws {
    let result = try Self.play(.outages, 201..<209)
    #expect(result.falseExits == 0, "\(result.faults)")
    #expect(result.missedOutages == 0, "\(result.faults)")
    // Before silence had to be proved it was one change an hour and tag.
    #expect(result.falseChanges == 0, "\(result.faults)")
    #expect(Double(result.wrongFirst) <= 0.01 * Double(result.firstRooms), "\(result.faults)")
    #expect(result.firstDelay(0.95) <= 5)
  }

  @Test("gateways that upload in batches change no room of a tag at rest")
  func uploads() throws {
    let result = try Self.play(.uploads, 301..<307)
    #expect(result.falseChanges == 0, "\(result.faults)")
    #expect(result.misplaced == 0, "\(result.faults)")
  }

  @Test(
    "installations of one's own choice",
    .enabled(if: ProcessInfo.processInfo.environment["INSTALLATIONS"] != nil)
  )
  func chosen() throws {
    let words = (ProcessInfo.processInfo.environment["INSTALLATIONS"] ?? "").split(separator: ":")
    let kind = try #require(words.first.flatMap { Installation.Kind(rawValue: String($0)) })
    let first = try #require(words.dropFirst().first.flatMap { UInt64($0) })
    let count = try #require(words.dropFirst(2).first.flatMap { UInt64($0) })
    if words.count > 3 {
      let installation = Installation(seed: first, kind: kind)
      for gateway in installation.gateways { print(gateway) }
      for (number, tag) in installation.tags.enumerated() { print(number, tag) }
      _ = try installation.play { print($0) }
    }
    let result = try Self.play(kind, first..<first + count)
    for fault in result.faults { print(fault) }
    print(result.summary)
  }
}
