import PharosDocuments
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

@Suite("The iBeacon that stands alone in its payload")
struct SoleIBeaconTests {
  static let identity = "E2C56DB5DFFB48D2B060D0F5A71096E000640007C5"

  private static func read(_ payload: [UInt8]) -> (beacon: BeaconID, statedPower: Int8)? {
    // Bytes of other adverts lie around it, as in a batch.
    let bytes = [0x02, 0x01] + payload + [0x1A, 0xFF]
    return FrameDecoder.soleIBeacon(in: bytes.span.bytes, at: 2..<2 + payload.count)
  }

  @Test(
    "it is read behind flags, without them, and before a length of zero",
    arguments: [
      "0201061AFF4C000215" + identity, "02011A1AFF4C000215" + identity, "1AFF4C000215" + identity,
      "0201061AFF4C000215" + identity + "00", "1AFF4C000215" + identity + "00FFFF",
    ]
  )
  func read(_ text: String) throws {
    let payload = try #require(Hex.bytes(text))
    let found = try #require(SoleIBeaconTests.read(payload))
    let uuid = try #require(UUID128("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"))
    #expect(found.beacon == .proximity(uuid, major: 100, minor: 7))
    #expect(found.statedPower == -59)
  }

  @Test(
    "an advert that is not exactly one iBeacon is left to the walk",
    arguments: [
      "", "02", "0201061AFF4C000215" + identity.dropLast(2), "1AFF4C000215" + identity.dropLast(2),
      "0201061AFF4C000215" + identity + "020A00", "0201061BFF4C000215" + identity + "00",
      "0201061AFF59000215" + identity, "0201061AFF4C000216" + identity, "0202061AFF4C000215" + identity,
    ]
  )
  func leave(_ text: String) throws {
    let payload = try #require(Hex.bytes(text))
    #expect(SoleIBeaconTests.read(payload) == nil)
  }

  @Test("it finds what a walk finds, after any change of bits", arguments: Seeds.drawn(0..<8))
  func agreement(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let decoder = FrameDecoder()
    let plain = try #require(Hex.bytes("0201061AFF4C000215" + SoleIBeaconTests.identity + "00"))
    var found = 0
    for _ in 0..<2_000 {
      var payload = Array(plain.prefix(Int.random(in: 26...31, using: &generator)))
      if Bool.random(using: &generator) { payload.removeFirst(3) }
      for _ in 0..<Int.random(in: 0...2, using: &generator) {
        payload[Int.random(in: 0..<payload.count, using: &generator)] ^=
          1 << UInt8.random(in: 0...7, using: &generator)
      }
      guard let sole = SoleIBeaconTests.read(payload) else { continue }
      found += 1
      let frames = decoder.frames(in: payload.span.bytes)
      #expect(frames.map(\.beacon) == [sole.beacon])
      #expect(frames.map(\.measuredPower) == [MeasuredPower.known(sole.statedPower)])
    }
    #expect(found > 200)
  }
}
