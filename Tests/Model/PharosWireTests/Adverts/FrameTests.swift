import PharosModel
import PharosWire
import Testing

@Suite struct FrameTests {
  @Test(
    "a frame names its beacon and its power at one metre",
    arguments: [
      (
        "1aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5",
        "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/100/0", Int8(-59)
      ),
      (
        "1bff1801beac2f234454cf6d4a0fadf2f4911ba9ffa600010002c509",
        "2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6/1/2", -59
      ),
      (
        "1716aafe00e3123456789012346789010000000000010000",
        "eddystone:12345678901234678901/000000000001", -70
      ),
      ("1316aafe10f8036769746875620063697472757a", nil, -49),
      ("1116aafe20000b1813000000146700002ac4", nil, nil),
      ("1516aafe2001414141414141414141414141deadbeff", nil, nil),
      ("0d16aafe30e34549445f74657374", nil, -70),
    ]
  )
  func identity(hex: String, beacon: String?, measuredPower: Int8?) throws {
    let frame = try #require(frames(bytes(hex)).first)
    #expect(frame.beacon?.description == beacon)
    #expect(frame.measuredPower == measuredPower)
  }

  @Test(
    "Eddystone's power at 0 m loses 41 dB and never wraps around",
    arguments: [(Int8(20), Int8(-21)), (0, -41), (40, -1), (-86, -127)]
  )
  func power(transmitPower: Int8, measuredPower: Int8) {
    #expect(FrameTests.eddystone(transmitPower).map(\.measuredPower) == [measuredPower, measuredPower])
  }

  private static func eddystone(_ power: Int8) -> [Frame] {
    let namespace = EddystoneNamespace(high: 1, low: 2)
    return [
      .eddystoneEID(EddystoneEID(identifier: 1, transmitPower: power)),
      .eddystoneUID(EddystoneUID(namespace: namespace, instance: 3, transmitPower: power)),
    ]
  }

  @Test("a power that no receiver could measure is unknown, whatever frame states it")
  func unknownPower() {
    let uuid = UUID128(high: 1, low: 2)
    for dBm in Int8.min...Int8.max {
      let known = -127 ... -1 ~= dBm ? dBm : nil
      let apple = IBeacon(uuid: uuid, major: 1, minor: 2, measuredPower: dBm)
      let other = AltBeacon(uuid: uuid, major: 1, minor: 2, measuredPower: dBm, company: 0x0118)
      #expect(Frame.iBeacon(apple).measuredPower == known)
      #expect(Frame.altBeacon(other).measuredPower == known)
      #expect(
        RangedBeacon(
          beacon: .proximity(uuid, major: 1, minor: 2),
          rssi: nil,
          accuracy: nil,
          measuredPower: dBm
        ).measuredPower == known
      )
      let lowered = Int(dBm) - 41
      let stated: Int8? = -127 ... -1 ~= lowered ? Int8(lowered) : nil
      #expect(FrameTests.eddystone(dBm).allSatisfy { $0.measuredPower == stated })
    }
  }

  @Test("an iBeacon and an AltBeacon with the same numbers are the same beacon")
  func sameBeacon() throws {
    let uuid = try #require(UUID128("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"))
    let apple = IBeacon(uuid: uuid, major: 1, minor: 2, measuredPower: -59)
    let other = AltBeacon(uuid: uuid, major: 1, minor: 2, measuredPower: -60, company: 0x0118)
    #expect(Frame.iBeacon(apple).beacon == Frame.altBeacon(other).beacon)
  }

  @Test("a frame takes at most half a cache line, so that passing one costs nothing")
  func size() {
    #expect(MemoryLayout<Frame>.stride <= 32)
  }

  @Test("only Eddystone's frames are Eddystone's")
  func isEddystone() {
    let hex = ["1aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5", "0d16aafe30e34549445f74657374"]
    #expect(frames(hex.flatMap { bytes($0) }).map(\.isEddystone) == [false, true])
  }
}
