import Foundation
import Pharos
import Testing

@Suite("Foundation's types")
struct ConversionTests {
  @Test("a time and its date agree, in both directions")
  func dates() {
    let time = Timestamp(seconds: 1_420_070_400, nanoseconds: 250_000_000)
    #expect(Date(time) == Date(timeIntervalSince1970: 1_420_070_400.25))
    #expect(time.date == Date(time))
    #expect(Timestamp(time.date) == time)
    #expect(Timestamp(Date(timeIntervalSince1970: -0.5)) == Timestamp(nanoseconds: -500_000_000))
  }

  @Test("before and after everything stay what they are")
  func distant() {
    #expect(Date(Timestamp.distantPast) == .distantPast)
    #expect(Date(Timestamp.distantFuture) == .distantFuture)
    #expect(Timestamp(Date.distantPast) == .distantPast)
    #expect(Timestamp(Date.distantFuture) == .distantFuture)
  }

  @Test("a UUID has the same text in both forms")
  func uuids() throws {
    let text = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    let uuid = try #require(UUID(uuidString: text))
    #expect(UUID128(uuid) == UUID128(text))
    #expect(UUID(UUID128(uuid)) == uuid)
  }

  @Test("a reading has the identity of CLBeacon")
  func readings() {
    let uuid = UUID128(high: 1, low: 2)
    var reading = RangedReading(
      beacon: .proximity(uuid, major: 3, minor: 4),
      rssi: -60,
      accuracy: 1,
      deviation: 0.5,
      proximity: .near,
      samples: 1
    )
    #expect((reading.uuid, reading.major, reading.minor) == (uuid, 3, 4))
    reading.beacon = .address(DeviceAddress(bits: 1, kind: .unknown))
    #expect((reading.uuid, reading.major, reading.minor) == (nil, nil, nil))
  }
}
