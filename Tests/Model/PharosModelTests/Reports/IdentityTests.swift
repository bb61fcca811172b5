import PharosModel
import PharosTestSupport
import Testing

@Suite("Identities")
struct IdentityTests {
  @Test(
    "an observer is recognised however it is written",
    arguments: [
      ("ac:23:3f:a0:00:01", ObserverID.eui48(0xAC23_3FA0_0001), "ac:23:3f:a0:00:01"),
      ("AC-23-3F-A0-00-01", .eui48(0xAC23_3FA0_0001), "ac:23:3f:a0:00:01"),
      ("ac233fa00001", .eui48(0xAC23_3FA0_0001), "ac:23:3f:a0:00:01"),
      ("001bc50940810000", .eui64(0x001B_C509_4081_0000), "00:1b:c5:09:40:81:00:00"),
      (
        "e2c56db5-dffb-48d2-b060-d0f5a71096e0",
        .uuid(UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)),
        "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
      ),
      ("front desk", .name("front desk"), "front desk"),
      ("ac:23:3f:a0:00", .name("ac:23:3f:a0:00"), "ac:23:3f:a0:00"),
      ("ac:23-3f:a0:00:01", .name("ac:23-3f:a0:00:01"), "ac:23-3f:a0:00:01"),
    ]
  )
  func observers(text: String, id: ObserverID, canonical: String) {
    #expect(ObserverID(text) == id)
    #expect(id.description == canonical)
    #expect(ObserverID(canonical) == id)
  }

  @Test(
    "an observer's cell is the same everywhere and forever, since kernels compute it as well",
    arguments: [
      (ObserverID.eui48(1), 29), (.eui48(0xAC23_3FA0_0001), 53), (.eui48(0xFFFF_FFFF_FFFF), 2),
      (.eui64(0x001B_C509_4081_0000), 61),
      (.uuid(UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)), 56),
      (.name("front desk"), 8),
    ]
  )
  func cell(id: ObserverID, expected: Int) { #expect(id.cell == expected) }

  @Test("observers that are numbered one after the other are spread over all cells", arguments: [1, 256])
  func spread(step: UInt64) {
    var eui48 = Array(repeating: 0, count: ObserverID.cells)
    var uuid = eui48
    for number in 0..<64_000 as Range<UInt64> {
      eui48[ObserverID.eui48(0xAC23_3F00_0000 + number * step).cell] += 1
      uuid[ObserverID.uuid(UUID128(high: 7, low: number * step)).cell] += 1
    }
    // A thousand each; chance makes 130 more or less of the extreme one of so many.
    #expect(eui48.allSatisfy { (800...1_200).contains($0) }, "\(eui48)")
    #expect(uuid.allSatisfy { (800...1_200).contains($0) }, "\(uuid)")
  }

  @Test("an observer's name has 1 to 64 bytes")
  func nameLength() {
    #expect(ObserverID("") == nil)
    #expect(ObserverID(String(repeating: "é", count: 32)) != nil)
    #expect(ObserverID(String(repeating: "é", count: 33)) == nil)
  }

  @Test("a beacon's text reads back to the same beacon")
  func beaconText() throws {
    var generator = SeededGenerator(seed: 2)
    for _ in 0..<500 {
      let word = generator.next()
      let address = DeviceAddress(bits: generator.next(), kind: .unknown)
      let namespace = EddystoneNamespace(high: word, low: UInt16(truncatingIfNeeded: generator.next()))
      let beacons: [BeaconID] = [
        .proximity(
          UUID128(high: word, low: generator.next()),
          major: UInt16(truncatingIfNeeded: word),
          minor: UInt16(truncatingIfNeeded: word >> 16)
        ),
        .eddystone(namespace, instance: generator.next()),
        .address(address),
      ]
      for beacon in beacons {
        #expect(BeaconID(beacon.description) == beacon)
        let keyed = beacon.keyed(by: address)
        #expect(BeaconID(keyed.description) == keyed)
      }
    }
  }

  @Test(
    "text that is no beacon is refused",
    arguments: [
      "", "mac:", "mac:zz:23:3f:a0:00:01", "eddystone:00/00", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1",
      "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/65536", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7@",
    ]
  )
  func noBeacon(text: String) {
    #expect(BeaconID(text) == nil)
  }

  @Test("a constraint leaves its lower parts open")
  func constraints() throws {
    let uuid = try #require(UUID128("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"))
    let beacon = BeaconID.proximity(uuid, major: 1, minor: 7)
    let matching: [BeaconConstraint] = [
      .proximity(uuid), .proximity(uuid, major: 1), .proximity(uuid, major: 1, minor: 7),
    ]
    let others: [BeaconConstraint] = [
      .proximity(uuid, major: 2), .proximity(uuid, major: 1, minor: 8),
      .proximity(UUID128(high: 0, low: 0)), .address(DeviceAddress(bits: 7, kind: .public)),
      .eddystone(EddystoneNamespace(high: uuid.high, low: 0)),
    ]
    for constraint in matching { #expect(constraint.matches(beacon)) }
    for constraint in others { #expect(!constraint.matches(beacon)) }
    let keyed = beacon.keyed(by: DeviceAddress(bits: 1, kind: .public))
    #expect(BeaconConstraint.proximity(uuid, major: 1, minor: 7).matches(keyed))
  }

  @Test("only private random addresses are never a key")
  func privateAddresses() {
    #expect(!DeviceAddress(bits: 0xC000_0000_0001, kind: .random).isPrivate)
    #expect(DeviceAddress(bits: 0x4000_0000_0001, kind: .random).isPrivate)
    #expect(DeviceAddress(bits: 0x0000_0000_0001, kind: .random).isPrivate)
    #expect(!DeviceAddress(bits: 0x4000_0000_0001, kind: .public).isPrivate)
  }

  @Test("levels of 127 and 0 are none")
  func unavailable() {
    #expect(RSSI(reported: 127) == nil)
    #expect(RSSI(reported: 0) == nil)
    #expect(RSSI(reported: -128)?.dBm == -128)
  }
}
