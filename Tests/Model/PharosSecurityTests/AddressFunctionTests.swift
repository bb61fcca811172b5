import PharosDocuments
import PharosModel
import PharosSecurity
import PharosTestSupport
import Testing

@Suite("Addresses and their keys")
struct AddressFunctionTests {
  /// Bluetooth Core Specification, Vol 3, Part H, Appendix D.7: sample data of `ah`.
  private static let sample = "ec0234a357c8ad05341010a60a397d9b"

  @Test("the specification's sample: IRK and 708194 give 0dfbaa")
  func sampleData() throws {
    let key = try #require(IdentityKey(Self.sample))
    // The specification's prand has its highest bits 01 already.
    let address = try #require(key.resolvableAddress(prand: 0x708194))
    #expect(address == DeviceAddress(bits: 0x7081_940D_FBAA, kind: .random))
    #expect("\(address)" == "70:81:94:0d:fb:aa")
  }

  @Test("made addresses carry the mark of resolvable ones, whatever prand was drawn")
  func mark() throws {
    let key = try #require(IdentityKey(Self.sample))
    for prand in [UInt32(0), 0xFF_FFFF, 0xC0_0001, 0x80_0000, 0x12_3456] {
      let address = try #require(key.resolvableAddress(prand: prand))
      #expect(address.isPerhapsResolvable)
      #expect(address.isPrivate)
    }
  }

  @Test("only highest bits of 01 on an address that is not public may be resolved")
  func sorts() {
    #expect(DeviceAddress(bits: 0x4000_0000_0001, kind: .random).isPerhapsResolvable)
    #expect(DeviceAddress(bits: 0x7FFF_FFFF_FFFF, kind: .unknown).isPerhapsResolvable)
    #expect(!DeviceAddress(bits: 0x4000_0000_0001, kind: .public).isPerhapsResolvable)
    for bits: UInt64 in [0x0000_0000_0001, 0x8000_0000_0001, 0xC000_0000_0001] {
      #expect(!DeviceAddress(bits: bits, kind: .random).isPerhapsResolvable)
    }
  }

  @Test(
    "a key is 32 hexadecimal digits and nothing else",
    arguments: ["", "ec02", Self.sample + "00", "zz" + Self.sample.dropFirst(2)]
  )
  func noKey(text: String) { #expect(IdentityKey(text) == nil) }

  @Test("nothing that prints a key, or what holds it, shows it")
  func silence() throws {
    let key = try #require(IdentityKey(Self.sample))
    let entry = BeaconEntry(constraint: .address(DeviceAddress(bits: 1, kind: .public)), identityKey: key)
    let site = Site(beacons: [entry])
    var dumped = ""
    dump(site, to: &dumped)
    let texts = [
      "\(key)", "\(entry)", "\(site)", String(reflecting: site), String(describing: key.customMirror), dumped,
    ]
    let words = [
      Self.sample, String(Self.sample.prefix(8)), "\(0xec02_34a3_57c8_ad05 as UInt64)",
      "\(0x3410_10a6_0a39_7d9b as UInt64)",
    ]
    for text in texts {
      for word in words { #expect(!text.lowercased().contains(word)) }
    }
    #expect("\(key)" == "key " + Hex.text(UInt64(key.fingerprint), bytes: 4))
  }

  @Test("a site in bytes names fingerprints, and gets its keys back from the site file's")
  func recordedSite() throws {
    let keys = try [Self.sample, "000102030405060708090a0b0c0d0e0f"].map { try #require(IdentityKey($0)) }
    let beacons = [
      BeaconEntry(constraint: .address(DeviceAddress(bits: 1, kind: .unknown)), identityKey: keys[0]),
      BeaconEntry(constraint: .address(DeviceAddress(bits: 2, kind: .unknown))),
      BeaconEntry(constraint: .address(DeviceAddress(bits: 3, kind: .unknown)), identityKey: keys[1]),
    ]
    let site = Site(beacons: beacons)
    var writer = FieldWriter()
    site.write(to: &writer)
    let octets = try #require(Hex.bytes(Self.sample))
    #expect(!writer.bytes.contains(run: octets))
    #expect(!writer.bytes.contains(run: octets.reversed()))
    #expect(!writer.bytes.contains(run: Array(octets[0..<8].reversed())))
    var reader = FieldReader(writer.bytes[...])
    let read = try Site(from: &reader)
    try reader.finish()
    #expect(read.withheldKeys == 2)
    #expect(Resolver(site: read) == nil)
    #expect(
      read.beacons.map { $0.identityKey?.fingerprint } == site.beacons.map { $0.identityKey?.fingerprint }
    )
    #expect(read.withKeys(of: site) == site)
    #expect(read.withKeys(of: Site(beacons: [beacons[2]])).withheldKeys == 1)
  }

  @Test("a site without keys has the bytes that it always had")
  func plainSite() throws {
    let plain = Site(beacons: [BeaconEntry(constraint: .address(DeviceAddress(bits: 1, kind: .unknown)))])
    var writer = FieldWriter()
    plain.write(to: &writer)
    #expect(writer.bytes.last == 0, "the admission is the last byte")
    var reader = FieldReader(writer.bytes[...])
    #expect(try Site(from: &reader) == plain)
  }
}
