import PharosDocuments
import PharosModel
import PharosSecurity
import PharosSite
import Testing

@Suite("Identity keys in a site file")
struct IdentityKeyReadingTests {
  private static let key = "ec0234a357c8ad05341010a60a397d9b"
  private static let mac = "mac: \"ac:23:3f:00:00:01\""

  private static func site(_ entries: String...) -> String {
    "beacons:\n" + entries.map { "  - { \($0) }\n" }.joined()
  }

  @Test("a tag with its key is read, and the resolver has it")
  func reads() throws {
    let text = Self.site("name: nurse 12, \(Self.mac), irk: \"\(Self.key)\"")
    let configuration = try SiteFile.parse(text, path: "site.yaml")
    #expect(configuration.warnings.isEmpty)
    #expect(configuration.site.beacons.first?.identityKey == IdentityKey(Self.key))
    var resolver = try #require(Resolver(site: configuration.site))
    let sent = DeviceAddress(bits: 0x7081_940D_FBAA, kind: .random)
    #expect(resolver.resolve(sent)?.bits == 0xAC23_3F00_0001)
  }

  @Test(
    "mistakes of a key are reported without showing it",
    arguments: [
      ("\(mac), irk: \"ec0234a357c8ad05341010a60a397d\"", "irk is no key"),
      ("\(mac), irk: \"ec0234a357c8ad05341010a60a397dzz\"", "irk is no key"),
      ("\(mac), irk: [1]", "irk is no key"),
      ("\(mac), irk: \"00000000000000000000000000000000\"", "the same octet sixteen times"),
      ("uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, irk: \"\(key)\"", "irk is set without mac"),
      ("\(mac), irk: \(key)", "irk is set without quotes"),
    ]
  )
  func problems(entry: String, message: String) {
    let problems = SiteMistakeTests.problems(Self.site(entry))
    #expect(problems.count == 1)
    #expect(problems.first?.contains(message) ?? false, "\(problems)")
    #expect(problems.first?.hasPrefix("site.yaml:2: ") ?? false)
    #expect(problems.first?.contains("beacon 1: ") ?? false)
    #expect(!problems.contains { $0.contains("ec02") || $0.contains("0000000000") })
  }

  @Test("two tags with one key are a mistake, whichever way the digits are written")
  func twice() {
    let problems = SiteMistakeTests.problems(
      Self.site(
        "\(Self.mac), irk: \"\(Self.key)\"",
        "mac: \"ac:23:3f:00:00:02\", irk: \"\(Self.key.uppercased())\""
      )
    )
    #expect(
      problems == [
        "site.yaml:3: beacon 2: another beacon has this irk (expected each key once: a device's own)"
      ]
    )
  }

  @Test("there may be at most 4,096 keys")
  func maximum() {
    func entries(_ count: Int) -> String {
      "beacons:\n"
        + (0..<count).map { number in
          let digits = Hex.text(UInt64(number) << 8 | 1, bytes: 8)
          return
            "  - { mac: \"\(Hex.octets(UInt64(number), bytes: 6))\", irk: \"\(digits)ffff0000ffff0000\" }\n"
        }.joined()
    }
    #expect(SiteMistakeTests.problems(entries(Resolver.maximumKeys)).isEmpty)
    let problems = SiteMistakeTests.problems(entries(Resolver.maximumKeys + 2))
    #expect(problems.count == 1)
    #expect(problems.first?.contains("at most 4096") ?? false)
  }
}
