import PharosModel
import PharosSecurity
import PharosTestSupport
import Testing

@Suite("Pseudonyms")
struct PseudonymTests {
  @Test("the hash is SipHash-2-4: its authors' vectors for 8 octets, and for 15 with a hand-made state")
  func vectors() {
    // Aumasson and Bernstein's reference vectors, key 00…0f: input 00…07, and appendix A's 00…0e.
    let key = PseudonymKey(low: 0x0706_0504_0302_0100, high: 0x0F0E_0D0C_0B0A_0908)
    #expect(key.hash(0x0706_0504_0302_0100) == 0x93F5_F579_9A93_2462)
    var state = SipState(low: 0x0706_0504_0302_0100, high: 0x0F0E_0D0C_0B0A_0908)
    state.absorb(0x0706_0504_0302_0100)
    state.absorb(0x0F0E_0D0C_0B0A_0908)
    #expect(state.finish() == 0xA129_CA61_49BE_45E5)
  }

  @Test(
    "one address has one pseudonym under a key, another key gives another, and no two of many are the same"
  )
  func distinct() {
    let key = PseudonymKey(low: 1, high: 2)
    let other = PseudonymKey(low: 1, high: 3)
    var seen: Set<Pseudonym> = []
    for bits: UInt64 in 0..<10_000 {
      let address = DeviceAddress(bits: 0xAC23_3F00_0000 | bits, kind: .public)
      #expect(key(address) == key(DeviceAddress(bits: address.bits, kind: .random)))
      #expect(key(address) != other(address))
      seen.insert(key(address))
    }
    #expect(seen.count == 10_000)
  }

  @Test("the text is read back, and is no address")
  func text() {
    let pseudonym = Pseudonym(bits: 0x00AB_CDEF_0123)
    #expect("\(pseudonym)" == "~00abcdef0123")
    #expect(Pseudonym("\(pseudonym)") == pseudonym)
    #expect(DeviceAddress("\(pseudonym)") == nil)
    for text in ["", "~", "00abcdef0123", "~00abcdef01", "~00abcdef012z"] { #expect(Pseudonym(text) == nil) }
  }
}
