import PharosModel
import PharosTestSupport
import Testing

@Suite("Several tags with one identity")
struct SharedIdentitiesTests {
  private static let start = Timestamp(seconds: 1_700_000_000)

  private static func beacon() throws -> BeaconID {
    try #require(BeaconID("FDA50693-A4E2-4FB1-AFCF-C6EB07647825/1/2"))
  }

  private static func address(_ number: UInt64, kind: DeviceAddress.Kind = .random) -> DeviceAddress {
    DeviceAddress(bits: 0xC300_000A_0B00 | number, kind: kind)
  }

  @Test("two addresses that take turns prove two tags, which are named", arguments: [2, 5, 20])
  func clones(count: UInt64) throws {
    var identities = SharedIdentities()
    for second in 0..<120 {
      let sender = Self.address(UInt64(second) % count + 1)
      identities.record(try Self.beacon(), from: sender, at: Self.start + .seconds(Double(second)))
    }
    let remarks = identities.remarks()
    #expect(remarks.count == 1)
    #expect(remarks[0].contains("c3:00:00:0a:0b:01") && remarks[0].contains("key: mac"))
    #expect(identities.remarks { _ in true }.isEmpty)
  }

  @Test(
    "summed up by its first and last advert, an address that is heard beside another for minutes is another tag",
    arguments: Seeds.drawn(0..<30)
  )
  func summaries(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var identities = SharedIdentities()
    let common = Double.random(in: -600...600, using: &random)
    let end = Self.start + .seconds(1_000)
    identities.record(try Self.beacon(), from: Self.address(1), between: Self.start, and: end)
    let next = end - .seconds(common)
    identities.record(try Self.beacon(), from: Self.address(2), between: next, and: next + .seconds(2_000))
    #expect(identities.conflicts.isEmpty == (common < 180), "\(common)")
  }

  @Test("one address that follows the other is one tag, even with late reports, and so is a private address")
  func changed() throws {
    var identities = SharedIdentities()
    for second in 0..<120 {
      let isLate = second == 61 || second == 63
      identities.record(
        try Self.beacon(),
        from: Self.address(second < 60 || isLate ? 1 : 2),
        at: Self.start + .seconds(Double(second))
      )
    }
    #expect(identities.conflicts.isEmpty)
    for second in 0..<120 {
      // The two upper bits of a resolvable private address are 01.
      let sender = DeviceAddress(bits: 0x4300_0000_0000 | UInt64(second % 2), kind: .random)
      identities.record(try Self.beacon(), from: sender, at: Self.start + .seconds(Double(second)))
    }
    #expect(identities.conflicts.isEmpty)
  }
}
