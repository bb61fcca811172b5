import Foundation
import PharosModel
import PharosTestSupport
import Testing

@Suite("Timestamps")
struct TimestampTests {
  @Test(
    "are written in RFC 3339 with nine decimals",
    arguments: [
      (0, "1970-01-01T00:00:00.000000000Z"),
      (1, "1970-01-01T00:00:00.000000001Z"),
      (-1, "1969-12-31T23:59:59.999999999Z"),
      (1_420_070_400_000_000_000, "2015-01-01T00:00:00.000000000Z"),
      (1_709_164_800_123_456_789, "2024-02-29T00:00:00.123456789Z"),
      (4_102_444_799_999_999_999, "2099-12-31T23:59:59.999999999Z"),
    ] as [(Int64, String)]
  )
  func rfc3339(nanoseconds: Int64, text: String) {
    #expect(Timestamp(nanoseconds: nanoseconds).rfc3339 == text)
  }

  @Test(
    "print as dates with as many decimals as they have",
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (1_420_070_400_250_000_000, "2015-01-01T00:00:00.25Z"),
      (1_709_164_800_123_456_789, "2024-02-29T00:00:00.123456789Z"),
      (600_000_000_000, "1970-01-01T00:10:00Z"),
    ] as [(Int64, String)]
  )
  func description(nanoseconds: Int64, text: String) {
    #expect("\(Timestamp(nanoseconds: nanoseconds))" == text)
    #expect(Timestamp(text: text) == Timestamp(nanoseconds: nanoseconds))
  }

  @Test("agree with Foundation's calendar on random days")
  func againstFoundation() {
    var generator = SeededGenerator(seed: 1)
    let formatter = ISO8601DateFormatter()
    for _ in 0..<2_000 {
      let second = Int64.random(in: -2_000_000_000...9_000_000_000, using: &generator)
      let expected = formatter.string(from: Date(timeIntervalSince1970: Double(second)))
      #expect(Timestamp(seconds: second).rfc3339 == expected.dropLast() + ".000000000Z")
    }
  }

  @Test("keep every digit as seconds since the epoch")
  func epochText() {
    #expect(Timestamp(nanoseconds: 1_612_150_079_789_000_001).epochText == "1612150079.789000001")
    #expect(Timestamp(nanoseconds: -1).epochText == "-1.999999999")
  }

  @Test("are made of seconds and a fraction up to both ends of the range")
  func halves() {
    // Both ends lie 854,775,808 ns, or one less, beyond their nearest whole second.
    let steps: [Int64] = [0, 1, 854_775_807, 854_775_808, 854_775_809, 1_000_000_000]
    for step in steps {
      for nanoseconds in [Int64.min + step, Int64.max - step, step, -step] {
        let (second, fraction) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let made =
          fraction < 0
          ? Timestamp(seconds: second - 1, nanoseconds: fraction + 1_000_000_000)
          : Timestamp(seconds: second, nanoseconds: fraction)
        #expect(made.nanoseconds == nanoseconds)
      }
    }
  }

  @Test("saturate instead of wrapping around")
  func saturation() {
    #expect(Timestamp.distantFuture + .seconds(1) == .distantFuture)
    #expect(Timestamp.distantPast - .seconds(1) == .distantPast)
    #expect(Timestamp.distantPast - Timestamp.distantFuture == TimeSpan(nanoseconds: .min))
    #expect(Timestamp(seconds: .max) == .distantFuture)
    #expect(Timestamp(seconds: -9_223_372_038, nanoseconds: 999_999_999) == .distantPast)
    #expect(Timestamp(seconds: .min, nanoseconds: 1) == .distantPast)
    #expect(TimeSpan.seconds(.infinity) == .forever)
    #expect(TimeSpan.seconds(.nan) == .zero)
  }
}
