import PharosWire
import Testing

@Suite struct AdvertSummaryTests {
  @Test(
    "a name is read, repaired and made safe to print",
    arguments: [
      ("0609 4b69746368", "Kitch", false, "a whole name"),
      ("0308 4b69", "Ki", true, "a shortened name"),
      ("0308 4b69 0609 4b69746368", "Kitch", false, "the whole name goes before the shortened one"),
      ("0609 4b69746368 0308 4b69", "Kitch", false, "in either order"),
      ("0308 4b69 0109", "Ki", true, "an empty name is none"),
      ("0609 4b69000000", "Ki", false, "padding is taken off"),
      ("0409 1b5b6d", "\u{FFFD}[m", false, "no control characters reach a terminal"),
      ("0309 c3a9", "é", false, "UTF-8"),
      ("0309 41ff", "A\u{FFFD}", false, "not UTF-8"),
      ("0309 0000", nil, false, "only padding"),
      ("0109", nil, false, "an empty name"),
      ("020106", nil, false, "no name"),
    ] as [(String, String?, Bool, String)]
  )
  func name(hex: String, name: String?, isShortened: Bool, why: String) {
    let found = summary(bytes(hex))
    #expect(found.localName == name, "\(why)")
    #expect(found.isNameShortened == isShortened, "\(why)")
  }

  @Test("flags, power, company and structures are noted; of two the first counts")
  func fields() {
    let found = summary(bytes("02011a 020a0c 020af4 02ff03 0aff4c001005441cbd08c5 03ff5900 020106"))
    #expect(found.flags == 0x1A)
    #expect(found.transmitPower == 12)
    #expect(found.company == 0x004C)
    #expect(found.structureCount == 7)
    #expect(!found.isMalformed)
    #expect(found.localName == nil)
  }

  @Test("a structure that is too short for its type is skipped")
  func short() {
    let found = summary(bytes("0101 010a 01ff 02ff4c 0a"))
    #expect(found.flags == nil)
    #expect(found.transmitPower == nil)
    #expect(found.company == nil)
    #expect(found.structureCount == 4)
    #expect(found.isMalformed)
  }
}
