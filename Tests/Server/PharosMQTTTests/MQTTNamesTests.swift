import PharosModel
import PharosMQTT
import PharosTestSupport
import Testing

@Suite("Names of topics")
struct MQTTNamesTests {
  @Test("a name of letters, digits and dashes stays as it is", arguments: ["kitchen", "hall-2", "7"])
  func plainNames(name: String) { #expect(MQTTNames.level(name) == name) }

  @Test(
    "any other name gets a digest, so that no two names have one level",
    arguments: [("Kitchen", "kitchen_"), ("a b", "a_b_"), ("a_b", "a_b_"), ("", "_"), ("a/+/#", "a_____")]
  )
  func otherNames(name: String, beginning: String) {
    let level = MQTTNames.level(name)
    #expect(level.hasPrefix(beginning))
    #expect(level.utf8.count == beginning.utf8.count + 8)
  }

  @Test("no two subjects have one level, and each level is one that Home Assistant takes")
  func subjects() throws {
    var random = SeededGenerator(seed: 7)
    let texts = [
      "mac:aa:bb:cc:dd:ee:ff", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7",
      "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/17/7",
      "eddystone:00112233445566778899/aabbccddeeff",
    ]
    var subjects = Set(try texts.map { SubjectID.beacon(try #require(BeaconID($0))) })
    let names = [
      "aa", "AA", "a a", "a_a", "ä", "mac_aa_bb_cc_dd_ee_ff", "aa_bb_cc_dd_ee_ff", "name", "x.y", "x/y",
      "x_y",
    ]
    for name in names { subjects.insert(.observer(.name(name))) }
    for _ in 0..<500 {
      subjects.insert(.observer(.eui48(.random(in: 0...0xFFFF_FFFF_FFFF, using: &random))))
      subjects.insert(.observer(.eui64(.random(in: 0...UInt64.max, using: &random))))
    }
    let levels = subjects.map { MQTTNames.level($0) }
    #expect(Set(levels).count == subjects.count)
    // - Source: Home Assistant, MQTT discovery: object ids consist of [a-zA-Z0-9_-].
    for level in levels {
      #expect(
        level.utf8.allSatisfy {
          $0 | 0x20 == 0x7F || "abcdefghijklmnopqrstuvwxyz0123456789_-".utf8.contains($0)
        }
      )
    }
  }

  @Test("servers with other streams have other nodes")
  func nodes() {
    func node(_ stream: String) -> String { MQTTNames(prefix: "p", discovery: "d", stream: stream).node }
    #expect(node("pharos") == "pharos")
    #expect(node("shop") == "pharos_shop")
    #expect(node("shop/1") != node("shop_1"))
  }
}
